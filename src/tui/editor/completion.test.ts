import { describe, expect, it } from "vitest";
import { type CompletionSource, createCompletion, fileItems } from "./completion.js";

const source: CompletionSource = {
  commands: () => [
    { name: "tree", help: "the tree" },
    { name: "thinking", help: "the level" },
    { name: "fork", help: "a copy" },
  ],
  argumentsOf: (command) => (command === "thinking" ? ["low", "lower", "high"] : undefined),
  fileNames: async () => ["README.md", "src/cart.js", "src/new name.js", "test/cart.test.js"],
  listDirectory: async (path) =>
    path === "src/"
      ? [{ name: "cart.js", isDirectory: false }]
      : [
          { name: "src", isDirectory: true },
          { name: ".git", isDirectory: true },
        ],
};
const completion = createCompletion(source);
const { signal } = new AbortController();

async function values(line: string, force = false) {
  const found = await completion.getSuggestions([line], 0, line.length, { signal, force });
  return found?.items.map(({ value }) => value) ?? null;
}

describe("completion", () => {
  it("offers commands only at the beginning, and their arguments", async () => {
    expect(await values("/t")).toEqual(["/tree", "/thinking"]);
    expect(await values("/foo")).toBeNull();
    expect(await values("say /t")).toBeNull();
    expect(await values("/thinking l")).toEqual(["low", "lower"]);
    expect(await values("/thinking low")).toBeNull();
    expect(await values("/tree x")).toBeNull();
  });

  it("finds file names by some of their letters, and quotes spaces", async () => {
    expect(await values("see @cart")).toEqual(["@src/cart.js ", "@test/cart.test.js "]);
    expect(await values("@nwnm")).toEqual(['@"src/new name.js" ']);
    expect(await values("a@cart")).toBeNull();
  });

  it("puts the name that begins so first, among fifty thousand", () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `deep/${index}/x${index}.ts`);
    expect(fileItems([...names, "src/cart.ts"], "cart")[0]?.value).toBe("@src/cart.ts ");
  });

  it("completes paths with Tab", async () => {
    expect(await values("look at s", true)).toEqual(["src/"]);
    expect(await values("src/c", true)).toEqual(["src/cart.js"]);
  });

  it("leaves a text alone that was typed on since the list was made", () => {
    const at = (line: string, value: string, prefix: string) =>
      completion.applyCompletion([line], 0, line.length, { value, label: value }, prefix).lines[0];
    expect(at("/tre", "/tree", "/t")).toBe("/tree");
    expect(at("/to", "/tree", "/t")).toBe("/to");
    expect(at("see @ca", "@src/cart.js ", "@ca")).toBe("see @src/cart.js ");
  });

  it("writes out names that hide something", () => {
    expect(fileItems(["a\u001b[31m.js"], "a")[0]?.label).toBe("a\\u001b[31m.js");
  });
});

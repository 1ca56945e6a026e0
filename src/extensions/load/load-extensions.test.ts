// Modules become extensions: which are loaded, in which order, and what is left of one that fails.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openExtensions } from "../../../test/kit/extension-modules.js";
import { type ToolModules, toolModules } from "../../../test/kit/tool-modules.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const user = { provider: "native", providerName: "galley", level: "user" as const };
const project = { ...user, level: "project" as const };

/** A module that leaves its mark and listens. */
const listener = (word: string) =>
  `import { appendFileSync } from "node:fs";
   appendFileSync(new URL("./loaded", import.meta.url), "${word} ");
   export default (pi) => {
     pi.on("tool_call", ({ input }) => ({ input: { words: [...(input.words ?? []), "${word}"] } }));
     pi.registerCommand("${word}", { handler() {} });
   };`;

async function wordsOf(opened: Awaited<ReturnType<typeof openExtensions>>): Promise<unknown> {
  const event = { type: "tool_call" as const, toolName: "t", toolCallId: "1", input: {} };
  return (await opened.runner.emit(event)).input.words;
}

it("loads TypeScript with the API it was written for", async () => {
  modules.write({
    "ext.ts": `import type { ExtensionAPI } from "@mariozechner/pi-coding-agent/hooks";
      import { Text } from "@mariozechner/pi-tui";
      enum Kind { A = "a" }
      export default async function (pi: ExtensionAPI): Promise<void> {
        pi.registerTool({
          name: "t", label: "T", description: "d", parameters: pi.zod.object({ n: pi.zod.number() }),
          async execute(id, params, signal, onUpdate, ctx) {
            return { content: [{ type: "text", text: [Kind.A, params.n, typeof Text, pi.typebox === undefined].join(" ") }] };
          },
        });
      }`,
  });
  const { runner, errors } = await openExtensions([modules.candidate("ext.ts", { source: user })]);
  expect(errors).toEqual([]);
  const [t] = runner.tools();
  const result = await t?.tool.execute("1", { n: 1 } as never, undefined, () => {}, { cwd: "/" });
  expect(result?.content).toEqual([{ type: "text", text: "a 1 function false" }]);
});

it("a function of the program's own is an extension, too", async () => {
  const opened = await openExtensions([
    { path: "<guard>", factory: (pi) => void pi.registerCommand(typeof pi.zod.object, { handler() {} }) },
  ]);
  expect(opened.runner.commands().map(({ name, sourceInfo }) => [name, sourceInfo])).toEqual([
    ["function", { path: "<guard>", source: "inline", scope: "temporary", origin: "top-level" }],
  ]);
});

describe("a module that cannot be used is one sentence, leaves nothing behind, and the others load", () => {
  it.each([
    ["no factory", "export const a = 1;", "Extension does not export a valid factory function: <dir>/bad.ts"],
    ["a throwing import", 'throw new Error("no luck");', "Failed to load extension: no luck"],
    ["process.exit", "process.exit(0);", "Failed to load extension: <dir>/bad.ts called process.exit(0)"],
    [
      "a factory that throws half way",
      'export default (pi) => { pi.registerCommand("bad", { handler() {} }); pi.on("tool_call", () => ({ block: true })); throw new Error("half"); };',
      "Failed to load extension: half",
      { isGuard: true },
    ],
    [
      "a guard with a syntax error",
      'export default (pi) => { pi.on("tool_call", () => ({ block: true }) };',
      'Failed to load extension: Unexpected token, expected "," (<dir>/bad.ts:1:69)',
      { isGuard: true },
    ],
  ])("%s", async (_title, text, sentence, more: object = {}) => {
    modules.write({ "bad.ts": text, "good.ts": listener("good") });
    const path = join(modules.directory, "bad.ts");
    const opened = await openExtensions([modules.candidate("bad.ts", { path }), modules.candidate("good.ts")]);
    expect(opened.errors).toEqual([{ path, error: sentence.replace("<dir>", modules.directory), ...more }]);
    expect(await wordsOf(opened)).toEqual(["good"]);
    expect(opened.runner.commands().map(({ name }) => name)).toEqual(["good"]);
  });

  it("the same file twice is one extension", async () => {
    modules.write({ "a.ts": listener("a") });
    const opened = await openExtensions([modules.candidate("a.ts"), modules.candidate("a.ts", { path: "again" })]);
    expect(await wordsOf(opened)).toEqual(["a"]);
  });
});

describe("a project's extension", () => {
  const own = (name: string) => modules.candidate(name, { needsTrust: true, source: project });

  it("is not even imported without trust", async () => {
    modules.write({ "mine.ts": listener("mine") });
    const opened = await openExtensions([own("mine.ts")]);
    expect(opened.errors).toEqual([{ path: "mine.ts", error: "Skipped: project is not trusted", source: project }]);
    expect(existsSync(join(modules.directory, "loaded"))).toBe(false);
  });

  it("comes with the trust, before the user's: what it revises is still seen by the user's guards", async () => {
    modules.write({ "mine.ts": listener("mine"), "guard.ts": listener("guard"), "bad.ts": "x" });
    const opened = await openExtensions([modules.candidate("guard.ts", { source: user })]);
    expect(await wordsOf(opened)).toEqual(["guard"]);
    const admitted: string[] = [];
    const coverage = { admit: (path: string) => void admitted.push(path) };
    const errors = await opened.add([own("mine.ts"), own("bad.ts")], coverage);
    expect(await wordsOf(opened)).toEqual(["mine", "guard"]);
    expect(admitted).toContain(join(modules.directory, "mine.ts"));
    expect(errors).toEqual([{ path: "bad.ts", error: "Failed to load extension: x is not defined", source: project }]);
    expect(opened.errors).toEqual(errors);
  });

  it("is not asked whether the project is trusted", async () => {
    const says = (trusted: string) =>
      `export default (pi) => pi.on("project_trust", () => ({ trusted: "${trusted}" }));`;
    modules.write({ "mine.ts": says("yes"), "guard.ts": says("no") });
    const coverage = { admit() {} };
    const opened = await openExtensions([own("mine.ts"), modules.candidate("guard.ts")], { coverage });
    expect(await opened.runner.emit({ type: "project_trust", cwd: "/project" })).toMatchObject({ trusted: "no" });
  });
});

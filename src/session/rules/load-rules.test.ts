import { expect, it } from "vitest";
import { loadRules } from "./load-rules.js";
import type { RuleFile } from "./rule.js";
import { keptLog } from "./rules.test-kit.js";

async function load(files: Record<string, Record<string, string>>) {
  const log = keptLog();
  const readDirectory = (directory: string): RuleFile[] =>
    Object.entries(files[directory] ?? {}).map(([name, text]) => ({ path: `${directory}/rules/${name}`, text }));
  const { stream, prompt } = await loadRules({ directories: ["/project", "/user", "/absent"], readDirectory, log });
  return { stream: stream.map(({ path }) => path), prompt: prompt.map(({ path }) => path), warnings: log.warnings };
}

const watching = "---\ncondition: x\n---\nBody";

it("sorts rules by what they are and lets the first of a name win", async () => {
  expect(
    await load({
      "/project": { "a.md": watching, "b.md": "Prose" },
      "/user": { "a.md": "Prose", "b.mdc": watching, "c.mdc": watching, "c.md": "Prose" },
    }),
  ).toEqual({
    stream: ["/project/rules/a.md", "/user/rules/c.mdc"],
    prompt: ["/project/rules/b.md"],
    warnings: [],
  });
});

it("lets a file that is unusable hide one below it, and says so", async () => {
  const broken = "---\ncondition: 'a('\n---\n";
  const { stream, warnings } = await load({ "/project": { "a.md": broken }, "/user": { "a.md": watching } });
  expect(stream).toEqual([]);
  expect(warnings.at(-1)).toBe("The rule /project/rules/a.md has no valid condition; it is not used.");
});

it("waits for a reader that takes its time", async () => {
  const readDirectory = async () => [{ path: "a.md", text: watching }];
  const { stream } = await loadRules({ directories: ["/x"], readDirectory, log: keptLog() });
  expect(stream).toMatchObject([{ name: "a", content: "Body" }]);
});

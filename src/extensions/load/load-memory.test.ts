// A second load with the memory of the first: what may be kept, and what has to be made anew.

import { afterEach, beforeEach, expect, it } from "vitest";
import { type ToolModules, toolModules } from "../../../test/kit/tool-modules.js";
import { LoadMemory } from "./load-memory.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const tool = (members = "", before = "", execute = "async () => ({ content: [] })") =>
  `${before}\nexport default (pi) => ({ name: "t", description: "d", parameters: { type: "object", properties: {} },
    execute: ${execute}, ${members} });`;

/** What two loads make of the same module, with a change in between. */
async function twice(files: Record<string, string>, change: Record<string, string> = {}) {
  const memory = new LoadMemory();
  const load = async () => (await modules.load(["t.ts"], { memory })).tools[0]?.tool;
  modules.write(files);
  const first = await load();
  modules.write(change);
  const second = await load();
  expect(first && second).toBeTruthy();
  return { isKept: first === second, second };
}

it("keeps a tool whose files say the same", async () => {
  expect(await twice({ "t.ts": tool() })).toMatchObject({ isKept: true });
  const imports = 'import { word } from "./word.js";\nimport data from "./data.json";\nimport { Text } from "galley";';
  const files = {
    "t.ts": tool("label: word + data.n", imports),
    "word.ts": 'export const word = "w";',
    "data.json": '{"n":1}',
  };
  expect(await twice(files)).toMatchObject({ isKept: true, second: { label: "w1" } });
});

it("makes it anew when a file of it, or one it imports, was changed", async () => {
  expect(await twice({ "t.ts": tool() }, { "t.ts": tool('label: "L"') })).toMatchObject({
    isKept: false,
    second: { label: "L" },
  });
  const files = {
    "t.ts": tool("label: word", 'import { word } from "./word.js";'),
    "word.ts": 'export const word = "a";',
  };
  expect(await twice(files, { "word.ts": 'export const word = "b";' })).toMatchObject({
    isKept: false,
    second: { label: "b" },
  });
});

it.each([
  ["listens to the session", tool("onSession() {}")],
  ["can look at the disk", tool("label: typeof readFileSync", 'import { readFileSync } from "node:fs";')],
  ["asks for a module while it runs", tool("", 'const os = require("os");')],
  [
    "takes its time, in which anything may happen",
    `const make = ${tool().replace("export default", "")}; export default async (pi) => make(pi);`,
  ],
])("makes it anew when it %s", async (_name, text) => {
  expect(await twice({ "t.ts": text })).toMatchObject({ isKept: false });
});

it("runs a file anew although it is not compiled again", async () => {
  const text = tool("onSession() {}, label: String(globalThis.runs = (globalThis.runs ?? 0) + 1)");
  expect(await twice({ "t.ts": text })).toMatchObject({ second: { label: "2" } });
});

it("keeps nothing of a project that is not trusted any more, or whose files are not those that were trusted", async () => {
  const memory = new LoadMemory();
  modules.write({ "t.ts": tool() });
  const candidate = modules.candidate("t.ts", { needsTrust: true });
  const load = (admit?: () => void) => modules.load([candidate], { memory, ...(admit ? { coverage: { admit } } : {}) });
  const trusted = await load(() => {});
  expect((await load(() => {})).tools[0]?.tool).toBe(trusted.tools[0]?.tool);
  const refused = await load(() => {
    throw new Error("is not part of what was trusted");
  });
  expect(refused).toMatchObject({
    tools: [],
    errors: [{ error: expect.stringContaining("not part of what was trusted") }],
  });
  expect(await load()).toMatchObject({ tools: [], errors: [{ error: "Skipped: project is not trusted" }] });
});

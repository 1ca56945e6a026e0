// A guard that cannot be loaded: calls that write or execute are refused until it is mended or removed.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, say } from "../../../src/testing/scripted-model.js";
import { createModuleHome, type ModuleHome, said } from "../../kit/module-home.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const guard =
  'pi.on("tool_call", ({ toolName }) => toolName === "write" ? { block: true, reason: "Not here." } : undefined);';
const whole = `export default (pi) => { ${guard} };`;
const halfWay = `export default (pi) => { ${guard} throw new Error("half way"); };`;
const broken = `export default (pi) => { ${guard} `;

const write = (id: string) => call("write", { path: "new.txt", content: "x" }, id);
const run = (id: string) => call("bash", { command: "touch ran.txt" }, id);
const read = (id: string) => call("read", { path: "a.txt" }, id);
const tool = (id: string) => call("theirs", {}, id);
const refused = (path: string) =>
  `Refused: the guard ${path} could not be loaded. Until it is mended or removed, nothing is written and nothing is executed.`;

async function outcomes(options: Parameters<ModuleHome["open"]>[1] = {}) {
  home.put("project/a.txt", "hello\n");
  home.put(".galley/agent/tools/theirs.ts", said("theirs", "ran"));
  const script = [write("1"), run("2"), read("3"), tool("4"), say("Done.")];
  const { session, texts, lines } = await home.open(script, options, "on disk");
  await session.prompt("Go");
  await session.dispose();
  const files = ["new.txt", "ran.txt"].filter((name) => existsSync(join(home.base, "project", name)));
  return { texts: texts(), files, lines };
}

it.each([
  ["one that is found and fails half way", ".galley/agent/extensions/guard.ts", halfWay, {}],
  ["one that is found and has a syntax error", ".galley/agent/extensions/guard.ts", broken, {}],
  ["a hook that is found", ".galley/agent/hooks/guard.ts", halfWay, {}],
  ["one of a trusted project", "project/.galley/extensions/guard.ts", halfWay, { trustProject: true }],
  ["one that is named, whatever it does", "guard.ts", "throw new Error();", { named: "guard.ts" }],
  ["one that is named and not there", "other.ts", "", { named: "guard.ts" }],
])(
  "closes write and exec: %s",
  async (_title, path, text, { named, ...options }: { named?: string; trustProject?: boolean }) => {
    home.put(path, text);
    const paths = named === undefined ? {} : { additionalExtensionPaths: [join(home.base, named)] };
    const { texts, files, lines } = await outcomes({ ...options, ...paths });
    const sentence = refused(join(home.base, named ?? path));
    expect(texts).toEqual([sentence, sentence, expect.stringContaining("hello"), sentence]);
    expect(files).toEqual([]);
    expect(lines).toContain(`galley: ${sentence}\n`);
  },
);

it.each([
  ["an extension that would only have listened", ".galley/agent/extensions/e.ts", "throw new Error();", {}],
  ["a guard of a project that is not trusted", "project/.galley/extensions/guard.ts", halfWay, {}],
  ["a tool", ".galley/agent/tools/tool.ts", 'throw new Error("tool_call");', {}],
])("stays open: %s", async (_title, path, text, options) => {
  home.put(path, text);
  const { texts, files } = await outcomes(options);
  expect(texts.some((one) => one.startsWith("Refused"))).toBe(false);
  expect(files).toEqual(["new.txt", "ran.txt"]);
});

it("a function of the program's own is named by it", async () => {
  const fails = () => {
    throw new Error("no");
  };
  expect((await outcomes({ extensions: [fails] })).files).toEqual([]);
});

it("opens when the guard is mended or removed, and closes when a reload breaks it", async () => {
  const path = ".galley/agent/extensions/guard.ts";
  home.put(path, whole);
  const steps = ["1", "2", "3", "4"].flatMap((id) => [write(id), run(`${id}b`), say("Done.")]);
  const { session, texts } = await home.open(steps, {}, "on disk");
  const next = async () => {
    const before = texts().length;
    await session.prompt("Go");
    return texts().slice(before);
  };
  expect((await next())[0]).toBe("Not here.");
  home.put(path, broken);
  await session.reloadModules();
  const sentence = refused(join(home.base, path));
  expect(await next()).toEqual([sentence, sentence]);
  home.put(path, whole);
  await session.reloadModules();
  const [first, second] = await next();
  expect([first, second?.startsWith("Refused")]).toEqual(["Not here.", false]);
  rmSync(join(home.base, path));
  await session.reloadModules();
  expect((await next())[0]).toContain("new.txt");
  await session.dispose();
});

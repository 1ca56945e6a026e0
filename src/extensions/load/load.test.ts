import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import { isPartOf } from "./load-packages.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const good = moduleThatSays("good", '"fine"');

async function errorsOf(files: Record<string, string>, more = {}): Promise<string[]> {
  modules.write({ ...files, "good.ts": good });
  const { tools, errors } = await modules.load([...Object.keys(files), "good.ts"], more);
  expect(tools.map(({ tool }) => tool.name)).toContain("good");
  return errors.map(({ error }) => error.replaceAll(modules.directory, "<dir>"));
}

describe("a module that cannot be used is one sentence, and the others load", () => {
  it.each([
    ["no default export", { "a.ts": "export const tool = 1;" }, "Tool must export a default function"],
    ["a throwing import", { "a.ts": 'throw new Error("no luck")' }, "Failed to load tool: no luck"],
    [
      "a throwing factory",
      { "a.ts": 'export default () => { throw new Error("no gcc") }' },
      "Failed to load tool: no gcc",
    ],
    ["a rejecting factory", { "a.ts": 'export default async () => { throw "why" }' }, "Failed to load tool: why"],
    [
      "a syntax error",
      { "a.ts": "export default () => {};\nconst x = = 1;\n" },
      "Failed to load tool: Unexpected token (<dir>/a.ts:2:11)",
    ],
    [
      "a syntax error in an import",
      { "a.ts": 'import "./lib/b.js"; export default () => null;', "lib/b.ts": "let 1;" },
      "Failed to load tool: Unexpected reserved word 'let'. (<dir>/lib/b.ts:1:1)",
    ],
    [
      "a missing import",
      { "a.ts": 'import "./nowhere"' },
      'Failed to load tool: Cannot find module "./nowhere" imported from <dir>/a.ts',
    ],
    ["process.exit", { "a.ts": "process.exit(0)" }, "Failed to load tool: <dir>/a.ts called process.exit(0)"],
    [
      "process.exit in a promise",
      { "a.ts": "await Promise.resolve().then(() => process.exit(3)); export default () => null" },
      "Failed to load tool: <dir>/a.ts called process.exit(3)",
    ],
    [
      "Bun modules",
      { "a.ts": 'import { Database } from "bun:sqlite"; export default () => new Database()' },
      'Failed to load tool: Module "bun:sqlite" needs the Bun runtime',
    ],
    [
      "Bun itself",
      { "a.ts": "export default () => ({ name: Bun.version })" },
      'Failed to load tool: Module "Bun" needs the Bun runtime',
    ],
    ["markdown", { "a.md": "# x" }, "Declarative tool files (.md, .json) cannot be loaded as executable modules"],
    ["JSON", { "a.json": "{}" }, "Declarative tool files (.md, .json) cannot be loaded as executable modules"],
    [
      "something that is no tool",
      { "a.ts": "export default () => ({ name: 1 })" },
      "Tool factory returned invalid tool at index 0: expected object with string name, string description, parameters, and execute function",
    ],
    ["a taken name", { "a.ts": moduleThatSays("read", "1") }, 'Tool name "read" conflicts with existing tool'],
    [
      "a name that no model accepts",
      { "a.ts": moduleThatSays("my tool", "1") },
      'Tool name "my tool" is invalid: use 1 to 64 letters, digits, "_" or "-"',
    ],
    [
      "a schema that is none",
      { "a.ts": good.replace('{ type: "object", properties: {} }', "{ type: Date }").replaceAll('"good"', '"bad"') },
      'Tool "bad" has parameters that cannot be turned into JSON Schema: "type" is a function, which JSON cannot hold',
    ],
  ])("%s", async (_title, files: Record<string, string>, expected) => {
    const [first] = Object.keys(files);
    modules.write(files);
    expect(await errorsOf({ [first as string]: files[first as string] as string })).toEqual([expected]);
  });

  it("a file that is not there", async () => {
    modules.write({ "good.ts": good });
    const { tools, errors } = await modules.load(["gone.ts", "good.ts"]);
    expect(tools).toHaveLength(1);
    expect(errors).toEqual([
      { path: "gone.ts", error: `Failed to load tool: File not found: ${modules.directory}/gone.ts` },
    ]);
  });

  it("hanging: after ten seconds, and only for itself", async () => {
    modules.write({
      "import.ts": "await new Promise(() => {}); export default () => null;",
      "factory.ts": "export default () => new Promise(() => {});",
      "good.ts": good,
    });
    let isOver = false;
    const loading = modules.load(["import.ts", "factory.ts", "good.ts"]).finally(() => {
      isOver = true;
    });
    while (modules.clock.pendingTimers !== 2) await new Promise(setImmediate);
    modules.clock.advance(9_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    modules.clock.advance(1);
    const { tools, errors } = await loading;
    expect(tools.map(({ tool }) => tool.name)).toEqual(["good"]);
    const error = "Failed to load tool: it did not finish within 10 s";
    expect(errors).toEqual([
      { path: "import.ts", error },
      { path: "factory.ts", error },
    ]);
    expect(modules.clock.pendingTimers).toBe(0);
  });

  it("an element of a list: the other elements stay", async () => {
    const list = `${moduleThatSays("one", "1").replace("(pi) => (", "(pi) => [")}`.replace(/\}\);\s*$/, "}, 7, null];");
    modules.write({ "list.ts": list });
    const { tools, errors } = await modules.load(["list.ts"]);
    expect(tools.map(({ tool }) => tool.name)).toEqual(["one"]);
    expect(errors.map(({ error }) => error.slice(0, 50))).toEqual([
      "Tool factory returned invalid tool at index 1: exp",
      "Tool factory returned invalid tool at index 2: exp",
    ]);
  });
});

describe("what a factory returns", () => {
  it.each(["null", "undefined", "[]", "Promise.resolve(null)"])("%s: no tool, no error", async (value) => {
    modules.write({ "a.ts": `export default () => ${value};` });
    const { tools, errors } = await modules.load(["a.ts"]);
    expect([tools, errors]).toEqual([[], []]);
  });

  it.each([
    ["a tool", (text: string) => text],
    ["a promise", (text: string) => text.replace("(pi) => (", "async (pi) => (")],
    ["CommonJS", (text: string) => text.replace("export default", "module.exports =")],
    [
      "a default inside the default",
      (text: string) => text.replace("export default", "module.exports.default = {}; module.exports.default.default ="),
    ],
  ])("%s", async (_title, change) => {
    modules.write({ "a.cjs": change(good) });
    const loaded = await modules.load(["a.cjs"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "good"))).toBe("fine");
  });

  it("the earlier one keeps its name, whichever is ready first", async () => {
    modules.write({
      "slow.ts": `for (let i = 0; i < 20; i++) await new Promise(setImmediate);\n${moduleThatSays("same", '"slow"')}`,
      "quick.ts": moduleThatSays("same", '"quick"'),
    });
    const loaded = await modules.load(["slow.ts", "quick.ts"]);
    expect(await textOf(callTool(loaded, "same"))).toBe("slow");
    expect(loaded.errors).toEqual([{ path: "quick.ts", error: 'Tool name "same" conflicts with existing tool' }]);
  });

  it("two names of one file load it once", async () => {
    modules.write({ "a.ts": `globalThis.timesLoaded = (globalThis.timesLoaded ?? 0) + 1;\n${good}` });
    symlinkSync("a.ts", join(modules.directory, "b.ts"));
    const { tools, errors } = await modules.load(["a.ts", "b.ts"]);
    expect([tools.length, errors]).toEqual([1, []]);
    expect((globalThis as { timesLoaded?: number }).timesLoaded).toBe(1);
  });
});

describe("modules", () => {
  it("may use all of TypeScript, other files, JSON and CommonJS", async () => {
    modules.write({
      "tool.ts": moduleThatSays(
        "all",
        "[Color.Green, new Point(3).x, shared, later.value, data.answer, old.word, again === old, typeof readFileSync]",
        `import { readFileSync } from "node:fs";
         import { shared } from "./lib/shared";
         import data from "./data.json";
         import old from "./old.cjs";
         enum Color { Red, Green }
         class Point { constructor(public x: number) {} }
         const again = require("./old.cjs");
         const later = await import("./lib/later.js");`,
      ),
      "lib/shared.ts": 'export const shared: string = "shared";',
      "lib/later.ts": "export const value = await Promise.resolve(5);",
      "data.json": '\ufeff{"answer": 42}',
      "old.cjs": 'module.exports = { word: "old" };',
    });
    const loaded = await modules.load(["tool.ts"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "all"))).toBe('[1,3,"shared",5,42,"old",true,"function"]');
  });

  it.each([
    ["an export at the end", "const made=()=>TOOL;export{made as default};"],
    ["an export after a block", "function made(){return TOOL}export{made as default};"],
    [
      "imports in one line",
      '"use strict";import{sep}from"node:path";import*as os from"node:os";export default()=>TOOL;',
    ],
    ["a comment before it", "/* made by a bundler */export default ()=>TOOL;"],
    [
      "much empty space before it",
      `${"\n".repeat(200_000)}const made=()=>TOOL;${" ".repeat(200_000)}export{made as default};`,
    ],
    ["an await among others", "const made=()=>TOOL,ready=[await 1];exports.default=made;"],
  ])("may be on one line, as a bundler makes them: %s", async (_title, text) => {
    const tool = `({name:"small",description:"d",parameters:{type:"object"},async execute(){return{content:[{type:"text",text:"hi"}]}}})`;
    modules.write({ "small.js": text.replace("TOOL", tool) });
    const loaded = await modules.load(["small.js"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "small"))).toBe("hi");
  });

  it("that are plain scripts run as they are, whatever their texts and comments say", async () => {
    // Not strict, and so no module: a transformer would refuse it.
    const script =
      '// no import, no export\nvar octal = 010; exports.default = () => ({ name: "old", description: "we export nothing",';
    modules.write({
      "old.js": `${script} parameters: { type: "object" }, async execute() { return { content: [{ type: "text", text: String(octal) }] } } });`,
    });
    const loaded = await modules.load(["old.js"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "old"))).toBe("8");
  });

  it("find what lies beside them", async () => {
    modules.write({
      "deep/tool.mjs": moduleThatSays(
        "here",
        "[import.meta.url, import.meta.dirname, import.meta.filename, import.meta.resolve('./x.js')]",
      ),
      "deep/x.js": "",
    });
    const loaded = await modules.load(["deep/tool.mjs"]);
    const { directory } = modules;
    expect(JSON.parse(await textOf(callTool(loaded, "here")))).toEqual([
      `file://${directory}/deep/tool.mjs`,
      `${directory}/deep`,
      `${directory}/deep/tool.mjs`,
      `file://${directory}/deep/x.js`,
    ]);
  });

  it("may import each other in a circle, and at the same time", async () => {
    modules.write({
      "tool.ts": moduleThatSays(
        "circle",
        "[a(), two.b(), three.value]",
        `import { a } from "./a";
         const [two, three] = await Promise.all([import("./b"), import("./slow-user")]);`,
      ),
      "a.ts": 'import { b } from "./b"; export function a() { return "a" + b(); }',
      "b.ts": 'import { a } from "./a"; import { slow } from "./slow"; export function b() { return typeof a + slow; }',
      "slow.ts": 'await new Promise(setImmediate); export const slow = "slow";',
      "slow-user.ts": 'import { slow } from "./slow"; export const value = slow.length;',
    });
    const loaded = await modules.load(["tool.ts"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "circle"))).toBe('["afunctionslow","functionslow",4]');
  });

  it.each(["ts", "mjs", "cjs", "js"])("are read anew with every load, with their imports (.%s)", async (ending) => {
    const helper =
      ending === "cjs" ? 'const { word } = require("./helper.cjs");' : `import { word } from "./helper.${ending}";`;
    const text = moduleThatSays(
      "fresh",
      "word + data.n",
      `${helper} ${ending === "cjs" ? 'const data = require("./d.json");' : 'import data from "./d.json";'}`,
    );
    const helperText = (word: string) =>
      ending === "cjs" ? `exports.word = "${word}";` : `export const word = "${word}";`;
    const factory = ending === "cjs" ? text.replace("export default", "module.exports =") : text;
    modules.write({ [`tool.${ending}`]: factory, [`helper.${ending}`]: helperText("one"), "d.json": '{"n":1}' });
    expect(await textOf(callTool(await modules.load([`tool.${ending}`]), "fresh"))).toBe("one1");
    modules.write({ [`helper.${ending}`]: helperText("two"), "d.json": '{"n":2}' });
    expect(await textOf(callTool(await modules.load([`tool.${ending}`]), "fresh"))).toBe("two2");
  });

  it("use the packages beside them, which Node loads", async () => {
    modules.write({
      "tool.ts": moduleThatSays(
        "uses",
        "[esm, old.n, scoped]",
        'import { esm } from "esm-pack"; import old from "old-pack"; import { scoped } from "@a/b";',
      ),
      "node_modules/esm-pack/package.json": '{"name":"esm-pack","type":"module","exports":"./main.js"}',
      "node_modules/esm-pack/main.js": 'import { x } from "./x.js"; export const esm = x;',
      "node_modules/esm-pack/x.js": 'export const x = "esm";',
      "node_modules/old-pack/package.json": '{"name":"old-pack","main":"main.js"}',
      "node_modules/old-pack/main.js": "exports.n = 2;",
      "node_modules/@a/b/package.json": '{"name":"@a/b","main":"index.ts"}',
      "node_modules/@a/b/index.ts": 'export const scoped: string = "typed";',
    });
    const loaded = await modules.load(["tool.ts"]);
    expect(loaded.errors).toEqual([]);
    expect(await textOf(callTool(loaded, "uses"))).toBe('["esm",2,"typed"]');
  });

  it("make a require of their own, for a URL or a path, and are told what that needs", async () => {
    const make = 'import { createRequire, isBuiltin } from "node:module"; const own = createRequire(import.meta.url);';
    const failed = '(() => { try { createRequire("here"); } catch (error) { return error.message; } })()';
    modules.write({
      "tool.ts": moduleThatSays(
        "requires",
        `[own("./data.json").a, createRequire(__filename)("old-pack").n, isBuiltin("fs"), ${failed}]`,
        make,
      ),
      "data.json": '{"a":1}',
      "node_modules/old-pack/package.json": '{"name":"old-pack","main":"main.js"}',
      "node_modules/old-pack/main.js": "exports.n = 2;",
    });
    const loaded = await modules.load(["tool.ts"]);
    expect(loaded.errors).toEqual([]);
    const sentence = "createRequire needs a file URL or an absolute path, not here";
    expect(JSON.parse(await textOf(callTool(loaded, "requires")))).toEqual([1, 2, true, sentence]);
  });

  it("lie in a package themselves and are still their own files", () => {
    const module = "/p/node_modules/@a/b/tools/x.ts";
    expect(isPartOf("/p/node_modules/@a/b/lib/y.ts", module)).toBe(true);
    expect(isPartOf("/p/node_modules/@a/c/lib/y.ts", module)).toBe(false);
    expect(isPartOf("/p/node_modules/@a/b/node_modules/z/y.ts", module)).toBe(false);
    expect(isPartOf("/q/lib/y.ts", "/q/tools/x.ts")).toBe(true);
    expect(isPartOf("/q/node_modules/z/y.ts", "/q/tools/x.ts")).toBe(false);
  });

  it("are compiled once: the second start finds the result", async () => {
    const cacheDirectory = join(modules.directory, "cache/tools");
    modules.write({ "good.ts": good });
    await modules.load(["good.ts"], { cacheDirectory });
    const [name] = readdirSync(cacheDirectory);
    const place = join(cacheDirectory, name as string);
    // The last line tells of what the rest was made.
    writeFileSync(place, readFileSync(place, "utf8").replace('"fine"', '"from the cache"'));
    expect(await textOf(callTool(await modules.load(["good.ts"], { cacheDirectory }), "good"))).toBe("from the cache");
    appendFileSync(join(modules.directory, "good.ts"), "// changed\n");
    expect(await textOf(callTool(await modules.load(["good.ts"], { cacheDirectory }), "good"))).toBe("fine");
  });

  it("load without a cache when it cannot be written", async () => {
    const cacheDirectory = join(modules.directory, "cache");
    modules.write({ "good.ts": good, cache: "a file in its place" });
    expect((await modules.load(["good.ts"], { cacheDirectory })).tools).toHaveLength(1);
    rmSync(cacheDirectory);
    mkdirSync(cacheDirectory);
    await modules.load(["good.ts"], { cacheDirectory });
    const [name] = readdirSync(cacheDirectory);
    rmSync(join(cacheDirectory, name as string));
    mkdirSync(join(cacheDirectory, name as string)); // a directory where the file would go
    expect((await modules.load(["good.ts"], { cacheDirectory })).tools).toHaveLength(1);
  });

  it("do not let the loader be steered by its environment variables", async () => {
    modules.write({ "good.ts": good });
    const names = { JITI_DEBUG: "1", JITI_ALIAS: '{"node:":"/nowhere"}', JITI_TRY_NATIVE: "true" };
    Object.assign(process.env, names);
    try {
      expect((await modules.load(["good.ts"])).tools).toHaveLength(1);
    } finally {
      for (const name of Object.keys(names)) delete process.env[name];
    }
  });
});

it("nothing is loaded for nothing", async () => {
  const galley = () => Promise.reject(new Error("nobody needs it"));
  expect(await modules.load([], { hostModules: { galley } })).toMatchObject({ tools: [], errors: [] });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import names from "./pi-names.json" with { type: "json" };
import { isHostModule } from "./virtual-modules.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

const scopes = ["mariozechner", "earendil-works", "oh-my-pi", "f5-sales-demo", "f5xc-salesdemos"];

/** What an expression over some imports is, inside a tool. */
async function inside(expression: string, before: string): Promise<unknown> {
  modules.write({ "probe.ts": moduleThatSays("probe", expression, before) });
  const loaded = await modules.load(["probe.ts"]);
  expect(loaded.errors).toEqual([]);
  return JSON.parse(await textOf(callTool(loaded, "probe")));
}

describe("every name gives the same thing", () => {
  it("components, from every scope and from the host", async () => {
    const names = [...scopes.flatMap((scope) => [`@${scope}/pi-tui`, `@${scope}/pi-coding-agent`]), "galley"];
    const imports = names.map((name, index) => `import { Text as text${index} } from "${name}";`).join("\n");
    const list = names.map((_, index) => `text${index}`).join(", ");
    expect(await inside(`[typeof text0, new Set([${list}]).size]`, imports)).toEqual(["function", 1]);
  });

  it("the host under all its names, hooks included", async () => {
    const names = [
      "galley",
      "@f5-sales-demo/xcsh",
      "@f5xc-salesdemos/xcsh",
      ...scopes.map((scope) => `@${scope}/pi-coding-agent/hooks`),
    ];
    const imports = names.map((name, index) => `import * as host${index} from "${name}";`).join("\n");
    const list = names.map((_, index) => `host${index}`).join(", ");
    expect(await inside(`new Set([${list}, pi.pi]).size`, imports)).toBe(1);
  });

  it("schema libraries: imported, required, and on the API", async () => {
    const before = `import { Type } from "@sinclair/typebox"; import One from "typebox"; import { Type as OneType } from "typebox";
      import { z } from "zod"; import * as all from "zod"; import zod4 from "zod/v4"; import { same } from "./other";
      const required = require("zod");`;
    modules.write({
      "other.ts": 'import { Type } from "@sinclair/typebox"; import { z } from "zod"; export const same = [Type, z];',
    });
    const expression = `[Type === pi.typebox.Type, Type === same[0], One.Object === OneType.Object, One.Object === Type.Object,
      z === pi.zod.z, z === same[1], all.object === pi.zod.object, zod4.object === all.object, required.object === all.object]`;
    expect(await inside(expression, before)).toEqual([true, true, true, false, true, true, true, true, true]);
  });

  it("across two loads, and whatever lies in node_modules", async () => {
    modules.write({
      "node_modules/zod/package.json": '{"name":"zod","main":"main.js"}',
      "node_modules/zod/main.js": 'throw new Error("the wrong one")',
    });
    const keep = 'import { z } from "zod"; globalThis.kept ??= z.object;';
    expect(await inside("globalThis.kept === z.object", keep)).toBe(true);
    expect(await inside("globalThis.kept === z.object", keep)).toBe(true);
  });

  it("smaller helpers", async () => {
    const before = `import { StringEnum } from "@mariozechner/pi-ai"; import { logger } from "@oh-my-pi/pi-utils";
      import "@earendil-works/pi-agent-core"; import { StringEnum as other } from "@f5-sales-demo/pi-ai/compat";`;
    expect(
      await inside("[StringEnum(['a'], { description: 'd' }), other === StringEnum, logger === pi.logger]", before),
    ).toEqual([{ type: "string", enum: ["a"], description: "d" }, true, true]);
  });
});

describe("names of pi", () => {
  it("are all there, in every module, real or as a stand-in", async () => {
    const modules = ["pi-coding-agent", "pi-tui", "pi-ai", "pi-agent-core"] as const;
    const imports = modules.map((name, index) => `import * as m${index} from "@earendil-works/${name}";`).join("\n");
    const lists = JSON.stringify(modules.map((name) => names[name].split(" ")));
    const expression = `${lists}.flatMap((list, index) => list.filter((name) => [m0, m1, m2, m3][index][name] === undefined))`;
    expect(await inside(expression, imports)).toEqual([]);
  });

  it("that galley does not have can be extended and patched, and say so when they are used", async () => {
    modules.write({
      "node_modules/amp-themes/package.json": '{"name":"amp-themes","main":"main.js"}',
      "node_modules/amp-themes/main.js": "exports.use = (Mode) => new Mode();",
    });
    const before = `import { InteractiveMode, main, ModelRegistry } from "@earendil-works/pi-coding-agent"; import { use } from "amp-themes";
      class Mine extends InteractiveMode {}
      InteractiveMode.prototype.draw = () => "patched";
      const said = (work) => { try { return work(); } catch (error) { return error.message; } };`;
    expect(
      await inside(
        "[said(() => main()), said(() => new Mine()), said(() => use(InteractiveMode)), said(() => ModelRegistry.inMemory()), Mine.prototype.draw()]",
        before,
      ),
    ).toEqual([
      expect.stringMatching(/^galley does not have main of pi-coding-agent yet \(used by .*probe\.ts\)\.$/),
      expect.stringMatching(/^galley does not have InteractiveMode of pi-coding-agent yet \(used by .*probe\.ts\)\.$/),
      "galley does not have InteractiveMode of pi-coding-agent yet (used by amp-themes).",
      expect.stringMatching(/^galley does not have ModelRegistry of pi-coding-agent yet \(used by .*probe\.ts\)\.$/),
      "patched",
    ]);
  });

  it("smaller ones that it has", async () => {
    const before = `import { truncateTail, truncateLine, stripFrontmatter, getLanguageFromPath, isToolCallEventType, isBashToolResult,
      getLatestCompactionEntry } from "@mariozechner/pi-agent-core";`;
    const expression = `[truncateTail("a\\nb\\nc", { maxLines: 2 }).content, truncateTail("ä".repeat(9), { maxBytes: 5 }).content,
      truncateLine("abc", 2), stripFrontmatter("---\\na: 1\\n---\\nText"), getLanguageFromPath("/x/a.test.tsx"),
      isToolCallEventType("bash", { toolName: "bash" }), isBashToolResult({ toolName: "read" }),
      getLatestCompactionEntry([{ type: "compaction", id: 1 }, { type: "compaction", id: 2 }, { type: "message" }]).id]`;
    expect(await inside(expression, before)).toEqual([
      "b\nc",
      "ää",
      { text: "ab... [truncated]", wasTruncated: true },
      "Text",
      "typescript",
      true,
      false,
      2,
    ]);
  });

  it("of the schema libraries' parts", async () => {
    const before = `import { Value } from "@sinclair/typebox/value"; import { TypeCompiler } from "@sinclair/typebox/compiler";
      import { Check } from "typebox/value"; import { Compile } from "typebox/compile"; import { Type } from "typebox";`;
    const expression = `[Value.Check(pi.typebox.Type.String(), "x"), TypeCompiler.Compile(pi.typebox.Type.String()).Check(1),
      Check(Type.Number(), 1), Compile(Type.Number()).Check("x")]`;
    expect(await inside(expression, before)).toEqual([true, false, true, false]);
  });
});

it("zod's record takes one schema or two", async () => {
  const expression = `[pi.zod.record(pi.zod.number()).parse({ a: 1 }), pi.zod.record(pi.zod.string(), pi.zod.number()).safeParse({ a: "x" }).success]`;
  expect(await inside(expression, "")).toEqual([{ a: 1 }, false]);
});

it("a library that no file names is not loaded; one that is only required says how to get it", async () => {
  expect(await inside('[typeof pi["zo" + "d"], typeof { ...pi }["ty" + "pebox"]]', "")).toEqual([
    "undefined",
    "undefined",
  ]);
  modules.write({ "a.ts": 'require("./b"); export default () => null;', "b.cjs": 'require("ty" + "pebox");' });
  const { errors } = await modules.load(["a.ts"]);
  expect(errors).toEqual([
    {
      path: "a.ts",
      error: 'Failed to load tool: "typebox" is not loaded yet. Import it in the main file of the tool.',
    },
  ]);
});

it("a package may use the API's libraries for a module that never names them", async () => {
  modules.write({
    "a.ts": 'import { make } from "pack"; export default (pi) => make(pi);',
    "node_modules/pack/package.json": '{"name":"pack","main":"main.js"}',
    "node_modules/pack/main.js":
      'exports.make = (pi) => ({ name: "packed", description: "d", parameters: pi.zod.object({}), execute: async () => ({ content: [] }) });',
  });
  const { tools, errors } = await modules.load(["a.ts"]);
  expect([errors, tools[0]?.schema.json]).toEqual([[], { type: "object", properties: {} }]);
});

it("says which names it serves", () => {
  expect(["galley", "zod", "@oh-my-pi/pi-tui"].every(isHostModule)).toBe(true);
  expect(["zed", "@oh-my-pi/other", "constructor"].some(isHostModule)).toBe(false);
});

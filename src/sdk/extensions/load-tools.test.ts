// The loader for programs without a session: what is found, in which shape, and what is told of the rest.

import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createModuleHome, type ModuleHome, said } from "../../../test/kit/module-home.js";
import { discoverAndLoadCustomTools, discoverCustomToolPaths, loadCustomTools } from "./load-tools.js";

let home: ModuleHome;
const project = () => join(home.base, "project");
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

it("finds the user's and those that are named, and leaves the project's alone", async () => {
  const marker = join(home.base, "ran");
  home.put(".galley/agent/tools/mine.ts", said("mine", "x"));
  home.put(".galley/agent/tools/words.md", "---\nname: words\ndescription: Counts words\n---\n");
  home.put("project/.galley/tools/own.ts", `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`);
  home.put("elsewhere/named.ts", said("named", "x"));
  const found = await discoverCustomToolPaths(["~/elsewhere/named.ts", "../none.ts"], project());
  expect(found.paths).toMatchObject([
    { path: expect.stringMatching(/mine\.ts$/), source: { provider: "native", level: "user" } },
    {
      path: expect.stringMatching(/named\.ts$/),
      source: { provider: "config", providerName: "Config", level: "project" },
    },
  ]);
  expect(found.metadata).toMatchObject([{ name: "words", description: "Counts words" }]);
  const { tools, errors } = await discoverAndLoadCustomTools(["~/elsewhere/named.ts"], project(), ["read"]);
  expect(tools.map(({ tool, resolvedPath }) => [tool.name, resolvedPath.endsWith(".ts")])).toEqual([
    ["mine", true],
    ["named", true],
  ]);
  expect(errors).toMatchObject([{ path: expect.stringMatching(/own\.ts$/), error: "Skipped: project is not trusted" }]);
  expect(existsSync(marker)).toBe(false);
});

it("loads each file once, under whatever names, and tells what is wrong with the others", async () => {
  home.put("a.ts", said("a", "x"));
  home.put("read.ts", said("read", "x"));
  home.put("none.ts", "export const x = 1;");
  home.put("data.json", "{}");
  symlinkSync(join(home.base, "a.ts"), join(home.base, "link.ts"));
  const paths = ["~/a.ts", "../a.ts", join(home.base, "link.ts"), "../read.ts", "../none.ts", "../data.json"];
  const { tools, errors } = await loadCustomTools(paths, project(), ["read"]);
  expect(tools.map(({ tool }) => tool.name)).toEqual(["a"]);
  expect(errors.map(({ error }) => error)).toEqual([
    'Tool name "read" conflicts with existing tool',
    "Tool must export a default function",
    "Declarative tool files (.md, .json) cannot be loaded as executable modules",
  ]);
});

it("passes staged actions to the program, or says that they cannot be kept; the UI can be set later", async () => {
  home.put(
    "stage.ts",
    `export default (pi) => ({ name: "stage", description: "d", parameters: { type: "object", properties: {} },
      async execute() { pi.pushPendingAction({ label: "L", apply: async () => ({ content: [] }) });
        return { content: [{ type: "text", text: String(await pi.ui.confirm("?", "")) }] }; } });`,
  );
  const staged: unknown[] = [];
  const run = async (push?: (action: unknown) => void) => {
    const loaded = await loadCustomTools(["../stage.ts"], project(), [], push as never);
    loaded.setUIContext({ confirm: async () => true }, true);
    return loaded.tools[0]?.tool.execute("1", {}, undefined, {} as never);
  };
  expect(await run((action) => void staged.push(action))).toMatchObject({ content: [{ text: "true" }] });
  expect(staged).toMatchObject([{ label: "L", sourceToolName: "custom_tool", apply: expect.any(Function) }]);
  await expect(run()).rejects.toThrow("Pending action store unavailable for custom tools in this runtime.");
});

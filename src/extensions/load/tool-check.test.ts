import { afterEach, beforeEach, expect, it } from "vitest";
import { callTool, moduleThatSays, type ToolModules, textOf, toolModules } from "../../../test/kit/tool-modules.js";
import { checkTools, reportTools } from "./tool-check.js";
import { toolTemplate } from "./tool-template.js";

let modules: ToolModules;
beforeEach(() => {
  modules = toolModules();
});
afterEach(() => modules.remove());

it("reports what a tool says of itself", async () => {
  modules.write({
    "a.ts": `export default () => ({ name: "a", label: "A", description: "d", parameters: { properties: { x: {} } },
      hidden: true, deferrable: true, execute: async () => ({ content: [] }), onSession() {}, renderCall() {} });`,
  });
  const source = { provider: "native", providerName: "galley", level: "user" as const };
  const loaded = await modules.load([modules.candidate("a.ts", { source })]);
  expect(reportTools(loaded)).toEqual([
    {
      name: "a",
      label: "A",
      description: "d",
      path: `${modules.directory}/a.ts`,
      source,
      parameters: { type: "object", properties: { x: {} } },
      isHidden: true,
      isDeferrable: true,
      approval: "write",
      hooks: ["onSession", "renderCall"],
    },
  ]);
});

it("finds what keeps a module from being used, and what would help", async () => {
  modules.write({
    "bad.ts": "nonsense(",
    "schema.ts": moduleThatSays("schema", "1").replace(
      "properties: {}",
      'properties: { x: { type: "string", pattern: "(" } }',
    ),
  });
  const { problems, advice, tools } = await checkTools(await modules.load(["bad.ts", "schema.ts"]));
  expect(problems[0]).toMatch(/^bad\.ts: Failed to load tool: Unexpected token \(.*bad\.ts:1:\d+\)$/);
  expect(problems[1]).toMatch(
    /^schema: arguments cannot be checked against the parameters: Invalid regular expression/,
  );
  expect(advice).toEqual([
    "schema has a very short description; it is all a model knows of the tool",
    "schema: no description for x",
  ]);
  expect(tools.map(({ name, approval }) => [name, approval])).toEqual([["schema", "exec"]]);
});

it("a new tool works, and there is nothing to say against it", async () => {
  const { fileName, text } = toolTemplate("shout-it_loud");
  modules.write({ [fileName]: text });
  const loaded = await modules.load([fileName]);
  expect(await checkTools(loaded)).toMatchObject({ problems: [], advice: [], tools: [{ label: "Shout it loud" }] });
  expect(await textOf(callTool(loaded, "shout-it_loud", { text: "hi" }))).toBe("HI");
  await expect(callTool(loaded, "shout-it_loud", { text: "hi" }, { signal: AbortSignal.abort() })).rejects.toThrow(
    "Stopped",
  );
  await expect(callTool(loaded, "shout-it_loud", {})).rejects.toThrow("text: Invalid input");
});

it.each(["", "a b", "../x", "x".repeat(65)])("refuses the name %j", (name) => {
  expect(() => toolTemplate(name)).toThrow(/is not a valid tool name/);
});

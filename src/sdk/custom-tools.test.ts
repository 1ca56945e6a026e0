// Tools that a program hands to createAgentSession, in each of the three forms.

import { afterEach, beforeEach, expect, it } from "vitest";
import { createModuleHome, type ModuleHome } from "../../test/kit/module-home.js";
import { defineAgentTool, defineCustomTool, defineTool } from "../extensions/api/custom-tool.js";
import { call, say } from "../testing/scripted-model.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

const parameters = { type: "object", properties: { n: { type: "number", default: 1 } } };
const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
const base = (name: string) => ({ name, label: name, description: "d", parameters });

it("each get their arguments in their own order; one without a mark is a custom tool", async () => {
  const isSignal = (value: unknown) => value instanceof AbortSignal;
  const custom = {
    ...base("custom"),
    execute: async (id: string, params: object, onUpdate: unknown, ctx: { cwd: string }, signal?: AbortSignal) =>
      text([id, params, typeof onUpdate, ctx.cwd === session.cwd, isSignal(signal)]),
  };
  const definition = defineTool({
    ...base("definition"),
    execute: async (id: string, params: object, signal: unknown, onUpdate: unknown, ctx: { hasUI: boolean }) =>
      text([id, params, isSignal(signal), typeof onUpdate, ctx.hasUI]),
  });
  const agent = defineAgentTool({
    ...base("agent"),
    execute: async (id: string, params: object, signal: unknown, onUpdate: unknown) =>
      text([id, params, isSignal(signal), typeof onUpdate]),
  });
  const names = ["custom", "definition", "agent"];
  const { session, texts, model } = await home.open(
    [...names.map((name, index) => call(name, { n: "2" }, `call_${index}`)), say("Done.")],
    { customTools: [custom, definition, agent], toolNames: ["read"] },
  );
  expect([...session.getActiveToolNames()].sort()).toEqual([...names, "read"].sort()); // whatever the filter says
  await session.prompt("Go");
  expect(texts().map((line) => JSON.parse(line))).toEqual([
    ["call_0", { n: 2 }, "function", true, true],
    ["call_1", { n: 2 }, true, "function", false],
    ["call_2", { n: 2 }, true, "function"],
  ]);
  model.verify();
  await session.dispose();
});

it("hear of the session, take schemas of other libraries, and go through the hooks of extensions", async () => {
  const { z } = await import("zod");
  const heard: string[] = [];
  const tool = defineCustomTool({
    ...base("own"),
    parameters: z.object({ word: z.string().default("hm") }),
    execute: async (_id, { word }: { word: string }) => text(word),
    onSession: ({ reason }) => void heard.push(reason),
  });
  const { session, texts } = await home.open([call("own", {}), say("Done.")], {
    customTools: [tool],
    extensions: [(pi) => pi.on("tool_result", () => ({ content: [{ type: "text", text: "seen" }] }))],
  });
  await session.prompt("Go");
  expect(texts()).toEqual(["seen"]);
  await session.dispose();
  expect(heard).toEqual(["start", "shutdown"]);
});

it("cannot take a built-in tool's name unless that is wanted, nor be what no tool is", async () => {
  const read = { ...base("read"), execute: async () => text("mine") };
  const open = (customTools: never[], more = {}) =>
    home.open([call("read", {}), say("Done.")], { customTools, ...more });
  for (const tool of [read, defineAgentTool({ ...read })])
    await expect(open([tool as never])).rejects.toThrow('Tool name "read" conflicts with existing tool');
  for (const nothing of [{ ...base("a") }, null, undefined, 5, "read"])
    await expect(open([nothing as never])).rejects.toThrow("customTools has an invalid tool at index 0");
  const twice = { ...base("twice"), execute: read.execute };
  await expect(open([twice, twice] as never[])).rejects.toThrow('Tool name "twice" conflicts');
  for (const tool of [read, defineAgentTool({ ...read })]) {
    const { session, texts } = await open([tool as never], { overrideBuiltins: true });
    await session.prompt("Go");
    expect(texts()).toEqual(['"mine"']);
    expect(session.getAllToolNames().filter((name) => name === "read")).toHaveLength(1);
    await session.dispose();
  }
});

it("cannot have the word on previews, nor undo what they did not do", async () => {
  const open = (name: string, more = {}) =>
    home.open([], { customTools: [{ ...base(name), execute: async () => text("mine") }] as never[], ...more });
  for (const more of [{}, { overrideBuiltins: true }])
    await expect(open("resolve", more)).rejects.toThrow('Tool name "resolve" conflicts with existing tool');
  await expect(open("undo")).rejects.toThrow('Tool name "undo" conflicts with existing tool');
  const { session } = await open("undo", { overrideBuiltins: true });
  expect(session.allTools.filter(({ name }) => name === "undo")).toHaveLength(1);
  await session.dispose();
});

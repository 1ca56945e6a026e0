// What a model is told when a tool returns nothing that it could read: an error that names the fault, never an empty
// success. Tools of modules and of the host alike.

import { afterEach, beforeAll, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, modelsAt, RpcHost } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);
let server: ScriptedServer | undefined;
let host: RpcHost | undefined;
afterEach(async () => {
  await host?.dispose();
  await server?.close();
  server = undefined;
  host = undefined;
});

const toolReturning = (value: string) => `export default (pi) => ({
  name: "odd", label: "Odd", description: "Returns something odd", parameters: pi.zod.object({}),
  execute: async () => (${value}),
});`;

const ask = openAi.toolCalls([{ id: "c1", name: "odd", arguments: {} }]);
const shape = /A result is an object with "content", a list of blocks/;

async function start(args: string[], files: Record<string, string> = {}): Promise<RpcHost> {
  server = await startScriptedServer([ask, openAi.text("I see.")]);
  host = new RpcHost({ models: modelsAt(server.url), files, args });
  await host.waitForType("ready");
  return host;
}

async function outcome(of: RpcHost): Promise<[boolean, string]> {
  const { isError, result } = await of.waitForType("tool_execution_end");
  const { content } = result as { content: { text: string }[] };
  await of.waitForType("agent_settled");
  return [isError as boolean, content.map(({ text }) => text).join("\n")];
}

it.each([
  ["undefined", 'Tool "odd" returned undefined.'],
  ["null", 'Tool "odd" returned null.'],
  ["5", 'Tool "odd" returned 5.'],
  ["[]", 'Tool "odd" returned a list.'],
  ["{ a: 1 }", 'Tool "odd" returned an object without a list "content" (it has: a).'],
  ['{ content: [{ type: "weird" }] }', 'Tool "odd" returned no block that can be used (the first: {"type":"weird"}).'],
])("a custom tool that returns %s", async (value, sentence) => {
  const galley = await start(["--tool", "odd.js"], { "odd.js": toolReturning(value) });
  galley.send({ id: "p", type: "prompt", message: "Go" });
  const [isError, text] = await outcome(galley);
  expect([isError, text]).toEqual([true, expect.stringContaining(sentence)]);
  expect(text).toMatch(shape);
});

it.each([
  ['"plain"', "plain"],
  ["{ content: [] }", ""],
  ['{ content: "plain" }', "plain"],
])("%s is an answer", async (value, text) => {
  const galley = await start(["--tool", "odd.js"], { "odd.js": toolReturning(value) });
  galley.send({ id: "p", type: "prompt", message: "Go" });
  expect(await outcome(galley)).toEqual([false, text]);
});

const odd = { name: "odd", description: "Returns something odd", parameters: { type: "object", properties: {} } };

it("a host tool that returns blocks of no known type", async () => {
  const galley = await start([]);
  galley.send({ id: "t", type: "set_host_tools", tools: [odd] }, { id: "p", type: "prompt", message: "Go" });
  const { id } = await galley.waitForType("host_tool_call");
  galley.send({ type: "host_tool_result", id, result: { content: [{ type: "weird" }] } });
  const [isError, text] = await outcome(galley);
  expect(isError).toBe(true);
  expect(text).toContain('Tool "odd" returned no block that can be used (the first: {"type":"weird"}).');
});

it("host tools are checked by name and schema as custom tools are", async () => {
  host = new RpcHost();
  await host.waitForType("ready");
  const answerTo = async (tool: object) => {
    host?.send({ id: "t", type: "set_host_tools", tools: [{ ...odd, ...tool }] });
    return (await host?.waitForResponse("t"))?.error;
  };
  expect(await answerTo({ name: "not good" })).toBe(
    'Tool name "not good" is invalid: use 1 to 64 letters, digits, "_" or "-"',
  );
  expect(await answerTo({ parameters: { type: "string" } })).toBe(
    'Tool "odd" has parameters that cannot be turned into JSON Schema: they describe "string" instead of an object',
  );
  expect(await answerTo({ parameters: { properties: { a: { type: "Date" } } } })).toBe(
    'Tool "odd" has parameters that cannot be turned into JSON Schema: a has the type "Date"',
  );
  expect(await answerTo({})).toBeUndefined();
});

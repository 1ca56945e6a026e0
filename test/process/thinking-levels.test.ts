// The thinking level as hosts of pi read and set it: always there, always one of those that are offered.

import { afterEach, beforeAll, expect, it } from "vitest";
import { ensureBuilt, modelsAt, RpcHost, type StartOptions } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);
let host: RpcHost;
afterEach(() => host.dispose());

const thinks = modelsAt("http://127.0.0.1:9", undefined, "        reasoning: true\n");
const always = `${thinks}        thinking: { minLevel: low, maxLevel: high, mode: effort, levels: { off: null } }\n`;
const plain = modelsAt("http://127.0.0.1:9");

async function levels(options: StartOptions, ...commands: object[]) {
  host = new RpcHost(options);
  for (const [id, command] of commands.entries()) host.send({ id, ...command });
  host.send({ id: "l", type: "get_available_thinking_levels" }, { id: "s", type: "get_state" });
  const { levels } = (await host.waitForResponse("l")).data as { levels: string[] };
  const { thinkingLevel } = (await host.waitForResponse("s")).data as { thinkingLevel: string };
  expect(levels).toContain(thinkingLevel);
  return [thinkingLevel, levels.join(" ")];
}

const all = "off minimal low medium high";
const set = (level: string) => ({ type: "set_thinking_level", level });

it.each<[string, StartOptions, object[], [string, string]]>([
  ["a model that cannot think", { models: plain, args: ["--thinking", "high"] }, [], ["off", "off"]],
  ["no model at all", { args: ["--set", "disabledProviders=galley"] }, [], ["off", "off"]],
  ["no explicit level", { models: thinks }, [set("inherit")], ["off", all]],
  ["no explicit level of one that always thinks", { models: always }, [set("inherit")], ["low", "low medium high"]],
  ["minimal", { models: thinks }, [set("minimal")], ["minimal", all]],
  ["max over RPC", { models: thinks }, [set("max")], ["high", all]],
  ["max as an option", { models: thinks, args: ["--thinking", "max"] }, [], ["high", all]],
  ["max as a suffix", { models: thinks, args: ["--model", "acme/scripted:max"] }, [], ["high", all]],
])("%s", async (_name, options, commands, expected) => {
  expect(await levels(options, ...commands)).toEqual(expected);
});

it("another word is refused, with the words that there are", async () => {
  host = new RpcHost({ models: thinks });
  host.send({ id: 1, ...set("ultra") });
  expect(await host.waitForResponse(1)).toMatchObject({
    success: false,
    error: "Invalid set_thinking_level: level must be one of off, minimal, low, medium, high, xhigh",
  });
});

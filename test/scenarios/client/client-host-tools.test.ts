// Which of the tools the client serves that it has sent to the agent, while the agent decides about several lists of them.

import { describe, expect, it } from "vitest";
import type { HostTool } from "../../../src/client/index.js";
import { logOf, startFake } from "../../kit/client-rig.js";

const answered = { id: "$id", type: "response", command: "abort", success: true };
const call = (id: string, toolName: string) => ({
  type: "host_tool_call",
  id,
  toolCallId: id,
  toolName,
  arguments: {},
});
const tool = (name: string): HostTool => ({ name, description: "?", parameters: {}, execute: () => "served" });

describe("host tools that are set twice at once", () => {
  const answer = (id: string, success: boolean) => ({ id, type: "response", command: "set_host_tools", success });

  it.each([
    ["the first", false, true, "second"],
    ["the second", true, false, "first"],
    ["both", false, false, "old"],
    ["none", true, true, "second"],
  ])("are those that the agent took last, when it refuses %s", async (_, isFirstTaken, isSecondTaken, taken) => {
    const calls = ["old", "first", "second"].map((name) => call(name, name));
    const answers = [answer("req_3", isFirstTaken), answer("req_4", isSecondTaken)];
    const client = await startFake(
      {
        rules: [
          { on: "set_host_tools", where: { id: "req_3" }, do: [] },
          { on: "set_host_tools", where: { id: "req_4" }, do: [...calls, ...answers] },
          { on: "abort", do: [...calls, answered] },
        ],
      },
      { customTools: [tool("old")] },
    );
    const both = [client.setHostTools([tool("first")]), client.setHostTools([tool("second")])];
    const ends = (await Promise.allSettled(both)).map(({ status }) => status === "fulfilled");
    expect(ends).toEqual([isFirstTaken, isSecondTaken]);
    await client.abort();
    await client.getEntries();
    const results = await logOf(client, ["host_tool_result"]);
    const served = results.filter(({ isError }) => !isError).map(({ id }) => id);
    expect(served).toEqual(["old", "first", "second", taken]); // all of them before the agent has answered
    await client.stop();
    await client.start();
    expect(await logOf(client, ["set_host_tools"])).toMatchObject([{ tools: [{ name: taken }] }]);
  });
});

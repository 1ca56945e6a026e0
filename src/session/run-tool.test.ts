import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { openSession } from "../testing/open-session.js";
import { gate, say } from "../testing/scripted-model.js";
import { type AnyTool, textResult } from "../tools/tool.js";

const parameters = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
const echo: AnyTool = {
  name: "echo",
  label: "Echo",
  description: "Says it again",
  parameters,
  approval: "read",
  execute: async (_id, { word }: { word: string }) => textResult(word),
};

describe("runTool", () => {
  it("checks the arguments, runs the tool and tells hosts of it, without a message", async () => {
    const { session, events } = await openSession({ tools: [echo] });
    const { result, isDenied } = await session.runTool({ name: "echo", args: { word: "hi" } });
    expect(result.content).toEqual([{ type: "text", text: "hi" }]);
    expect(isDenied).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(["tool_execution_start", "tool_execution_end"]);
    expect(session.messages).toEqual([]);
    await session.dispose();
  });

  it("refuses an unknown name and wrong arguments before anything runs", async () => {
    const { session, events } = await openSession({ tools: [echo] });
    await expect(session.runTool({ name: "ehco", args: {} })).rejects.toMatchObject({ code: "not_found" });
    await expect(session.runTool({ name: "echo", args: { word: [1] } })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("- word: must be string"),
    });
    expect(events).toEqual([]);
    await session.dispose();
  });

  it("refuses while a run is active", async () => {
    const waiting = gate();
    const { session } = await openSession({ tools: [echo], model: [[waiting.wait, ...say("done")]] });
    const prompt = session.prompt("go");
    await waiting.reached;
    await expect(session.runTool({ name: "echo", args: { word: "hi" } })).rejects.toMatchObject({ code: "busy" });
    waiting.open();
    await prompt;
    await session.dispose();
  });

  it("asks the policy, with the tier of the call", async () => {
    const tiers: string[] = [];
    const { session } = await openSession({
      tools: [{ ...echo, approval: "exec" } as AnyTool],
      session: {
        approve: async ({ tier }) => {
          tiers.push(tier);
          return { block: "Not now." };
        },
      },
    });
    const { result, isDenied } = await session.runTool({ name: "echo", args: { word: "hi" } });
    expect({ tiers, isDenied, isError: result.isError }).toEqual({ tiers: ["exec"], isDenied: true, isError: true });
    await session.dispose();
  });

  it("returns why the tool failed, and stops it by the signal", async () => {
    const stop = new AbortController();
    const stuck: AnyTool = {
      ...echo,
      execute: async (_id, _args, signal) => {
        stop.abort();
        if (signal?.aborted) throw new Error("stopped in the tool");
        return textResult("went on");
      },
    };
    const { session } = await openSession({ tools: [stuck] });
    const { result } = await session.runTool({ name: "echo", args: { word: "hi" }, signal: stop.signal });
    expect(result).toMatchObject({ isError: true, content: [{ text: "stopped in the tool" }] });
    await session.dispose();
  });

  it("a tool that writes leaves a session file, one that only reads leaves none", async () => {
    const folder = temporaryDirectory();
    const open = (tool: AnyTool) =>
      openSession({ tools: [tool], session: { persist: true, sessionDir: folder, agentDir: join(folder, "agent") } });
    const reading = await open(echo);
    await reading.session.runTool({ name: "echo", args: { word: "hi" } });
    await reading.session.dispose();
    expect(existsSync(reading.session.sessionFile as string)).toBe(false);
    const writing = await open({ ...echo, approval: "write" } as AnyTool);
    await writing.session.runTool({ name: "echo", args: { word: "hi" } });
    await writing.session.dispose();
    expect(readFileSync(writing.session.sessionFile as string, "utf8")).toContain('"customType":"tool_run"');
  });
});

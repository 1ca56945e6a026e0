import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../../protocol/events.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import { callTarget } from "./call-target.js";
import { RunTally } from "./run-tally.js";

const cost = { input: 0.01, output: 0.02, cacheRead: 0, cacheWrite: 0, total: 0.03 };
const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, totalTokens: 18, cost };

const replied = (stopReason: AssistantMessage["stopReason"]): AgentSessionEvent => ({
  type: "message_end",
  message: { role: "assistant", content: [], api: "x", provider: "p", model: "m", usage, stopReason, timestamp: 1 },
});
const started = (toolCallId: string, toolName: string, args: unknown): AgentSessionEvent => ({
  type: "tool_execution_start",
  toolCallId,
  toolName,
  args,
});
const ended = (toolCallId: string, text: string, details?: unknown): AgentSessionEvent => ({
  type: "tool_execution_end",
  toolCallId,
  toolName: "bash",
  isError: true,
  result: { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }) },
});

function tallyOf(...events: AgentSessionEvent[]): RunTally {
  const tally = new RunTally();
  for (const event of events) tally.add(event);
  return tally;
}

describe("RunTally", () => {
  it("counts replies, and bills failed ones and summaries too", () => {
    const compacted = {
      type: "auto_compaction_end",
      action: "context-full",
      result: { summary: "", firstKeptEntryId: "e", tokensBefore: 1, details: { usage: { "p/m": usage } } },
      aborted: false,
      willRetry: false,
    } as AgentSessionEvent;
    const { turns, tokens, cost: dollars } = tallyOf(replied("toolUse"), replied("error"), compacted, replied("stop"));
    expect([turns, tokens, dollars]).toEqual([2, 72, 0.12]);
  });

  it("knows the call under way, also of several", () => {
    const both = [started("1", "read", { path: "a" }), started("2", "bash", { command: "b" })] as const;
    expect(tallyOf(...both).call).toEqual({ id: "2", tool: "bash", target: "b" });
    expect(tallyOf(...both, ended("2", "x")).call).toEqual({ id: "1", tool: "read", target: "a" });
    expect(tallyOf(...both, ended("1", "x"), ended("2", "x")).call).toBeUndefined();
  });

  it("keeps the first line of why a call failed, and of a command the last", () => {
    const call = started("1", "bash", { command: "make\nall" });
    expect(tallyOf(call, ended("1", "\nNo such file\nat x")).failed).toEqual([
      { tool: "bash", target: "make all", why: "No such file" },
    ]);
    const output = "gcc\n\nCommand exited with code 2";
    expect(tallyOf(call, ended("1", output, { exitCode: 2 })).failed[0]?.why).toBe("Command exited with code 2");
    expect(tallyOf(ended("9", "")).failed).toEqual([{ tool: "bash", target: "", why: "it gave no reason" }]);
  });

  it("knows a retry until the next reply begins", () => {
    const retry: AgentSessionEvent = {
      type: "auto_retry_start",
      attempt: 1,
      maxAttempts: 3,
      delayMs: 2000,
      errorMessage: "on\u001b[31m fire",
    };
    const waiting = tallyOf(retry);
    expect(waiting.retry).toEqual({ attempt: 1, maxAttempts: 3, delayMs: 2000, reason: "on fire" });
    waiting.add({ type: "auto_retry_end", success: false, attempt: 1 });
    expect(waiting.retry).toBeUndefined();
  });
});

describe("callTarget", () => {
  it.each([
    [{ path: "a.ts", content: "x" }, "a.ts"],
    [{ paths: ["a", "b"] }, "a b"],
    [{ command: "npm\ntest" }, "npm test"],
    [{ path: " ", pattern: "x" }, "x"],
    [{ path: "src", pattern: "total" }, "total in src"],
    [{ pat: ["log($A)"], path: "src" }, "log($A) in src"],
    [{ path: "src", command: "x" }, "src"],
    [{ other: "x" }, ""],
    [null, ""],
  ])("%j", (args, target) => expect(callTarget(args)).toBe(target));
});

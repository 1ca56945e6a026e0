// The laws hold for a run as it is on the wire, and for none that lost, doubled or moved a frame.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EventLaws } from "../kit/event-laws.mjs";

type Frame = { type: string } & Record<string, unknown>;

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } };
const reply = (content: object[], stopReason = "stop") => ({
  ...{ role: "assistant", content, api: "a", provider: "p", model: "m", usage, stopReason, timestamp: 1 },
});
const user = { role: "user", content: "Hi", timestamp: 1 };
const result = { role: "toolResult", toolCallId: "c", toolName: "t", content: [], isError: false, timestamp: 1 };
const call = { type: "toolCall", id: "c", name: "t", arguments: {} };
const update = (content: object[], event: object): Frame => {
  const message = reply(content);
  return { type: "message_update", message, assistantMessageEvent: { contentIndex: 0, partial: message, ...event } };
};
const text = (value: string) => [{ type: "text", text: value }];

const run: Frame[] = [
  { type: "response", command: "prompt", success: true },
  { type: "agent_start" },
  { type: "turn_start" },
  { type: "message_start", message: user },
  { type: "message_end", message: user },
  { type: "message_start", message: reply([]) },
  update([call], { type: "toolcall_start" }),
  update([call], { type: "toolcall_end", toolCall: call }),
  { type: "message_end", message: reply([call], "toolUse") },
  { type: "tool_execution_start", toolCallId: "c" },
  { type: "tool_execution_update", toolCallId: "c" },
  { type: "tool_execution_end", toolCallId: "c" },
  { type: "message_start", message: result },
  { type: "message_end", message: result },
  { type: "turn_end", message: reply([call], "toolUse"), toolResults: [result] },
  { type: "turn_start" },
  { type: "message_start", message: reply([]) },
  update(text(""), { type: "text_start" }),
  update(text("One"), { type: "text_delta", delta: "One" }),
  update(text("One two"), { type: "text_delta", delta: " two" }),
  update(text("One two"), { type: "text_end", content: "One two" }),
  { type: "message_end", message: reply(text("One two")) },
  { type: "turn_end", message: reply(text("One two")), toolResults: [] },
  { type: "agent_end", isTerminal: false },
  { type: "auto_retry_start" },
  { type: "auto_retry_end", success: false },
  { type: "auto_compaction_start" },
  { type: "auto_compaction_end" },
  { type: "agent_settled" },
];

function problemsOf(frames: readonly Frame[]): readonly string[] {
  const laws = new EventLaws();
  for (const frame of frames) laws.read(frame);
  return laws.end().problems;
}

/** Its absence alone breaks nothing that must be: an update may be merged away, a wait may never have been. */
const mayComeTwice = ["tool_execution_update", "response", "auto_retry_start"];
const mayBeAbsent = (frame: Frame) => frame.type === "tool_execution_update";

describe("the laws of events", () => {
  it("hold for a whole run, and for every transcript", () => {
    expect(problemsOf(run)).toEqual([]);
    const folder = new URL("../transcripts/", import.meta.url);
    for (const name of readdirSync(folder)) {
      const lines = readFileSync(new URL(name, folder), "utf8").split("\n");
      const types = lines.filter((line) => line.startsWith("< ")).map((line) => JSON.parse(line.slice(2)) as Frame);
      if (lines.some((line) => line.includes('"set_event_filter"'))) continue; // who leaves events out breaks pairs
      // What a transcript leaves open ("…") cannot be followed; its starts and ends can.
      const followed = types.filter(({ type }) => /^(?:agent|response|auto)/.test(type));
      expect(problemsOf(followed), name).toEqual([]);
    }
  });

  it("know when another model may stand in, and when it has answered", () => {
    const [start, applied, succeeded] = ["auto_retry_start", "retry_fallback_applied", "retry_fallback_succeeded"].map(
      (type) => ({ type }),
    ) as [Frame, Frame, Frame];
    const attempt = (stopReason: string, ...news: Frame[]): Frame[] => [
      ...[{ type: "agent_start" }, { type: "turn_start" }],
      { type: "message_start", message: reply([]) },
      { type: "message_end", message: reply([], stopReason) },
      ...news,
      { type: "turn_end", message: reply([], stopReason), toolResults: [] },
      { type: "agent_end", isTerminal: news.length > 0 },
    ];
    const good = attempt("stop", { type: "auto_retry_end", success: true }, succeeded);
    const before = [run[0] as Frame, ...attempt("error")];
    const whole = [...before, start, applied, ...good, { type: "agent_settled" }];
    expect(problemsOf(whole)).toEqual([]);
    expect(problemsOf(whole.filter((frame) => frame !== applied))).toHaveLength(1);
    expect(problemsOf([...before, applied, start, ...good, { type: "agent_settled" }])).toHaveLength(1);
    expect(problemsOf(whole.toSpliced(whole.indexOf(succeeded), 0, succeeded))).toHaveLength(1);
    expect(problemsOf([...whole.filter((frame) => frame !== succeeded), succeeded])).toHaveLength(1);
  });

  it("break when any frame is lost", () => {
    for (const [index, frame] of run.entries())
      if (!mayBeAbsent(frame))
        expect(problemsOf(run.toSpliced(index, 1)), `without ${index}, ${frame.type}`).not.toEqual([]);
  });

  it("break when any frame comes twice", () => {
    for (const [index, frame] of run.entries())
      if (!mayComeTwice.includes(frame.type))
        expect(problemsOf(run.toSpliced(index, 0, frame)), `${index}, ${frame.type}, twice`).not.toEqual([]);
  });

  it("break when a snapshot shows more or less than its deltas, or its copy differs", () => {
    const at = run.findIndex((frame) => JSON.stringify(frame).includes('"delta":"One"'));
    const wrong = [
      update(text("One two"), { type: "text_delta", delta: "One" }),
      update(text(""), { type: "text_delta", delta: "One" }),
      { ...update(text("One"), { type: "text_delta", delta: "One" }), message: reply(text("Other")) },
    ];
    for (const frame of wrong) expect(problemsOf(run.with(at, frame))).not.toEqual([]);
  });

  it("break when a run begins before its prompt is answered, or two settle for one", () => {
    expect(problemsOf([...run.slice(1, 2), run[0] as Frame, ...run.slice(2)])).not.toEqual([]);
    expect(problemsOf([...run, ...run.slice(1)])).toContain("a run before its prompt was answered");
    expect(problemsOf([...run, { type: "agent_settled" }])).toEqual(["agent_settled without a prompt"]);
  });
});

// Random interleavings of steering, follow-ups, prompts and aborts: every pair closes, no call is left without a
// result, no message is lost and none is delivered twice.

// Of some hundred thousand events: `expect` would be most of the time.
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../../src/protocol/events.js";
import type { AgentMessage } from "../../src/protocol/messages.js";
import type { StreamEvent } from "../../src/provider/provider.js";
import { openSession } from "../../src/testing/open-session.js";
import { type AnyTool, textResult } from "../../src/tools/tool.js";
import { runs } from "../kit/runs.js";

const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } };

type Action = "steer" | "followUp" | "abort" | "prompt" | "steerPrompt" | "tick" | "interruptMode" | "steeringMode";

const action = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Action>("steer", "followUp", "steerPrompt", "tick") },
  { weight: 2, arbitrary: fc.constant<Action>("prompt") },
  { weight: 1, arbitrary: fc.constantFrom<Action>("abort", "interruptMode", "steeringMode") },
);
/** How the model answers, drawn from as often as it is asked: number of tool calls, and whether it fails. */
const reply = fc.record({
  calls: fc.integer({ min: 0, max: 3 }),
  fails: fc.integer({ min: 0, max: 9 }),
  text: fc.boolean(),
});

describe("random interleavings", () => {
  it("close every pair, lose no message, deliver none twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 30 }),
        fc.array(reply, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 6 })),
        scenario,
      ),
      { numRuns: runs(1000) },
    );
  }, 300_000);
});

async function scenario(
  actions: Action[],
  replies: { calls: number; fails: number; text: boolean }[],
  pauses: fc.Stream<number>,
): Promise<void> {
  const pause = async () => {
    const ticks = pauses.next().value as number;
    if (ticks === 6)
      await new Promise((resolve) => setImmediate(resolve)); // long enough for whatever is under way
    else for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
  };
  let asked = 0;
  let callIds = 0;
  async function* stream(): AsyncGenerator<StreamEvent> {
    // After a while the model only talks, so that every run comes to an end.
    const plan = asked < 12 ? replies[asked % replies.length] : undefined;
    asked++;
    await pause();
    yield { type: "start" };
    let contentIndex = 0;
    if (plan?.text) {
      yield { type: "text_start", contentIndex };
      await pause();
      yield { type: "text_delta", contentIndex, delta: "hm" };
      yield { type: "text_end", contentIndex: contentIndex++ };
    }
    for (let count = 0; count < (plan?.calls ?? 0); count++, contentIndex++) {
      yield { type: "toolcall_start", contentIndex, id: `c${++callIds}`, name: count === 2 ? "alone" : "shared" };
      await pause();
      yield { type: "toolcall_delta", contentIndex, delta: "{}" };
      yield { type: "toolcall_end", contentIndex };
    }
    await pause();
    if (plan?.fails === 0) yield { type: "error", reason: "error", errorMessage: "boom" };
    else yield { type: "done", reason: plan?.calls ? "toolUse" : "stop", usage };
  }
  const work = (name: string, concurrency: "shared" | "exclusive"): AnyTool => ({
    name,
    label: name,
    description: name,
    parameters: { type: "object" },
    concurrency,
    async execute(_id, _params, signal) {
      await pause();
      // Somebody acts just while a tool runs: the moments that outside timing alone hardly ever hits.
      const mood = pauses.next().value as number;
      if (mood === 1) steer();
      if (mood === 2) running.push(session.abort());
      await pause();
      if (signal?.aborted) throw new Error("stopped");
      return textResult("ok");
    },
  });
  const { session, events, clock } = await openSession({
    tools: [work("shared", "shared"), work("alone", "exclusive")],
    session: { streamFn: stream },
  });
  const accepted: string[] = [];
  const running: Promise<unknown>[] = [];
  let number = 0;
  const text = () => `message ${++number}`;
  const steer = () => {
    const message = text();
    accepted.push(message);
    session.steer(message);
  };
  session.interruptMode = actions.length % 2 ? "immediate" : "wait";
  for (const step of ["prompt" as const, ...actions]) {
    await pause();
    if (step === "steer") steer();
    else if (step === "followUp") {
      const message = text();
      accepted.push(message);
      session.followUp(message);
    } else if (step === "abort") running.push(session.abort());
    else if (step === "interruptMode") session.interruptMode = session.interruptMode === "wait" ? "immediate" : "wait";
    else if (step === "steeringMode") session.steeringMode = session.steeringMode === "all" ? "one-at-a-time" : "all";
    else if (step !== "tick") {
      const message = text();
      const behaviour = step === "steerPrompt" ? { streamingBehavior: "steer" as const } : {};
      const outcome = { accepted: false };
      const onAccepted = () => {
        outcome.accepted = true;
        accepted.push(message);
      };
      running.push(
        session.prompt(message, { ...behaviour, onAccepted }).catch(() => expect(outcome.accepted).toBe(false)),
      );
    }
  }
  await session.waitForIdle();
  await Promise.all(running);
  await session.waitForIdle();
  await session.abort();

  expect(session.isStreaming).toBe(false);
  checkPairs(events);
  checkMessages(events, session.messages);
  const delivered = session.messages.filter((message) => message.role === "user").map(textOf);
  const { steering, followUp } = session.clearQueue();
  // A prompt aborted before its agent_start was either recorded or not accepted; nothing else may be missing.
  expect([...delivered, ...steering, ...followUp].sort()).toEqual([...accepted].sort());
  expect(clock.pendingTimers).toBe(0);
}

function checkPairs(events: readonly AgentSessionEvent[]): void {
  let agents = 0;
  let turns = 0;
  let open: string | undefined;
  const calls = new Map<string, number>();
  for (const event of events) {
    if (event.type === "agent_start") equal(++agents, 1);
    if (event.type === "agent_end") deepEqual([--agents, turns], [0, 0]);
    if (event.type === "turn_start") equal(++turns, 1);
    if (event.type === "turn_end") {
      equal(--turns, 0);
      const wanted = event.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
      deepEqual(
        event.toolResults.map((result) => result.toolCallId),
        wanted,
      );
    }
    if (event.type === "message_start") {
      equal(open, undefined);
      open = event.message.role;
    }
    if (event.type === "message_end") {
      equal(event.message.role, open);
      open = undefined;
    }
    if (event.type === "tool_execution_start") {
      equal(calls.has(event.toolCallId), false);
      calls.set(event.toolCallId, 1);
    }
    if (event.type === "tool_execution_end") {
      equal(calls.get(event.toolCallId), 1);
      calls.set(event.toolCallId, 0);
    }
  }
  expect([agents, turns, open]).toEqual([0, 0, undefined]);
  expect([...calls.values()].filter((count) => count !== 0)).toEqual([]);
}

/** What was announced is what the session holds, in the same order; a prompt stopped before its run is only held. */
function checkMessages(events: readonly AgentSessionEvent[], messages: readonly AgentMessage[]): void {
  const ended = new Set(events.flatMap((event) => (event.type === "message_end" ? [event.message] : [])));
  const silent = messages.filter((message) => !ended.has(message));
  expect(messages.filter((message) => ended.has(message))).toEqual([...ended]);
  expect(silent.every((message) => message.role === "user")).toBe(true);
  expect(silent.length).toBeLessThanOrEqual(settlesWithoutRun(events));
}

function settlesWithoutRun(events: readonly AgentSessionEvent[]): number {
  let runs = 0;
  let empty = 0;
  for (const event of events) {
    if (event.type === "agent_start") runs++;
    if (event.type !== "agent_settled") continue;
    if (runs === 0) empty++;
    runs = 0;
  }
  return empty;
}

function textOf(message: AgentMessage): string {
  if (message.role !== "user" || typeof message.content === "string") return "";
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

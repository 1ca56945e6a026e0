// Random interleavings of everything that can happen to a prompt: each one that was accepted is told of exactly once,
// after its response, and those that one work ends in the order of their acceptance.

import { deepStrictEqual as deepEqual, strictEqual as equal, ok } from "node:assert";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type AnyFrame, FakeOutput, tick } from "../../test/kit/outbox-rig.js";
import { runs } from "../../test/kit/runs.js";
import { silentLog } from "../base/log.js";
import { type StreamEvent, type StreamRequest, zeroUsage } from "../provider/provider.js";
import { openSession } from "../testing/open-session.js";
import { type AnyTool, textResult } from "../tools/tool.js";
import { serveRpc } from "./server.js";
import "../loop/validate-arguments.js"; // loaded before any clock runs: the first call would wait for it in real time

const action = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("prompt", "prompt steer", "prompt followUp") },
  { weight: 3, arbitrary: fc.constantFrom("tick", "advance", "steer", "follow_up") },
  { weight: 2, arbitrary: fc.constantFrom("abort", "abort_retry", "abort_and_prompt") },
  { weight: 1, arbitrary: fc.constantFrom("new_session", "clone", "set_auto_retry") },
);
/** How the model answers, one after the other and over again. */
const reply = fc.constantFrom("text", "text", "call", "transient", "permanent", "stall");

it("every accepted prompt has one result, in its place", async () => {
  const statuses = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 3, maxLength: 25 }),
      fc.array(reply, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat(3)),
      async (actions, replies, pauses) => {
        const frames = await play(actions, replies, pauses);
        const mayWait = new Set(actions.flatMap((step, index) => (step.startsWith("prompt ") ? [index + 1] : [])));
        for (const { status, agentInvoked } of check(frames, mayWait)) statuses.add(`${status} ${agentInvoked}`);
      },
    ),
    { numRuns: runs(300) },
  );
  // What the law is about has happened at all.
  expect([...statuses].sort()).toEqual([
    "aborted false",
    "aborted true",
    "completed true",
    "error false",
    "error true",
  ]);
}, 120_000);

async function play(actions: string[], replies: string[], pauses: fc.Stream<number>): Promise<AnyFrame[]> {
  const pause = async () => {
    for (let left = pauses.next().value as number; left > 0; left--) await tick();
  };
  let asked = 0;
  async function* stream({ options: { signal } }: StreamRequest): AsyncGenerator<StreamEvent> {
    const kind = asked < 15 ? replies[asked % replies.length] : "text";
    asked++;
    await pause();
    yield { type: "start" };
    if (kind === "stall") await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    if (kind === "transient") return yield { type: "error", reason: "error", errorMessage: "503 service unavailable" };
    if (kind === "permanent") return yield { type: "error", reason: "error", errorMessage: "boom" };
    if (kind === "call") {
      yield { type: "toolcall_start", contentIndex: 0, id: `c${asked}`, name: "work" };
      yield { type: "toolcall_delta", contentIndex: 0, delta: "{}" };
      yield { type: "toolcall_end", contentIndex: 0 };
    }
    yield { type: "done", reason: kind === "call" ? "toolUse" : "stop", usage: zeroUsage };
  }
  const loadRules = async () => {
    await pause(); // long enough for an abort before the run begins
    return [];
  };
  const work: AnyTool = {
    name: "work",
    label: "Work",
    description: "Works",
    parameters: { type: "object" },
    async execute() {
      await pause();
      return textResult("ok");
    },
  };
  const { session, clock } = await openSession({ tools: [work], session: { streamFn: stream, loadRules } });
  const input = new PassThrough();
  const output = new FakeOutput();
  const server = serveRpc({ input, output, session: Promise.resolve(session), clock, log: silentLog });
  let sent = 0;
  const answered = () => new Set(output.frames.flatMap(({ type, id }) => (type === "response" ? [id] : []))).size;
  const send = (frame: object) => {
    sent++;
    input.write(`${JSON.stringify(frame)}\n`);
  };
  send({ type: "negotiate_protocol", protocolVersion: 2, features: ["prompt-result"] });
  for (const [id, step] of ["prompt", ...actions].entries()) {
    const [type, streamingBehavior] = step.split(" ");
    if (step === "tick") await tick();
    else if (step === "advance") {
      // What stops a run is answered after five seconds in any case; that is not what this is about.
      while (answered() < sent) await tick();
      clock.advance(10_000);
    } else
      send({ id, type, message: `m${id}`, enabled: id % 2 === 0, ...(streamingBehavior ? { streamingBehavior } : {}) });
    await pause();
  }
  input.end();
  const code = server.done;
  while ((await Promise.race([code, tick().then(() => "going")])) === "going") clock.advance(50);
  equal(await code, 0);
  return output.frames;
}

const promptTypes = new Set<unknown>(["prompt", "abort_and_prompt"]);
const leavingTypes = new Set<unknown>(["new_session", "clone"]);

/** `mayWait`: prompts that may wait in a queue, by their ids. */
function check(frames: AnyFrame[], mayWait: ReadonlySet<unknown>): AnyFrame[] {
  const accepted: unknown[] = [];
  const failed = new Map<unknown, unknown>();
  const results: AnyFrame[] = [];
  const announced = new Set<unknown>();
  let isRunning = false;
  let batch: unknown[] = [];
  for (const [index, frame] of frames.entries()) {
    const { type, id, command, success, error } = frame;
    if (type !== "prompt_result") batch = [];
    if (type === "agent_start") isRunning = true;
    else if (type === "agent_settled") isRunning = false;
    else if (type === "response" && promptTypes.has(command) && success) accepted.push(id);
    else if (type === "response" && promptTypes.has(command)) failed.set(id, error);
    else if (type === "response" && leavingTypes.has(command) && success)
      equal(results.length, accepted.length, "open in a session that was left");
    else if (type === "response" && command === "abort") {
      const open = accepted.filter((prompt) => !results.some((result) => result.id === prompt));
      ok(
        open.every((prompt) => mayWait.has(prompt)),
        "open after everything was stopped",
      );
    } else if (type === "message_start") announced.add(textOf(frame));
    else if (type === "session_settled") {
      ok(!isRunning, "settled while a run is under way");
      ok(["prompt_result", "agent_settled"].includes(frames[index - 1]?.type ?? ""));
    } else if (type === "prompt_result") {
      results.push(frame);
      if (!failed.has(id)) batch.push(accepted.indexOf(id)); // one that failed late is told of at once
      ok(accepted.includes(id), "a result before the response");
      deepEqual(
        batch,
        [...batch].sort((a, b) => Number(a) - Number(b)),
        "not in the order of acceptance",
      );
      equal(frame.agentInvoked, announced.has(`m${id}`), "what the model was told");
      const reason = (error as { message?: string } | undefined)?.message;
      equal(frame.status === "error", reason !== undefined);
      if (failed.has(id)) deepEqual([frame.agentInvoked, reason], [false, failed.get(id)]);
      else if (reason !== undefined) ok(["boom", "503 service unavailable"].includes(reason), reason);
      equal(frame.sessionSettled, !isRunning && nextOther(frames, index)?.type === "session_settled");
    }
  }
  deepEqual(results.map(({ id }) => id).sort(), [...accepted].sort(), "exactly one for each");
  return results;
}

function textOf(frame: AnyFrame): unknown {
  const { content } = frame.message as { content?: { text?: string }[] };
  return content?.[0]?.text;
}

function nextOther(frames: AnyFrame[], index: number): AnyFrame | undefined {
  return frames.slice(index).find(({ type }) => type !== "prompt_result");
}

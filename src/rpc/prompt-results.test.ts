import { describe, expect, it } from "vitest";
import { type AnyFrame, dispatcherFor, rig, tick } from "../../test/kit/outbox-rig.js";
import type { TypedObject } from "../base/ndjson.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { AnyTool } from "../sdk/index.js";
import { type OpenSessionOptions, openSession } from "../testing/open-session.js";
import { call, fail, gate, type ScriptStep, say } from "../testing/scripted-model.js";
import { Features } from "./features.js";
import { PromptResults, type ResultSource } from "./prompt-results.js";

async function connect(options: OpenSessionOptions = {}) {
  const open = await openSession(options);
  const parts = rig({ features: ["prompt-result"] });
  open.session.subscribe((event) => parts.outbox.sendEvent(event));
  const dispatcher = dispatcherFor(parts, Promise.resolve(open.session), open.clock);
  return {
    ...open,
    ...parts,
    clock: open.clock,
    async ask(...frames: TypedObject[]) {
      for (const frame of frames) dispatcher.dispatch(frame);
      await dispatcher.idle();
      await tick();
    },
    async settled() {
      await open.session.waitForIdle();
      await tick();
    },
    get results() {
      return parts.output.frames.filter(({ type }) => type === "prompt_result");
    },
    get story() {
      return parts.output.frames.map(headline);
    },
  };
}

function headline({ type, id, success, status }: AnyFrame): string {
  if (type === "response") return `${id} ${success ? "ok" : "failed"}`;
  return type === "prompt_result" ? `${id} ${status}` : type;
}

/** Stands still until the gate opens or the run is aborted. */
function stalled(): { waiting: ReturnType<typeof gate>; step: ScriptStep } {
  const waiting = gate();
  return { waiting, step: [{ type: "start" }, waiting.wait, ...say("Hi").slice(1)] };
}

/** Results of a session that is only what the test says of it. */
function bare() {
  const features = new Features();
  features.negotiate(["prompt-result"]);
  const frames: AnyFrame[] = [];
  let emit: (event: AgentSessionEvent) => unknown = () => {};
  const source = {
    isStreaming: false,
    begunCount: 0,
    lastOutcome: { status: "completed" } as ResultSource["lastOutcome"],
    queuedMessages: [] as AgentMessage[],
    subscribe(subscriber: (event: AgentSessionEvent) => unknown) {
      emit = subscriber;
      return () => {};
    },
  };
  const results = new PromptResults({ features, send: (frame) => void frames.push(frame) });
  results.attach(source);
  return { results, frames, source, emit: (event: AgentSessionEvent) => void emit(event) };
}

function message(text: string): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], attribution: "user", timestamp: 0 };
}

function accepted(results: PromptResults, id: string, words: AgentMessage, place: "run" | "queue"): void {
  const ticket = results.open(id);
  ticket.place(words, place);
  ticket.accept();
}

describe("a prompt that ran", () => {
  it("is told of after agent_settled, and the session's rest after it", async () => {
    const host = await connect({ model: [say("Hi")] });
    await host.ask({ type: "prompt", id: "a", message: "Hello" });
    await host.settled();
    expect(host.story.slice(-4)).toEqual(["agent_end", "agent_settled", "a completed", "session_settled"]);
    expect(host.results).toEqual([
      { type: "prompt_result", id: "a", agentInvoked: true, status: "completed", sessionSettled: true },
    ]);
  });

  it("and failed says why, and whether it may go well another time", async () => {
    const model = [
      fail("503 service unavailable", { failure: { kind: "server", status: 503 } }),
      fail("No such model"),
    ];
    const host = await connect({ model });
    await host.ask({ type: "set_auto_retry", id: "off", enabled: false });
    for (const id of ["a", "b"]) {
      await host.ask({ type: "prompt", id, message: "Hello" });
      await host.settled();
    }
    const origin = { provider: "test", model: "script" };
    expect(host.results.map(({ status, error }) => ({ status, error }))).toEqual([
      { status: "error", error: { message: "503 service unavailable", ...origin, httpStatus: 503, retryable: true } },
      { status: "error", error: { message: "No such model", ...origin, retryable: false } },
    ]);
  });

  it("and was stopped is aborted, before the answer to abort, also when only a tool was left to stop", async () => {
    const waiting = gate();
    const slow: AnyTool = {
      name: "slow",
      label: "Slow",
      description: "Slow",
      parameters: { type: "object" },
      async execute() {
        await waiting.wait();
        return { content: [] };
      },
    };
    const host = await connect({ model: [call("slow", {})], tools: [slow] });
    await host.ask({ type: "prompt", id: "a", message: "Go" });
    await waiting.reached;
    const stopped = host.ask({ type: "abort", id: "b" });
    await tick();
    waiting.open();
    await stopped;
    expect(host.story.slice(-4)).toEqual(["agent_settled", "a aborted", "session_settled", "b ok"]);
    expect(host.results).toMatchObject([{ agentInvoked: true }]);
  });

  it("whose retry was cancelled failed, and was aborted if everything was", async () => {
    const host = await connect({ model: [fail("503 service unavailable"), fail("503 service unavailable")] });
    for (const [id, type] of [
      ["a", "abort_retry"],
      ["b", "abort"],
    ] as const) {
      await host.ask({ type: "prompt", id, message: "Go" });
      while (!host.session.isRetrying) await tick();
      await host.ask({ type, id: `${id}2` });
    }
    expect(host.results).toMatchObject([
      { id: "a", status: "error", error: { message: "503 service unavailable", retryable: true } },
      { id: "b", status: "aborted" },
    ]);
    expect(host.story.slice(-5)).toEqual(["auto_retry_end", "agent_settled", "b aborted", "session_settled", "b2 ok"]);
  });
});

describe("a prompt that was queued", () => {
  it("is told of with the run that took it, in the order of acceptance", async () => {
    const { waiting, step } = stalled();
    const host = await connect({ model: [step, fail("boom")] });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    await waiting.reached;
    await host.ask({ type: "prompt", id: "b", message: "Two", streamingBehavior: "followUp" });
    waiting.open();
    await host.settled();
    expect(host.story.slice(-4)).toEqual(["agent_settled", "a error", "b error", "session_settled"]);
    expect(host.results).toMatchObject([{ agentInvoked: true }, { agentInvoked: true }]);
  });

  it("has an end of its own when a run of its own takes it", () => {
    const { results, frames, emit, source } = bare();
    const [first, second] = [message("One"), message("Two")];
    accepted(results, "a", first, "run");
    accepted(results, "b", second, "queue");
    source.isStreaming = true;
    emit({ type: "message_start", message: first });
    source.lastOutcome = { status: "completed" };
    emit({ type: "agent_end", messages: [], isTerminal: false, continueReason: "queued" });
    emit({ type: "message_start", message: second });
    source.lastOutcome = { status: "error", error: { message: "boom", retryable: false } };
    source.isStreaming = false;
    emit({ type: "agent_settled" });
    expect(frames.map(headline)).toEqual(["a completed", "b error", "session_settled"]);
  });

  it("stays open while an abort leaves it queued, and ends with the work that takes it", async () => {
    const { waiting, step } = stalled();
    const host = await connect({ model: [step, say("Both")] });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    await waiting.reached;
    await host.ask(
      { type: "prompt", id: "b", message: "Two", streamingBehavior: "steer" },
      { type: "abort", id: "c" },
      { type: "get_state", id: "d" },
    );
    expect(host.results).toMatchObject([{ id: "a", status: "aborted", sessionSettled: true }]);
    expect(host.output.frames.at(-1)?.data).toMatchObject({ isSettled: true, queuedMessageCount: 1 });
    await host.ask({ type: "prompt", id: "e", message: "Three" });
    await host.settled();
    expect(host.story.slice(-4)).toEqual(["agent_settled", "b completed", "e completed", "session_settled"]);
    waiting.open();
  });

  it("is aborted when the session is left, before the answer", async () => {
    const { waiting, step } = stalled();
    const host = await connect({ model: [step] });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    await waiting.reached;
    await host.ask(
      { type: "prompt", id: "b", message: "Two", streamingBehavior: "followUp" },
      { type: "new_session", id: "c" },
    );
    const end = ["agent_settled", "a aborted", "session_settled", "b aborted", "session_settled", "c ok"];
    expect(host.story.slice(-6)).toEqual(end);
    expect(host.results).toMatchObject([{ agentInvoked: true }, { agentInvoked: false }]);
    waiting.open();
  });
});

describe("a prompt that did not reach the agent", () => {
  it("failed late: its result follows, and the run in the way goes on", async () => {
    const { waiting, step } = stalled();
    const host = await connect({ model: [step] });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    await waiting.reached;
    await host.ask({ type: "prompt", id: "b", message: "Two" }, { type: "get_state", id: "c" });
    expect(host.story.slice(-4)).toEqual(["b ok", "b failed", "b error", "c ok"]);
    expect(host.results).toMatchObject([{ agentInvoked: false, sessionSettled: false, error: { retryable: true } }]);
    expect(host.output.frames.at(-1)?.data).toMatchObject({ isSettled: false });
    waiting.open();
    await host.settled();
    expect(host.results).toMatchObject([{ id: "b" }, { id: "a", status: "completed" }]);
  });

  it("was stopped before its run began", async () => {
    const rules = gate();
    const loadRules = () => rules.wait().then(() => []);
    const host = await connect({ session: { loadRules } });
    await host.ask({ type: "prompt", id: "a", message: "One" });
    await rules.reached;
    const stopped = host.ask({ type: "abort", id: "b" });
    await tick();
    rules.open();
    await stopped;
    expect(host.story).toEqual(["a ok", "agent_settled", "a aborted", "session_settled", "b ok"]);
    expect(host.results).toMatchObject([{ agentInvoked: false }]);
  });
});

it("without the feature nothing of it is sent", async () => {
  const host = await connect({ model: [say("Hi")] });
  host.features.negotiate([]);
  await host.ask({ type: "prompt", id: "a", message: "Hello" });
  await host.settled();
  await host.ask({ type: "get_state", id: "b" });
  expect(host.story.at(-2)).toBe("agent_settled");
  expect(host.output.frames.at(-1)?.data).not.toHaveProperty("isSettled");
});

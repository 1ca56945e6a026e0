import { describe, expect, it } from "vitest";
import { type AnyFrame, dispatcherFor, type Rig, rig, tick } from "../../test/kit/outbox-rig.js";
import type { TypedObject } from "../base/ndjson.js";
import type { AgentSession, AnyTool } from "../sdk/index.js";
import { type OpenSession, type OpenSessionOptions, openSession } from "../testing/open-session.js";
import { call, gate, say, textBlock } from "../testing/scripted-model.js";
import type { Dispatcher } from "./dispatcher.js";

interface Host extends Rig, OpenSession {
  dispatcher: Dispatcher;
  ask(...frames: TypedObject[]): Promise<void>;
  /** Type, and for a response the id and the outcome: enough to compare an order. */
  readonly story: string[];
}

async function connect(options: OpenSessionOptions & { budgetBytes?: number } = {}): Promise<Host> {
  const open = await openSession(options);
  const { budgetBytes } = options;
  const parts = rig(budgetBytes === undefined ? {} : { budgetBytes });
  open.session.subscribe((event) => parts.outbox.sendEvent(event));
  const dispatcher = dispatcherFor(parts, Promise.resolve(open.session), open.clock);
  return {
    ...parts,
    ...open,
    dispatcher,
    async ask(...frames) {
      for (const frame of frames) dispatcher.dispatch(frame);
      await dispatcher.idle();
      await tick();
    },
    get story() {
      return parts.output.frames.map(headline);
    },
  };
}

function headline({ type, id, command, success }: AnyFrame): string {
  return type === "response" ? `${id ?? command} ${success ? "ok" : "failed"}` : type;
}

/** Only answers, which do not depend on how a reply was streamed. */
function answersOf({ story }: Host): string[] {
  return story.filter((line) => line.includes(" "));
}

describe("the main lane", () => {
  it("answers in the order of the lines, whatever becomes of each", async () => {
    const host = await connect();
    host.dispatcher.dispatch({ type: "get_state", id: "a" });
    host.dispatcher.refuseLine("Invalid UTF-8");
    host.dispatcher.dispatch({ type: "frobnicate", id: "b" });
    host.dispatcher.dispatch({ type: "set_steering_mode", id: "c", mode: "sometimes" });
    host.dispatcher.dispatch({ type: "set_steering_mode", id: "d", mode: "all" });
    await host.ask({ type: "get_state", id: "e" });
    expect(host.output.frames).toMatchObject([
      { id: "a", data: { steeringMode: "one-at-a-time" } },
      { command: "parse", success: false, error: "Failed to parse command: Invalid UTF-8" },
      { command: "frobnicate", error: "Unknown command: frobnicate", requestId: "b" },
      { id: "c", error: 'Invalid set_steering_mode: mode must be "all" or "one-at-a-time"' },
      { id: "d", success: true },
      { id: "e", data: { steeringMode: "all" } },
    ]);
    expect(host.output.frames[1]).not.toHaveProperty("id");
  });

  it("knows no command by the name of a member of Object", async () => {
    const host = await connect();
    const types = ["constructor", "__proto__", "toString", ""];
    await host.ask(...types.map((type) => ({ type })));
    expect(host.output.frames.map(({ error }) => error)).toEqual(types.map((type) => `Unknown command: ${type}`));
  });

  it("goes on after a surprise", async () => {
    const parts = rig();
    const broken = new Proxy({} as AgentSession, {
      get(_, name) {
        if (name === "then") return undefined;
        if (name === "subscribe") return () => {};
        if (name === "begunCount") return 0;
        if (name === "isStreaming") return false;
        throw new TypeError(`no ${String(name)}`);
      },
    });
    const dispatcher = dispatcherFor(parts, Promise.resolve(broken));
    dispatcher.dispatch({ type: "get_messages", id: "a" });
    dispatcher.dispatch({ type: "frobnicate", id: "b" });
    await dispatcher.idle();
    await tick();
    expect(parts.output.frames).toEqual([
      {
        type: "response",
        command: "parse",
        success: false,
        error: "Failed to parse command: no withImages",
        requestId: "a",
        requestCommand: "get_messages",
      },
      expect.objectContaining({ command: "frobnicate", requestId: "b" }),
    ]);
  });

  it("bounds the pictures of a message before anything starts", async () => {
    const host = await connect();
    const image = { type: "image", data: "", mimeType: "image/png" };
    const error = (command: string) => `Invalid ${command}: images must be at most 100 blocks of at most 20 MiB each`;
    for (const type of ["prompt", "steer", "follow_up", "abort_and_prompt"])
      await host.ask({ type, id: "a", message: "Look", images: Array.from({ length: 101 }, () => image) });
    expect(host.output.frames.map((frame) => frame.error)).toEqual(
      ["prompt", "steer", "follow_up", "abort_and_prompt"].map(error),
    );
    expect(host.session.queuedMessageCount).toBe(0);
    expect(host.events).toEqual([]);
  });
});

describe("a prompt", () => {
  it("is answered before every event it causes, and takes its pictures along", async () => {
    const host = await connect({ model: [say("Hi")] });
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    await host.ask({ type: "prompt", id: "a", message: "Hello", images: [image] });
    await host.session.waitForIdle();
    await tick();
    expect(host.session.messages[0]).toMatchObject({ content: [{ type: "text", text: "Hello" }, image] });
    expect(host.story.slice(0, 3)).toEqual(["a ok", "agent_start", "turn_start"]);
    expect(host.story.at(-1)).toBe("agent_settled");
  });

  it("never holds the lane while it runs", async () => {
    const held = gate();
    const host = await connect({ model: [[{ type: "start" }, held.wait, ...say("Hi").slice(1)]] });
    await host.ask({ type: "prompt", id: "a", message: "Hello" }, { type: "get_state", id: "b" });
    await held.reached;
    await host.ask({ type: "get_last_assistant_text", id: "c" });
    expect(answersOf(host)).toEqual(["a ok", "b ok", "c ok"]);
    expect(host.output.frames.find(({ id }) => id === "b")?.data).toMatchObject({ isStreaming: true });
    held.open();
    await host.session.waitForIdle();
    await host.ask({ type: "get_last_assistant_text", id: "d" });
    expect(host.output.frames.at(-1)?.data).toEqual({ text: "Hi" });
  });

  it("while busy is accepted, then refused, before the next answer", async () => {
    const held = gate();
    const host = await connect({ model: [[{ type: "start" }, held.wait, ...say("Hi").slice(1)]] });
    await host.ask(
      { type: "prompt", id: "a", message: "One" },
      { type: "prompt", id: "b", message: "Two" },
      { type: "abort", id: "c" },
    );
    expect(answersOf(host)).toEqual(["a ok", "b ok", "b failed", "c ok"]);
    expect(host.output.frames.find(({ success }) => success === false)).toEqual({
      id: "b",
      type: "response",
      command: "prompt",
      success: false,
      error: "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.",
    });
    held.open();
  });

  it("without a model is accepted, then refused", async () => {
    const parts = rig();
    const open = await openSession();
    const none = new Proxy(open.session, {
      get(session, name) {
        if (name === "prompt") return () => Promise.reject(new Error("No model selected."));
        const member: unknown = Reflect.get(session, name);
        return typeof member === "function" ? member.bind(session) : member;
      },
    });
    const dispatcher = dispatcherFor(parts, Promise.resolve(none), open.clock);
    dispatcher.dispatch({ type: "prompt", id: "a", message: "Hello" });
    await dispatcher.idle();
    await tick();
    expect(parts.output.frames.map(headline)).toEqual(["a ok", "a failed"]);
  });

  it("with streamingBehavior is queued during a run", async () => {
    const held = gate();
    const host = await connect({
      model: [[{ type: "start" }, held.wait, ...say("Hi").slice(1)], say("Steered"), say("Followed")],
    });
    await host.ask(
      { type: "prompt", id: "a", message: "One" },
      { type: "prompt", id: "b", message: "Two", streamingBehavior: "steer" },
      { type: "prompt", id: "c", message: "Three", streamingBehavior: "followUp" },
      { type: "get_state", id: "d" },
    );
    expect(answersOf(host)).toEqual(["a ok", "b ok", "c ok", "d ok"]);
    expect(host.output.frames.find(({ id }) => id === "d")?.data).toMatchObject({ queuedMessageCount: 2 });
    held.open();
    await host.session.waitForIdle();
    host.model.verify();
  });
});

describe("abort", () => {
  it("is answered after the closing events of the run", async () => {
    const held = gate();
    const host = await connect({ model: [[{ type: "start" }, ...textBlock(0, ["Hi"]), held.wait]] });
    await host.ask({ type: "prompt", id: "a", message: "Hello" });
    await held.reached;
    await host.ask({ type: "abort", id: "b" }, { type: "get_state", id: "c" });
    expect(host.story.slice(-6)).toEqual(["message_end", "turn_end", "agent_end", "agent_settled", "b ok", "c ok"]);
    expect(host.output.frames.at(-1)?.data).toMatchObject({ isStreaming: false });
    held.open();
  });

  it("and prompt: the old run ends before the answer, the new one starts after it", async () => {
    const held = gate();
    const host = await connect({ model: [[{ type: "start" }, held.wait], say("New")] });
    await host.ask({ type: "prompt", id: "a", message: "Old" });
    await held.reached;
    await host.ask({ type: "abort_and_prompt", id: "b", message: "New" });
    await host.session.waitForIdle();
    await tick();
    const answer = host.story.indexOf("b ok");
    expect(host.story.slice(answer - 2, answer + 2)).toEqual(["agent_end", "agent_settled", "b ok", "agent_start"]);
    held.open();
    host.model.verify();
  });

  it("and prompt: a tool that must not be cut short holds neither the host nor the lane, and fails the prompt late", async () => {
    const work = gate();
    const host = await connect({ model: [call("apply", {})], tools: [applying(work.wait)] });
    await host.ask({ type: "prompt", id: "a", message: "Apply" });
    await work.reached;
    host.dispatcher.dispatch({ type: "abort_and_prompt", id: "b", message: "Again" });
    host.dispatcher.dispatch({ type: "get_state", id: "c" });
    await tick();
    expect(answersOf(host)).toEqual(["a ok"]);
    host.clock.advance(6000);
    await host.dispatcher.idle();
    await tick();
    expect(answersOf(host)).toEqual(["a ok", "b ok", "c ok"]);
    expect(host.output.frames.at(-1)?.data).toMatchObject({ isStreaming: true });
    host.clock.advance(30_000);
    await tick();
    expect(host.output.frames.at(-1)).toEqual({
      id: "b",
      type: "response",
      command: "abort_and_prompt",
      success: false,
      error: "Timed out waiting for prior agent run to finish before prompting.",
    });
    work.open();
    await host.session.waitForIdle();
  });

  it("and prompt: a tool that ends in time is followed by the new run", async () => {
    const work = gate();
    const host = await connect({ model: [call("apply", {}), say("New")], tools: [applying(work.wait)] });
    await host.ask({ type: "prompt", id: "a", message: "Apply" });
    await work.reached;
    host.dispatcher.dispatch({ type: "abort_and_prompt", id: "b", message: "New" });
    await tick();
    host.clock.advance(6000);
    await host.dispatcher.idle();
    work.open();
    await host.session.waitForIdle(); // the old run
    await tick();
    await host.session.waitForIdle(); // the new one
    await host.ask({ type: "get_last_assistant_text", id: "c" });
    expect(answersOf(host)).toEqual(["a ok", "b ok", "c ok"]);
    expect(host.output.frames.at(-1)?.data).toEqual({ text: "New" });
    expect(host.clock.pendingTimers).toBe(0);
  });
});

function applying(work: () => Promise<void>): AnyTool {
  return {
    name: "apply",
    label: "Apply",
    description: "Applies",
    parameters: { type: "object", properties: {} },
    nonAbortable: true,
    async execute() {
      await work();
      return { content: [] };
    },
  };
}

describe("negotiation", () => {
  it("holds from the first frame after its answer, not before", async () => {
    const host = await connect();
    let isOn = () => host.features.has("message-ids");
    const seen: boolean[] = [];
    const send = host.outbox.send.bind(host.outbox);
    host.outbox.send = (frame) => {
      seen.push(isOn());
      send(frame);
    };
    host.dispatcher.dispatch({ type: "negotiate_protocol", id: "a", protocolVersion: 2 });
    // Whatever runs between the handler and the end of its turn in the lane finds the answer already sent.
    while (!isOn()) await Promise.resolve();
    expect(seen).toEqual([true]);
    isOn = () => false;
    await host.ask({ type: "negotiate_protocol", id: "b", protocolVersion: 2, features: ["queue-events", "teleport"] });
    expect(host.output.frames.map(({ data }) => data)).toEqual([
      { protocolVersion: 2, features: ["prompt-result", "message-ids", "echo-ids"] },
      { protocolVersion: 2, features: ["queue-events"] },
    ]);
    expect(host.features.has("message-ids")).toBe(false);
  });

  it("refuses any other version and changes nothing", async () => {
    const host = await connect();
    host.features.negotiate(["echo-ids"]);
    await host.ask({ type: "negotiate_protocol", id: "a", protocolVersion: 3, features: [] });
    expect(host.output.frames[0]).toMatchObject({ id: "a", error: "Unsupported RPC protocol version: 3" });
    expect(host.features.has("echo-ids")).toBe(true);
  });
});

describe("room", () => {
  const isPending = async (promise: Promise<unknown>) => {
    const marker = Symbol("pending");
    return (await Promise.race([promise, tick().then(() => marker)])) === marker;
  };

  it("ends at 1,024 unanswered lines, malformed ones included, and comes back with an answer", async () => {
    const parts = rig();
    const { output } = parts;
    const { session } = await openSession();
    let start: (session: AgentSession) => void = () => {};
    const starting = new Promise<AgentSession>((resolve) => {
      start = resolve;
    });
    const dispatcher = dispatcherFor(parts, starting);
    dispatcher.dispatch({ type: "abort", id: 0 });
    for (let line = 1; line < 1023; line++) {
      if (line % 2) dispatcher.dispatch({ type: "abort", id: line });
      else dispatcher.refuseLine("Invalid UTF-8");
    }
    await dispatcher.hasRoom();
    dispatcher.dispatch({ type: "abort", id: 1023 });
    const room = dispatcher.hasRoom();
    expect(await isPending(room)).toBe(true);
    start(session);
    await room;
    await dispatcher.idle();
    await tick();
    expect(output.frames).toHaveLength(1024);
    expect(output.frames.map(({ id }) => id).filter((id) => id !== undefined)).toEqual([
      0,
      ...Array.from({ length: 511 }, (_, index) => 2 * index + 1),
      1023,
    ]);
  });

  it("ends while the host does not read; then no command is carried out either", async () => {
    const host = await connect({ budgetBytes: 1000 });
    host.output.isReading = false;
    host.dispatcher.dispatch({ type: "get_state", id: "a" });
    host.dispatcher.dispatch({ type: "get_available_models", id: "b" });
    host.dispatcher.dispatch({ type: "set_steering_mode", id: "c", mode: "all" });
    await tick();
    const room = host.dispatcher.hasRoom();
    expect(await isPending(room)).toBe(true);
    expect(host.session.steeringMode).toBe("one-at-a-time");
    host.output.drain();
    await room;
    await host.dispatcher.idle();
    await tick();
    expect(host.session.steeringMode).toBe("all");
    expect(host.story).toEqual(["a ok", "b ok", "c ok"]);
  });
});

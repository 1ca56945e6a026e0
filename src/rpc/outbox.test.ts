import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";
import { zeroUsage } from "../provider/provider.js";
import { manualClock } from "../testing/manual-clock.js";
import { openSession } from "../testing/open-session.js";
import { say } from "../testing/scripted-model.js";
import type { UpdateEvent } from "./encode.js";
import { type Feature, Features } from "./features.js";
import { type FrameOutput, Outbox } from "./outbox.js";

type AnyFrame = Record<string, unknown> & { type: string };

/** A stream whose reader the test stops and starts. */
class FakeOutput extends EventEmitter implements FrameOutput {
  readonly writes: string[] = [];
  isReading = true;
  writableLength = 0;
  #onWritten: (() => void)[] = [];

  write(text: string, onWritten?: () => void): boolean {
    this.writes.push(text);
    if (this.isReading) onWritten?.();
    else {
      this.writableLength += text.length;
      if (onWritten) this.#onWritten.push(onWritten);
    }
    return this.isReading;
  }

  drain(): void {
    this.isReading = true;
    this.writableLength = 0;
    for (const heard of this.#onWritten.splice(0)) heard();
    this.emit("drain");
  }

  get frames(): AnyFrame[] {
    const lines = this.writes.join("").split("\n");
    expect(lines.pop()).toBe("");
    return lines.map((line) => JSON.parse(line) as AnyFrame);
  }

  get deltas(): unknown[] {
    return this.frames.map((frame) => (frame as unknown as UpdateEvent).assistantMessageEvent).map(deltaOf);
  }
}

interface Rig {
  output: FakeOutput;
  outbox: Outbox;
  clock: ReturnType<typeof manualClock>;
}

function rig(options: { features?: Feature[]; budgetBytes?: number } = {}): Rig {
  const output = new FakeOutput();
  const clock = manualClock();
  const features = new Features();
  features.negotiate(options.features ?? []);
  const { budgetBytes } = options;
  const outbox = new Outbox({ output, features, clock, ...(budgetBytes === undefined ? {} : { budgetBytes }) });
  return { output, outbox, clock };
}

/** Frames of one tick are written in the immediate after it. */
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

function assistant(text = ""): AssistantMessage {
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    api: "scripted",
    provider: "test",
    model: "script",
    usage: zeroUsage,
    stopReason: "stop",
    timestamp: 1_767_600_000_000,
  };
}

type BlockKind = "text" | "thinking" | "toolcall";

function deltaEvent(delta: string, options: { kind?: BlockKind; contentIndex?: number; soFar?: string } = {}) {
  const { kind = "text", contentIndex = 0, soFar = delta } = options;
  const message = assistant(soFar);
  const assistantMessageEvent = { type: `${kind}_delta` as const, contentIndex, delta, partial: message };
  return { type: "message_update", message, assistantMessageEvent } satisfies UpdateEvent;
}

function blockStart(contentIndex = 0): UpdateEvent {
  const message = assistant();
  return {
    type: "message_update",
    message,
    assistantMessageEvent: { type: "text_start", contentIndex, partial: message },
  };
}

function blockEnd(content: string, contentIndex = 0): UpdateEvent {
  const message = assistant(content);
  return {
    type: "message_update",
    message,
    assistantMessageEvent: { type: "text_end", contentIndex, content, partial: message },
  };
}

function progress(toolCallId: string, text: string): AgentSessionEvent {
  const partialResult = { content: [{ type: "text" as const, text }] };
  return { type: "tool_execution_update", toolCallId, toolName: "read", args: {}, partialResult };
}

const messageStart: AgentSessionEvent = { type: "message_start", message: assistant() };

function deltaOf(inner: UpdateEvent["assistantMessageEvent"] | undefined): unknown {
  return inner && "delta" in inner ? inner.delta : undefined;
}

describe("writing", () => {
  it("joins the frames of one tick into one write, in order", async () => {
    const { output, outbox } = rig();
    outbox.send({ type: "response", id: "1" });
    outbox.sendEvent({ type: "agent_start" });
    outbox.sendEvent({ type: "turn_start" });
    expect(output.writes).toEqual([]);
    await tick();
    expect(output.writes).toEqual(['{"type":"response","id":"1"}\n{"type":"agent_start"}\n{"type":"turn_start"}\n']);
  });

  it("writes nothing while the stream is full, and goes on when it drains", async () => {
    const { output, outbox } = rig();
    output.isReading = false;
    outbox.sendEvent({ type: "agent_start" });
    await tick();
    outbox.sendEvent({ type: "turn_start" });
    await tick();
    expect(output.frames).toEqual([{ type: "agent_start" }]);
    output.drain();
    expect(output.frames).toEqual([{ type: "agent_start" }, { type: "turn_start" }]);
  });

  it("hands over a large backlog in pieces and stops at the first refusal", async () => {
    const { output, outbox } = rig({ budgetBytes: 100_000_000 });
    output.isReading = false;
    const text = "x".repeat(400_000);
    for (let index = 0; index < 10; index++) outbox.send({ type: "response", id: index, text });
    await tick();
    expect(output.frames.map(({ id }) => id)).toEqual([0, 1, 2]);
    output.drain();
    expect(output.frames.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("flushed resolves when the last frame was handed over, a held delta included", async () => {
    const { output, outbox, clock } = rig();
    outbox.sendEvent(deltaEvent("a"));
    outbox.sendEvent(deltaEvent("b"));
    output.isReading = false;
    let isFlushed = false;
    const flushed = outbox.flushed().then(() => {
      isFlushed = true;
    });
    await tick();
    expect(isFlushed).toBe(false);
    output.drain();
    await flushed;
    expect(output.deltas).toEqual(["a", "b"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("gives up when the stream breaks: nobody waits, nothing more is written", async () => {
    const { output, outbox } = rig({ budgetBytes: 10 });
    output.isReading = false;
    outbox.send({ type: "response", id: "1" });
    const waiting = outbox.sendEvent({ type: "agent_start" });
    await tick();
    outbox.sendEvent({ type: "turn_start" });
    const flushed = outbox.flushed();
    output.emit("error", new Error("EPIPE"));
    await Promise.all([waiting, flushed]);
    const written = output.writes.length;
    expect(outbox.sendEvent({ type: "agent_start" })).toBeUndefined();
    await outbox.flushed();
    expect(output.writes).toHaveLength(written);
  });
});

describe("merging deltas", () => {
  it("sends the first at once and merges the rest of 50 ms into one", async () => {
    const { output, outbox, clock } = rig();
    outbox.sendEvent(messageStart);
    outbox.sendEvent(blockStart());
    outbox.sendEvent(deltaEvent("a"));
    await tick();
    expect(output.deltas).toEqual([undefined, undefined, "a"]);
    outbox.sendEvent(deltaEvent("b", { soFar: "ab" }));
    clock.advance(20);
    outbox.sendEvent(deltaEvent("c", { soFar: "abc" }));
    clock.advance(29);
    await tick();
    expect(output.frames).toHaveLength(3);
    clock.advance(1);
    await tick();
    expect(output.frames[3]).toEqual(deltaEvent("bc", { soFar: "abc" }));
  });

  it("opens a new window with every merged frame, and sends at once again after a pause", async () => {
    const { output, outbox, clock } = rig();
    outbox.sendEvent(deltaEvent("a"));
    outbox.sendEvent(deltaEvent("b"));
    clock.advance(50);
    outbox.sendEvent(deltaEvent("c"));
    clock.advance(49);
    await tick();
    expect(output.deltas).toEqual(["a", "b"]);
    clock.advance(1);
    clock.advance(50);
    outbox.sendEvent(deltaEvent("d"));
    await tick();
    expect(output.deltas).toEqual(["a", "b", "c", "d"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ["the end of its block", (outbox: Outbox) => outbox.sendEvent(blockEnd("ab")), "message_update"],
    [
      "a delta of another block",
      (outbox: Outbox) => outbox.sendEvent(deltaEvent("x", { contentIndex: 1 })),
      "message_update",
    ],
    [
      "a delta of another kind",
      (outbox: Outbox) => outbox.sendEvent(deltaEvent("x", { kind: "thinking" })),
      "message_update",
    ],
    ["any other event", (outbox: Outbox) => outbox.sendEvent({ type: "agent_settled" }), "agent_settled"],
    ["a response", (outbox: Outbox) => outbox.send({ type: "response" }), "response"],
  ])("a held delta goes out before %s", async (_, send, type) => {
    const { output, outbox, clock } = rig();
    outbox.sendEvent(deltaEvent("a"));
    outbox.sendEvent(deltaEvent("b"));
    send(outbox);
    await tick();
    expect(output.deltas.slice(0, 2)).toEqual(["a", "b"]);
    expect(output.frames[2]?.type).toBe(type);
    expect(clock.pendingTimers).toBe(0);
  });

  it("starts every message and every block anew", async () => {
    const { output, outbox } = rig();
    outbox.sendEvent(deltaEvent("a"));
    outbox.sendEvent(messageStart);
    outbox.sendEvent(deltaEvent("b"));
    outbox.sendEvent(blockStart());
    outbox.sendEvent(deltaEvent("c"));
    await tick();
    expect(output.deltas).toEqual(["a", undefined, "b", undefined, "c"]);
  });

  it("holds nothing up when the clock is set back", async () => {
    const output = new FakeOutput();
    let now = 1_000_000;
    const clock = { now: () => now, after: () => () => {} };
    const outbox = new Outbox({ output, features: new Features(), clock });
    outbox.sendEvent(deltaEvent("a"));
    now -= 3_600_000;
    outbox.sendEvent(deltaEvent("b"));
    await tick();
    expect(output.deltas).toEqual(["a", "b"]);
  });
});

describe("features", () => {
  it("delta-updates: a stub stands in both places, deltas and ends carry the text", async () => {
    const { output, outbox } = rig({ features: ["delta-updates"] });
    outbox.sendEvent(messageStart);
    outbox.sendEvent(deltaEvent("Hello"));
    outbox.sendEvent(blockEnd("Hello"));
    outbox.sendEvent({ type: "message_end", message: assistant("Hello") });
    await tick();
    const stub = assistant();
    expect(output.frames.slice(1)).toEqual([
      {
        ...deltaEvent("Hello"),
        message: stub,
        assistantMessageEvent: { ...deltaEvent("Hello").assistantMessageEvent, partial: stub },
      },
      {
        ...blockEnd("Hello"),
        message: stub,
        assistantMessageEvent: { ...blockEnd("Hello").assistantMessageEvent, partial: stub },
      },
      { type: "message_end", message: assistant("Hello") },
    ]);
  });

  it("message-ids: one number per message, whatever its role, on its three events only", async () => {
    const { output, outbox } = rig({ features: ["message-ids"] });
    const user = { role: "user" as const, content: "Hi", timestamp: 1 };
    outbox.sendEvent({ type: "agent_start" });
    outbox.sendEvent({ type: "message_start", message: user });
    outbox.sendEvent({ type: "message_end", message: user });
    outbox.sendEvent(messageStart);
    outbox.sendEvent(deltaEvent("a"));
    outbox.sendEvent({ type: "message_end", message: assistant("a") });
    await tick();
    expect(output.frames.map(({ messageId }) => messageId)).toEqual([
      undefined,
      "msg-1",
      "msg-1",
      "msg-2",
      "msg-2",
      "msg-2",
    ]);
  });

  it("numbers messages from the first one, also when ids are asked for later", async () => {
    const output = new FakeOutput();
    const features = new Features();
    const outbox = new Outbox({ output, features, clock: manualClock() });
    outbox.sendEvent(messageStart);
    features.negotiate(["message-ids"]);
    outbox.sendEvent({ type: "message_end", message: assistant() });
    await tick();
    expect(output.frames).toEqual([messageStart, { type: "message_end", message: assistant(), messageId: "msg-1" }]);
  });

  it("queue-events: queue_update is sent only then", async () => {
    const update: AgentSessionEvent = { type: "queue_update", steering: ["a"], followUp: [] };
    for (const features of [[], ["queue-events"]] satisfies Feature[][]) {
      const { output, outbox } = rig({ features });
      outbox.sendEvent(update);
      await tick();
      expect(output.frames).toEqual(features.length > 0 ? [update] : []);
    }
  });
});

describe("a reader that stopped", () => {
  it("gives a promise from the moment the budget is passed until the reader has caught up", async () => {
    const { output, outbox } = rig({ budgetBytes: 1000 });
    output.isReading = false;
    expect(outbox.sendEvent({ type: "agent_start" })).toBeUndefined();
    const over = outbox.sendEvent(progress("call_1", "x".repeat(1200)));
    expect(over).toBeInstanceOf(Promise);
    expect(outbox.isOverBudget).toBe(true);
    let isWoken = false;
    const woken = Promise.all([over, outbox.drained()]).then(() => {
      isWoken = true;
    });
    await tick();
    expect(isWoken).toBe(false); // handed to the stream, but still in memory
    output.drain();
    await woken;
    expect(outbox.isOverBudget).toBe(false);
    expect(outbox.sendEvent({ type: "agent_start" })).toBeUndefined();
  });

  it("holds two hundred thousand deltas in the space of one frame", async () => {
    const { output, outbox, clock } = rig({ budgetBytes: 64 * 1024, features: ["delta-updates"] });
    output.isReading = false;
    outbox.sendEvent(messageStart);
    await tick();
    for (let index = 0; index < 200_000; index++) {
      outbox.sendEvent(deltaEvent("x"));
      if (index % 10 === 0) clock.advance(50);
    }
    await tick();
    output.drain();
    clock.advance(50);
    await tick();
    expect(output.deltas.join("")).toBe("x".repeat(200_000));
    expect(output.frames.length).toBeLessThan(200); // as many as fit into the budget, not one per delta
  });

  it("keeps the newest progress of each call, in its place, and every other frame", async () => {
    const { output, outbox } = rig({ budgetBytes: 200 });
    output.isReading = false;
    outbox.sendEvent({ type: "agent_start" });
    await tick();
    const other = { type: "response", id: "1" };
    outbox.sendEvent(progress("call_1", "one"));
    outbox.sendEvent(progress("call_2", "first"));
    outbox.send(other);
    outbox.sendEvent(progress("call_1", "two"));
    outbox.sendEvent({ type: "turn_start" });
    outbox.sendEvent(progress("call_1", "three"));
    outbox.send(other);
    output.drain();
    expect(output.frames).toEqual([
      { type: "agent_start" },
      progress("call_2", "first"),
      other,
      { type: "turn_start" },
      progress("call_1", "three"),
      other,
    ]);
  });

  it("drops no progress while there is room", async () => {
    const { output, outbox } = rig();
    output.isReading = false;
    for (const text of ["one", "two"]) outbox.sendEvent(progress("call_1", text));
    await tick();
    for (const text of ["three", "four"]) outbox.sendEvent(progress("call_1", text));
    output.drain();
    expect(output.frames).toEqual(["one", "two", "three", "four"].map((text) => progress("call_1", text)));
  });
});

describe("whatever happens", () => {
  it("every snapshot is of its own moment, however late it is written", async () => {
    const { session } = await openSession({ model: [say("a", "b", "c", "d", "e", "f")] });
    const { output, outbox } = rig();
    output.isReading = false;
    session.subscribe((event) => outbox.sendEvent(event));
    outbox.send({ type: "response" });
    await tick();
    await session.prompt("go");
    output.drain();
    await outbox.flushed();
    let text = "";
    for (const frame of output.frames) {
      if (frame.type !== "message_update") continue;
      const update = frame as unknown as UpdateEvent;
      const inner = update.assistantMessageEvent;
      if ("delta" in inner) text += inner.delta;
      expect(update.message.content).toEqual([{ type: "text", text }]);
      expect("partial" in inner && inner.partial).toEqual(update.message);
    }
    expect(text).toBe("abcdef");
  });

  it("the frames are the events, but for merged deltas and outdated progress", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 60 }),
        fc.subarray<Feature>(["delta-updates", "message-ids", "queue-events"]),
        fc.constantFrom(300, 3000, 100_000_000),
        async (actions, features, budgetBytes) => {
          const { output, outbox, clock } = rig({ features, budgetBytes });
          const expected = new Oracle(features);
          let written = 0;
          for (const step of actions) {
            if (step.kind === "event") {
              const event = step.make(++written);
              outbox.sendEvent(event);
              expected.event(event);
            } else if (step.kind === "response") {
              const frame = { type: "response", id: String(++written) };
              outbox.send(frame);
              expected.frames.push(frame);
            } else if (step.kind === "advance") clock.advance(step.ms);
            else if (step.kind === "tick") await tick();
            else if (step.isReading) output.drain();
            else output.isReading = false;
          }
          output.drain();
          await outbox.flushed();
          expectSameStory(output.frames, expected.frames, { mayDrop: budgetBytes < 100_000_000 });
        },
      ),
      { numRuns: 300 },
    );
  });
});

type Action =
  | { kind: "event"; make: (n: number) => AgentSessionEvent }
  | { kind: "response" }
  | { kind: "advance"; ms: number }
  | { kind: "tick" }
  | { kind: "reader"; isReading: boolean };

const event = (make: (n: number) => AgentSessionEvent): Action => ({ kind: "event", make });
const callId = fc.constantFrom("call_1", "call_2");
const kind = fc.constantFrom<BlockKind>("text", "thinking", "toolcall");

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ kind, contentIndex: fc.nat(1), delta: fc.string({ unit: "binary" }) })
      .map(({ delta, ...block }) => event((n) => deltaEvent(delta, { ...block, soFar: `so far ${n}` }))),
  },
  { weight: 1, arbitrary: fc.nat(1).map((index) => event(() => blockStart(index))) },
  { weight: 1, arbitrary: fc.nat(1).map((index) => event((n) => blockEnd(`block ${n}`, index))) },
  {
    weight: 1,
    arbitrary: fc.constant(event((n) => ({ type: "message_start", message: { ...assistant(), timestamp: n } }))),
  },
  { weight: 1, arbitrary: fc.constant(event((n) => ({ type: "message_end", message: assistant(`end ${n}`) }))) },
  { weight: 3, arbitrary: callId.map((id) => event((n) => progress(id, `progress ${n}`))) },
  { weight: 1, arbitrary: fc.constant(event((n) => ({ type: "queue_update", steering: [String(n)], followUp: [] }))) },
  { weight: 2, arbitrary: fc.constant<Action>({ kind: "response" }) },
  { weight: 3, arbitrary: fc.nat(80).map((ms): Action => ({ kind: "advance", ms })) },
  { weight: 3, arbitrary: fc.constant<Action>({ kind: "tick" }) },
  { weight: 3, arbitrary: fc.boolean().map((isReading): Action => ({ kind: "reader", isReading })) },
);

/** The frames of a host that always reads and a server that never merges. */
class Oracle {
  readonly frames: AnyFrame[] = [];
  readonly #features: readonly Feature[];
  #messages = 0;
  #stub: AssistantMessage | undefined;

  constructor(features: readonly Feature[]) {
    this.#features = features;
  }

  event(event: AgentSessionEvent): void {
    if (event.type === "queue_update" && !this.#features.includes("queue-events")) return;
    if (event.type === "message_start") {
      this.#messages++;
      this.#stub = event.message as AssistantMessage;
    }
    let frame: AnyFrame = { ...event };
    if (event.type === "message_update" && this.#stub && this.#features.includes("delta-updates"))
      frame = {
        ...event,
        message: this.#stub,
        assistantMessageEvent: { ...event.assistantMessageEvent, partial: this.#stub },
      };
    if (event.type.startsWith("message_") && this.#features.includes("message-ids"))
      frame = { ...frame, messageId: `msg-${this.#messages}` };
    this.frames.push(frame);
  }
}

function expectSameStory(frames: AnyFrame[], events: AnyFrame[], { mayDrop }: { mayDrop: boolean }): void {
  const isProgress = (frame: AnyFrame) => frame.type === "tool_execution_update";
  const kept = new Set(frames.filter(isProgress).map((frame) => JSON.stringify(frame)));
  const newest = new Map(events.filter(isProgress).map((frame) => [frame.toolCallId, JSON.stringify(frame)]));
  for (const frame of newest.values()) expect(kept).toContain(frame);
  const due = events.filter((frame) => !mayDrop || !isProgress(frame) || kept.has(JSON.stringify(frame)));
  expect(mergeNeighbours(frames)).toEqual(mergeNeighbours(due));
}

function mergeNeighbours(frames: AnyFrame[]): AnyFrame[] {
  const merged: AnyFrame[] = [];
  for (const frame of frames) {
    const last = merged.at(-1);
    const inner = frame.assistantMessageEvent as AnyFrame | undefined;
    const before = last?.assistantMessageEvent as AnyFrame | undefined;
    const isSameBlock = before?.type === inner?.type && before?.contentIndex === inner?.contentIndex;
    if (inner && before && "delta" in inner && isSameBlock)
      merged[merged.length - 1] = {
        ...frame,
        assistantMessageEvent: { ...inner, delta: `${before.delta}${inner.delta}` },
      };
    else merged.push(frame);
  }
  return merged;
}

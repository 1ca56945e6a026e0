import { describe, expect, it } from "vitest";
import {
  assistant,
  blockEnd,
  blockStart,
  deltaEvent,
  FakeOutput,
  messageStart,
  progress,
  type Rig,
  rig,
  tick,
} from "../../test/kit/outbox-rig.js";
import { createMask } from "../base/secret-mask.js";
import type { TextMask } from "../base/text-mask.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import { manualClock } from "../testing/manual-clock.js";
import { openSession } from "../testing/open-session.js";
import { say } from "../testing/scripted-model.js";
import type { UpdateEvent } from "./encode.js";
import { type Feature, Features } from "./features.js";
import { Outbox } from "./outbox.js";

describe("secrets", () => {
  it("are masked in every frame from the moment they are known, but not in a call that the host runs", async () => {
    let known: TextMask | undefined;
    const output = new FakeOutput();
    const outbox = new Outbox({ output, features: new Features(), clock: manualClock(), mask: () => known });
    outbox.send({ type: "response", text: "hunter2-hunter2" });
    known = createMask([{ value: "hunter2-hunter2", name: "P" }]);
    outbox.send({ type: "response", text: "hunter2-hunter2" });
    outbox.send({ type: "host_tool_call", arguments: { p: "hunter2-hunter2" } });
    await tick();
    expect(output.frames).toEqual([
      { type: "response", text: "hunter2-hunter2" },
      { type: "response", text: "[secret:P]" },
      { type: "host_tool_call", arguments: { p: "hunter2-hunter2" } },
    ]);
  });
});

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

  it("cuts one long line after another, however they share a write", async () => {
    const { outbox, output } = rig({ features: [] });
    const long = "x".repeat(1_100_000);
    const texts = ["a".repeat(100_000), long, "b".repeat(100_000), long, long];
    for (const text of texts) outbox.send({ type: "response", text });
    await tick();
    const frames = output.frames as unknown as { type: string; text?: string; chunkId?: string; data: string }[];
    const whole: string[] = [];
    for (const [index, frame] of frames.entries()) {
      if (frame.type !== "rpc_chunk") whole.push(frame.text ?? "");
      else if (frame.chunkId === frames[index - 1]?.chunkId) whole[whole.length - 1] += decoded(frame.data);
      else whole.push(decoded(frame.data));
    }
    expect(whole.map((text) => (text.startsWith("{") ? JSON.parse(text).text : text))).toEqual(texts);
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

  it("gives up when the stream breaks: no caller waits, nothing more is written", async () => {
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
    await tick();
    expect(output.deltas).toEqual(["a", undefined, "b"]);
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

  it("delta-updates: asked for or taken back in the middle of a message, the next update follows it", async () => {
    const output = new FakeOutput();
    const features = new Features();
    const outbox = new Outbox({ output, features, clock: manualClock(), mergeWindowMs: 0 });
    outbox.sendEvent(messageStart);
    features.negotiate(["delta-updates"]);
    outbox.sendEvent(deltaEvent("a", { soFar: "a" }));
    features.negotiate([]);
    outbox.sendEvent(deltaEvent("b", { soFar: "ab" }));
    await tick();
    expect(output.frames.slice(1).map(({ message }) => message)).toEqual([assistant(), assistant("ab")]);
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
    await outbox.drained(); // at once
    expect(outbox.sendEvent({ type: "agent_start" })).toBeUndefined();
  });

  it("counts a whole message twice, a stub's delta once, and each message for itself", () => {
    const isOver = ({ outbox }: Rig, delta: string) => outbox.sendEvent(deltaEvent(delta)) !== undefined;
    const whole = rig({ budgetBytes: 10_000 });
    const stubs = rig({ budgetBytes: 10_000, features: ["delta-updates"] });
    for (const { outbox } of [whole, stubs]) outbox.sendEvent(messageStart);
    expect(isOver(whole, "x".repeat(6000))).toBe(true);
    expect(isOver(stubs, "x".repeat(6000))).toBe(false);
    const second = rig({ budgetBytes: 10_000 });
    expect(isOver(second, "x".repeat(4000))).toBe(false);
    second.outbox.sendEvent(messageStart);
    expect(isOver(second, "x")).toBe(false);
  });

  it("counts what was merged", () => {
    const { outbox, clock } = rig({ budgetBytes: 10_000, features: ["delta-updates"] });
    outbox.sendEvent(messageStart);
    for (const delta of ["a", "x".repeat(6000), "x".repeat(6000)]) outbox.sendEvent(deltaEvent(delta));
    expect(outbox.isOverBudget).toBe(false); // still held
    clock.advance(50);
    expect(outbox.isOverBudget).toBe(true);
  });

  it("is back within its budget when merging was enough", () => {
    const { outbox } = rig({ budgetBytes: 3000 });
    for (let step = 0; step < 5; step++) expect(outbox.sendEvent(progress("call_1", "x".repeat(1000)))).toBeUndefined();
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
});

function decoded(data: string): string {
  return Buffer.from(data, "base64").toString();
}

import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnyFrame, deltaEvent, messageStart, rig, tick } from "../../test/kit/outbox-rig.js";
import { runs } from "../../test/kit/runs.js";
import type { TypedObject } from "../base/ndjson.js";
import { ChunkAssembler } from "../client/join-chunks.js";
import { manualClock } from "../testing/manual-clock.js";
import { Features } from "./features.js";
import { maxFrameBytes } from "./frame-chunks.js";
import { Outbox } from "./outbox.js";

/** A frame whose line, with its end, has this many bytes. */
function frameOf(bytes: number, id: number | string = 1): AnyFrame {
  const empty = { type: "response", id, text: "" };
  return { ...empty, text: "x".repeat(bytes - JSON.stringify(empty).length - 1) };
}

/** As a host puts them together; a problem stands for itself. */
function assembled(frames: AnyFrame[]): unknown[] {
  const assembler = new ChunkAssembler();
  return frames.flatMap((frame) => assembler.take(frame as TypedObject)).map((read) => (read.ok ? read.value : read));
}

async function sent(...frames: object[]): Promise<AnyFrame[]> {
  const { output, outbox } = rig({ features: [] });
  for (const frame of frames) outbox.send(frame);
  await tick();
  return output.frames;
}

describe("a frame in version 2", () => {
  it("goes out whole up to the limit, its line end included, and in pieces beyond it", async () => {
    expect((await sent(frameOf(maxFrameBytes))).map(({ type }) => type)).toEqual(["response"]);
    const large = frameOf(maxFrameBytes + 1);
    const pieces = await sent(large);
    expect(
      pieces.map(({ type, chunkId, index, count, byteLength }) => [type, chunkId, index, count, byteLength]),
    ).toEqual([0, 1, 2, 3].map((index) => ["rpc_chunk", "rpc-1", index, 4, maxFrameBytes]));
    for (const { data } of pieces) expect(Buffer.from(String(data), "base64").length).toBeLessThanOrEqual(262_144);
    expect(assembled(pieces)).toEqual([large]);
  });

  it("is measured in bytes, and cut anywhere: also inside a character", async () => {
    const large = { type: "response", text: "€".repeat(400_000) };
    const pieces = await sent(large, frameOf(maxFrameBytes + 1, 2), { type: "response", id: 3 });
    expect(new Set(pieces.map(({ chunkId }) => chunkId))).toEqual(new Set(["rpc-1", "rpc-2", undefined]));
    expect(assembled(pieces)).toEqual([large, frameOf(maxFrameBytes + 1, 2), { type: "response", id: 3 }]);
  });

  it("beyond what a host puts together is replaced: a response by a failure, anything else by a notice", async () => {
    const text = "x".repeat(64 * 1024 * 1024);
    const { output, outbox } = rig({ features: ["delta-updates"], budgetBytes: 2 ** 40 });
    outbox.send({ id: "a", type: "response", command: "get_messages", success: true, data: text });
    outbox.send({ type: "extension_error", error: text });
    outbox.sendEvent(messageStart);
    outbox.sendEvent(deltaEvent(text));
    await tick();
    expect(output.frames.filter(({ type }) => type !== "message_start")).toEqual([
      {
        id: "a",
        type: "response",
        command: "get_messages",
        success: false,
        error: "RPC response exceeded the transport limit",
      },
      ...["extension_error", "message_update"].map((originalType) => ({
        type: "rpc_frame_error",
        originalType,
        error: "RPC frame exceeded the transport limit",
      })),
    ]);
  });

  it("is cut only if it comes after the agreement", async () => {
    const { output, outbox, features } = rig();
    outbox.send(frameOf(maxFrameBytes + 1, "before"));
    features.negotiate([]);
    outbox.send(frameOf(maxFrameBytes + 1, "after"));
    await tick();
    expect(output.frames.map(({ type, id }) => id ?? type)).toEqual(["before", ...Array(4).fill("rpc_chunk")]);
  });
});

it("in version 1 any frame is one line", async () => {
  const { output, outbox } = rig();
  const large = frameOf(3_000_000);
  outbox.send(large);
  await tick();
  expect(output.frames).toEqual([large]);
});

/** A stream that has enough after every write, until the test lets it drain. */
class SlowOutput extends EventEmitter {
  readonly writes: string[] = [];
  writableLength = 0;

  write(text: string, onWritten?: () => void): boolean {
    if (text !== "") this.writes.push(text);
    this.writableLength += text.length;
    onWritten?.();
    return false;
  }

  drain(): void {
    this.writableLength = 0;
    this.emit("drain");
  }

  get frames(): AnyFrame[] {
    return this.writes
      .join("")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AnyFrame);
  }
}

function slowRig(budgetBytes: number) {
  const output = new SlowOutput();
  const features = new Features();
  features.negotiate([]);
  return { output, outbox: new Outbox({ output, features, clock: manualClock(), budgetBytes }) };
}

describe("while the host reads slowly", () => {
  it("a frame in pieces is handed over bit by bit, weighs on the budget to its end, and lets nothing in between", async () => {
    const { output, outbox } = slowRig(2_000_000);
    const large = frameOf(5_000_000);
    outbox.send(large);
    await tick();
    outbox.sendEvent({ type: "agent_start" });
    let isDrained = false;
    void outbox.drained().then(() => {
      isDrained = true;
    });
    for (let steps = 0; outbox.isOverBudget; steps++) {
      expect(steps).toBeLessThan(20);
      expect(output.writableLength).toBeLessThan(1_500_000);
      await tick();
      expect(isDrained).toBe(false);
      output.drain();
    }
    await tick();
    expect(isDrained).toBe(true);
    while (output.frames.at(-1)?.type !== "agent_start") output.drain();
    expect(assembled(output.frames)).toEqual([large, { type: "agent_start" }]);
  });

  it("a broken stream ends it in the middle, and no caller waits", async () => {
    const { output, outbox } = slowRig(1000);
    outbox.send(frameOf(3_000_000));
    await tick();
    const before = output.writes.length;
    output.emit("error");
    await outbox.drained();
    await outbox.flushed();
    output.drain();
    expect(output.writes.length).toBe(before);
  });

  it("whatever is sent, and whenever the host reads, comes out whole and in order", async () => {
    const step = fc.oneof(
      fc.constant("drain" as const),
      fc.constant("tick" as const),
      fc.constantFrom(50, maxFrameBytes - 1, maxFrameBytes, maxFrameBytes + 1, 1_600_000, 2_500_000),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const { output, outbox } = slowRig(100_000_000);
        const frames: AnyFrame[] = [];
        for (const [id, action] of steps.entries()) {
          if (action === "drain") output.drain();
          else if (action === "tick") await tick();
          else {
            frames.push(frameOf(action, id));
            outbox.send(frames.at(-1) as AnyFrame);
          }
        }
        let isFlushed = false;
        void outbox.flushed().then(() => {
          isFlushed = true;
        });
        for (; !isFlushed; await tick()) output.drain();
        expect(assembled(output.frames).map((frame) => JSON.stringify(frame))).toEqual(
          frames.map((frame) => JSON.stringify(frame)),
        );
      }),
      { numRuns: runs(30) },
    );
  });
});

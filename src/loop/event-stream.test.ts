// The event stream: one order for everybody, whoever is slow, throws, emits or leaves in the middle.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventStream } from "./event-stream.js";
import { deferred } from "./run.test-kit.js";

function open() {
  const errors: unknown[] = [];
  const stream = new EventStream<number>({ warn() {}, error: (_text, cause) => void errors.push(cause) });
  return { stream, errors };
}

describe("EventStream", () => {
  it("delivers within emit when no subscriber is slow", () => {
    const { stream } = open();
    const seen: number[] = [];
    stream.subscribe((event) => void seen.push(event));
    stream.emit(1);
    expect(seen).toEqual([1]);
    expect(stream.isBusy).toBe(false);
  });

  it("keeps one order when a subscriber emits", () => {
    const { stream } = open();
    const first: number[] = [];
    const second: number[] = [];
    stream.subscribe((event) => {
      first.push(event);
      if (event < 3) stream.emit(event + 1);
    });
    stream.subscribe((event) => void second.push(event));
    stream.emit(1);
    expect(first).toEqual([1, 2, 3]);
    expect(second).toEqual([1, 2, 3]);
  });

  it("logs a subscriber that throws or rejects and serves the others", async () => {
    const { stream, errors } = open();
    const seen: number[] = [];
    stream.subscribe(() => {
      throw "thrown";
    });
    stream.subscribe(() => Promise.reject("rejected"));
    stream.subscribe((event) => void seen.push(event));
    stream.emit(1);
    stream.emit(2);
    await stream.drained();
    expect(seen).toEqual([1, 2]);
    expect(errors).toEqual(["thrown", "rejected", "thrown", "rejected"]);
  });

  it("waits for a slow subscriber before the next event, and says so", async () => {
    const { stream } = open();
    const gate = deferred();
    const seen: number[] = [];
    stream.subscribe((event) => (event === 1 ? gate.promise : undefined));
    stream.subscribe((event) => void seen.push(event));
    stream.emit(1);
    stream.emit(2);
    expect(seen).toEqual([1]);
    expect(stream.isBusy).toBe(true);
    let isDrained = false;
    const drained = stream.drained().then(() => {
      isDrained = true;
    });
    await Promise.resolve();
    expect(isDrained).toBe(false);
    gate.resolve();
    await drained;
    expect(seen).toEqual([1, 2]);
    expect(stream.isBusy).toBe(false);
  });

  it("is drained at once when nothing is under way", async () => {
    await expect(open().stream.drained()).resolves.toBeUndefined();
  });

  it("never calls a subscriber that has left, not even for the event being delivered", () => {
    const { stream } = open();
    const seen: string[] = [];
    stream.subscribe(() => leave());
    const leave = stream.subscribe(() => void seen.push("left"));
    stream.subscribe(() => void seen.push("stayed"));
    stream.emit(1);
    stream.emit(2);
    expect(seen).toEqual(["stayed", "stayed"]);
  });

  it("starts a subscriber that joins during an event with the next one", () => {
    const { stream } = open();
    const seen: number[] = [];
    let hasJoined = false;
    stream.subscribe(() => {
      if (!hasJoined) stream.subscribe((event) => void seen.push(event));
      hasJoined = true;
    });
    stream.emit(1);
    stream.emit(2);
    expect(seen).toEqual([2]);
  });

  it("shows every subscriber the order of emission, however slow each one is", async () => {
    const ticks = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(ticks, { minLength: 1, maxLength: 4 }), ticks, async (delays, pauses) => {
        const { stream } = open();
        const logs = delays.map((own) => {
          const log: number[] = [];
          stream.subscribe(async (event) => {
            log.push(event);
            await pause(own[event % own.length]);
            log.push(-event); // its end, so that an overlap shows
          });
          return log;
        });
        for (let event = 1; event <= 8; event++) {
          stream.emit(event);
          await pause(pauses[event % pauses.length]);
        }
        await stream.drained();
        const expected = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((event) => [event, -event]);
        for (const log of logs) expect(log).toEqual(expected);
      }),
    );
  });
});

async function pause(ticks = 0): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
}

import { afterEach, describe, expect, it, vi } from "vitest";
import { sleep, systemClock } from "./clock.js";
import { ShorteningClock } from "./shortening-clock.js";

/** Timers that keep this process alive. */
const held = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  ["the system's clock", systemClock],
  ["a shortening clock", new ShorteningClock(systemClock)],
])("%s", (_name, clock) => {
  it("keeps the process alive for a wait that work goes on with, and for no other", () => {
    const before = held();
    const cancelIdle = clock.after(60_000, () => {});
    expect(held()).toBe(before);
    const cancel = clock.after(60_000, () => {}, { isAwaited: true });
    expect(held()).toBe(before + 1);
    cancel();
    cancelIdle();
    expect(held()).toBe(before);
  });

  it.each([2 ** 31, 30 * 24 * 60 * 60 * 1000, 2 ** 33])("waits %d ms, which is more than a timer holds", (delayMs) => {
    vi.useFakeTimers();
    const ended: number[] = [];
    const began = Date.now();
    clock.after(delayMs, () => ended.push(Date.now() - began));
    vi.advanceTimersByTime(delayMs - 1);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2 ** 31);
    expect(ended).toEqual([delayMs]);
  });

  it("never ends a wait for ever, and can cancel what is far away", () => {
    vi.useFakeTimers();
    const cancels = [Number.POSITIVE_INFINITY, 2 ** 32].map((delayMs) =>
      clock.after(delayMs, () => expect.unreachable("it was cancelled, or is never due")),
    );
    vi.advanceTimersByTime(2 ** 31 + 1);
    for (const cancel of cancels) cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 ** 32);
  });

  it("a sleep keeps the process alive, and only while it lasts", async () => {
    const before = held();
    const awake = new AbortController();
    const sleeping = sleep(clock, 60_000, awake.signal);
    expect(held()).toBe(before + 1);
    awake.abort();
    expect(held()).toBe(before);
    await expect(sleeping).rejects.toThrow("Aborted");
  });
});

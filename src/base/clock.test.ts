import { describe, expect, it } from "vitest";
import { sleep, systemClock } from "./clock.js";
import { HurriedClock } from "./hurried-clock.js";

/** Timers that keep this process alive. */
const held = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

describe.each([
  ["the system's clock", systemClock],
  ["a clock in a hurry", new HurriedClock(systemClock)],
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

  it("keeps it alive while somebody sleeps, and no longer", async () => {
    const before = held();
    const awake = new AbortController();
    const sleeping = sleep(clock, 60_000, awake.signal);
    expect(held()).toBe(before + 1);
    awake.abort();
    expect(held()).toBe(before);
    await expect(sleeping).rejects.toThrow("Aborted");
  });
});

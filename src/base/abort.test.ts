import { describe, expect, it } from "vitest";
import { manualClock } from "../testing/manual-clock.js";
import { AbortRace, linkAbort, whenAborted } from "./abort.js";
import { sleep } from "./clock.js";

describe("linkAbort", () => {
  it("fires with the first source and its reason, and forgets the sources on release", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const link = linkAbort(first.signal, undefined, second.signal);
    second.abort("why");
    expect([link.signal.aborted, link.signal.reason]).toEqual([true, "why"]);
    const other = linkAbort(first.signal);
    other.release();
    first.abort();
    expect(other.signal.aborted).toBe(false);
    expect(linkAbort(first.signal).signal.aborted).toBe(true);
  });
});

describe("AbortRace", () => {
  it("gives the value, or hears the abort of a promise that never settles", async () => {
    const controller = new AbortController();
    const race = new AbortRace(controller.signal);
    expect(await race.next(Promise.resolve(7))).toBe(7);
    await expect(race.next(Promise.reject(new Error("no")))).rejects.toThrow("no");
    const stuck = race.next(new Promise(() => {}));
    controller.abort();
    expect(await stuck).toBe("aborted");
    expect(await race.next(new Promise(() => {}))).toBe("aborted");
  });

  it("forgets the rejection of a promise that lost", async () => {
    const controller = new AbortController();
    const race = new AbortRace(controller.signal);
    let fail = (_error: Error) => {};
    const stuck = race.next(
      new Promise((_, reject) => {
        fail = reject;
      }),
    );
    controller.abort();
    expect(await stuck).toBe("aborted");
    fail(new Error("late"));
    await Promise.resolve();
  });
});

describe("whenAborted and sleep", () => {
  it("resolve at their moment and leave nothing behind", async () => {
    const controller = new AbortController();
    const waiting = whenAborted(controller.signal);
    controller.abort();
    await waiting.promise;
    const clock = manualClock();
    const short = sleep(clock, 10);
    clock.advance(10);
    await short;
    await expect(sleep(clock, 10, controller.signal)).rejects.toThrow("Aborted");
    const patience = new AbortController();
    const long = sleep(clock, 10, patience.signal);
    patience.abort();
    await expect(long).rejects.toThrow("Aborted");
    expect(clock.pendingTimers).toBe(0);
  });
});

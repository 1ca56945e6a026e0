// The time that the thread spends on compiling modules. It counts against no module's limit, for all of them wait while
// one is compiled.

import type { Clock } from "../../base/clock.js";
import { lateError } from "../api/custom-tool-events.js";

const spent = new WeakMap<Clock, number>();

/** Returns what `work` returns, and how long it took. */
export function compiled<Result>(clock: Clock, work: () => Result): { result: Result; ms: number } {
  const since = clock.now();
  const result = work();
  const ms = clock.now() - since;
  spent.set(clock, (spent.get(clock) ?? 0) + ms);
  return { result, ms };
}

/** Rejects when the time is up, compiling apart; what comes later is ignored. */
export function withinBesideCompiling<Result>(clock: Clock, limitMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const since = clock.now();
    let excused = spent.get(clock) ?? 0;
    let cancel = () => {};
    const wait = (ms: number) => {
      cancel = clock.after(
        ms,
        () => {
          const more = (spent.get(clock) ?? 0) - excused;
          excused += more;
          if (more > 0) wait(more);
          else reject(lateError(limitMs, clock.now() - since));
        },
        { isAwaited: true },
      );
    };
    wait(limitMs);
    work.then(resolve, reject).finally(() => cancel());
  });
}

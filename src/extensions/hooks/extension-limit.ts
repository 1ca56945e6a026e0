// A limit on an extension's work that counts only its own time: while the user is being asked, the clock stands still.

import type { Clock } from "../../base/clock.js";
import { lateError } from "../api/custom-tool-events.js";
import type { Patience } from "../load/load-guard.js";

/** Rejects when the time is up; what comes later is ignored. */
export function withinOwnTime<Result>(
  clock: Clock,
  limitMs: number,
  work: (patience: Patience) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let leftMs = limitMs;
    let since = 0;
    let holds = 0;
    let isOver = false;
    let cancel = () => {};
    const run = () => {
      since = clock.now();
      cancel = clock.after(
        leftMs,
        () => {
          isOver = true;
          reject(lateError(limitMs, limitMs - leftMs + clock.now() - since));
        },
        { isAwaited: true },
      );
    };
    const release = () => {
      if (--holds === 0 && !isOver) run();
    };
    const patience: Patience = {
      hold(until) {
        if (holds++ === 0) {
          cancel();
          leftMs = Math.max(0, leftMs - Math.max(0, clock.now() - since));
        }
        until.then(release, release);
      },
    };
    run();
    const end = () => {
      isOver = true;
      cancel();
    };
    work(patience).then(resolve, reject).finally(end);
  });
}

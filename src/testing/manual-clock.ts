// A clock that moves only when the test moves it.

import type { Clock } from "../base/clock.js";

export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due, in order. */
  advance(ms: number): void;
  readonly pendingTimers: number;
}

export function manualClock(start = 1_767_600_000_000): ManualClock {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((timer) => timer !== due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = until;
    },
    get pendingTimers() {
      return timers.length;
    },
  };
}

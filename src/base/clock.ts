// Time as a capability, so that whole runs replay with the same stamps and no test sleeps.

import { GalleyError } from "./errors.js";

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once after `delayMs`, however long that is; the returned function cancels. */
  after(delayMs: number, callback: () => void, use?: TimerUse): () => void;
}

export interface TimerUse {
  /** Keeps the process alive until it fires. Other timers do not. */
  readonly isAwaited?: boolean;
}

/** The longest delay that `setTimeout` takes. A longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback, use) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number) => {
      const ms = Math.min(leftMs, longestTimerMs);
      timer = setTimeout(() => (leftMs > ms ? wait(leftMs - ms) : callback()), ms);
      if (!use?.isAwaited) timer.unref();
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Waits; rejects with `aborted` as soon as the signal fires. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new GalleyError("aborted", "Aborted"));
    const onAbort = () => {
      cancel();
      reject(new GalleyError("aborted", "Aborted"));
    };
    const onTime = () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    };
    const cancel = clock.after(delayMs, onTime, { isAwaited: true });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Waits for the work, but not longer than `ms`. */
export async function atMost(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const patience = new AbortController();
  const bound = sleep(clock, ms, patience.signal).catch(() => {}); // cancelled below when the work was quicker
  await Promise.race([work, bound]).finally(() => patience.abort());
}

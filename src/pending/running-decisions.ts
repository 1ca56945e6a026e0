// The decisions that are under way. Leaving the session waits for them, so that each ends where it began: without a
// limit while files are being written, and for an extension's callback only for a limited time.

import { atMost, type Clock } from "../base/clock.js";
import { ShorteningClock } from "../base/shortening-clock.js";

/** For a callback that does not end; and the same when the whole session ends. */
const patienceMs = 5000;
const lastPatienceMs = 500;

export class RunningDecisions {
  readonly #clock: ShorteningClock;
  readonly #running = new Set<Promise<unknown>>();
  readonly #writing = new Set<Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = new ShorteningClock(clock);
  }

  get hasAny(): boolean {
    return this.#running.size > 0;
  }

  run<Result>(work: Promise<Result>): Promise<Result> {
    return during(this.#running, work);
  }

  /** A part of one that ends by itself: it is waited for, however long it takes. */
  write<Result>(work: Promise<Result>): Promise<Result> {
    return during(this.#writing, work);
  }

  beginShutdown(): void {
    this.#clock.shorten(lastPatienceMs);
  }

  /** All of them are over, or were given up. */
  async settled(): Promise<void> {
    while (this.hasAny) {
      const waited = [...this.#running];
      let isOver = false;
      const over = Promise.allSettled(waited).then(() => {
        isOver = true;
      });
      await atMost(this.#clock, patienceMs, over);
      if (isOver) continue;
      if (this.#writing.size > 0) await Promise.allSettled(this.#writing);
      else for (const work of waited) this.#running.delete(work);
    }
  }
}

function during<Result>(all: Set<Promise<unknown>>, work: Promise<Result>): Promise<Result> {
  const over = work.finally(() => all.delete(over));
  all.add(over);
  return over;
}

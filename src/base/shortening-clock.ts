// A clock whose waits can be shortened: while a session is open a wait may take seconds, during shutdown it may not.

import type { Clock, TimerUse } from "./clock.js";

export class ShorteningClock implements Clock {
  readonly #clock: Clock;
  readonly #shorten = new Set<() => void>();
  #mostMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(delayMs: number, callback: () => void, use?: TimerUse): () => void {
    let dueAt = this.now() + delayMs;
    const onTime = () => {
      this.#shorten.delete(shorten);
      callback();
    };
    const begin = () => {
      dueAt = Math.min(dueAt, this.now() + this.#mostMs);
      return this.#clock.after(Math.max(0, dueAt - this.now()), onTime, use);
    };
    const shorten = () => {
      cancel();
      cancel = begin();
    };
    let cancel = begin();
    this.#shorten.add(shorten);
    return () => {
      this.#shorten.delete(shorten);
      cancel();
    };
  }

  /** The longest wait from now on. A wait that has begun ends after `mostMs` at the latest, and never later than planned. */
  shorten(mostMs: number): void {
    this.#mostMs = mostMs;
    for (const shorten of this.#shorten) shorten();
  }
}

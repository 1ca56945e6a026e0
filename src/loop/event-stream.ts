// One serial stream of events. Promises: every subscriber sees the same total order; a subscriber that throws is
// logged and does not affect the others; one that returns a promise delays the stream but never reorders it.

import type { Log } from "../base/log.js";

export type Subscriber<Event> = (event: Event) => void | Promise<void>;

export class EventStream<Event> {
  readonly #log: Log;
  readonly #subscribers = new Set<Subscriber<Event>>();
  #queue: Event[] = [];
  #isPumping = false;
  #waiters: (() => void)[] = [];
  #gate: Promise<unknown> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  subscribe(subscriber: Subscriber<Event>): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Nothing more is delivered before this promise settles; what is emitted meanwhile waits in order. */
  hold(until: Promise<unknown>): void {
    this.#gate = until;
  }

  emit(event: Event): void {
    this.#queue.push(event);
    if (!this.#isPumping) void this.#pump(); // never rejects: every subscriber is guarded
  }

  /** True while a subscriber holds the stream up: the producer should wait for `drained`. */
  get isBusy(): boolean {
    return this.#isPumping;
  }

  drained(): Promise<void> {
    if (!this.#isPumping) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    while (this.#queue.length > 0) {
      const events = this.#queue;
      this.#queue = [];
      for (const event of events) {
        while (this.#gate) await this.#opened();
        const slow = this.#deliver(event);
        if (slow) await slow; // without a slow subscriber the whole pump runs inside emit()
      }
    }
    this.#isPumping = false;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  async #opened(): Promise<void> {
    const gate = this.#gate;
    await gate?.catch(() => {}); // the caller that made the gate handles its failure
    if (this.#gate === gate) this.#gate = undefined;
  }

  #deliver(event: Event): Promise<unknown> | undefined {
    const slow: Promise<unknown>[] = [];
    for (const subscriber of [...this.#subscribers]) {
      if (!this.#subscribers.has(subscriber)) continue; // left while this event was under way
      try {
        const result = subscriber(event);
        if (result instanceof Promise) slow.push(result.catch((error) => this.#report(error)));
      } catch (error) {
        this.#report(error);
      }
    }
    return slow.length > 0 ? Promise.all(slow) : undefined;
  }

  #report(error: unknown): void {
    this.#log.error("an event subscriber failed", error);
  }
}

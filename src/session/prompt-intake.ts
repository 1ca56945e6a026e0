// While extensions look at a prompt, it is not accepted yet. Stopping the session gives them a short grace period: a
// prompt that they have not finished by then is refused, and nothing of it is kept.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";

/** Enough for an extension that only looks, so that a prompt directly followed by an abort counts as aborted. */
const graceMs = 250;

export class PromptIntake {
  readonly #clock: Clock;
  /** The function that gives each up, with its end. */
  readonly #open = new Map<() => void, Promise<void>>();
  /** The deadline of the last of them, once the session ends. */
  #until: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `intercept` calls `over` when the prompt is accepted; after its signal it is not awaited. Throws `aborted`. */
  next<Result>(intercept: (signal: AbortSignal, over: () => void) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const patience = new AbortController();
      let end = () => {};
      const ended = new Promise<void>((resolveEnd) => {
        end = resolveEnd;
      });
      let cancel: (() => void) | undefined;
      const giveUp = () => {
        const refuse = () => {
          patience.abort();
          reject(new GalleyError("aborted", "The prompt was aborted before it was accepted."));
          over();
        };
        const leftMs = this.#until === undefined ? graceMs : Math.max(0, this.#until - this.#clock.now());
        cancel ??= this.#clock.after(leftMs, refuse, { isAwaited: true });
      };
      const over = () => {
        this.#open.delete(giveUp);
        cancel?.();
        end();
      };
      this.#open.set(giveUp, ended);
      if (this.#until !== undefined) giveUp();
      intercept(patience.signal, over).then(resolve, reject).finally(over);
    });
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Resolves when each that is open now is over: it has begun, or was refused. */
  async whenOver(): Promise<void> {
    await Promise.all(this.#open.values());
  }

  /** The same, soon. */
  async giveUp(): Promise<void> {
    for (const giveUp of this.#open.keys()) giveUp();
    await this.whenOver();
  }

  /** The session ends: later prompts are given up too, at the same deadline. */
  close(): void {
    this.#until ??= this.#clock.now() + graceMs;
    void this.giveUp(); // never rejects; the code that stops the session waits for it
  }
}

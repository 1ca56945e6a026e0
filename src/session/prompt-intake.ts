// While modules of others look at a prompt, nobody has accepted it yet. Whoever stops the session waits a moment for them:
// a prompt that they are not done with by then is refused, and nothing of it is kept.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";

/** Long enough for whoever just looks, so that a prompt with an abort right behind it is a prompt that was aborted. */
const graceMs = 250;

export class PromptIntake {
  readonly #clock: Clock;
  /** What gives each up, with its end. */
  readonly #open = new Map<() => void, Promise<void>>();
  /** When the last of them has to be over, once the session ends. */
  #until: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `hear` calls `over` when the prompt is accepted; after its signal nobody waits for it. Rejects with `aborted`. */
  next<Heard>(hear: (signal: AbortSignal, over: () => void) => Promise<Heard>): Promise<Heard> {
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
          reject(new GalleyError("aborted", "The prompt was aborted before it was taken in."));
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
      hear(patience.signal, over).then(resolve, reject).finally(over);
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

  /** The session ends: also for those that are still to come, which share one moment. */
  close(): void {
    this.#until ??= this.#clock.now() + graceMs;
    void this.giveUp(); // never rejects; whoever stops the session waits for it
  }
}

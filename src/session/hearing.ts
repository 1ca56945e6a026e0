// While modules of others look at a prompt, nobody has accepted it yet. Whoever stops the session need not wait for them:
// a prompt that they are not done with a moment later is refused, and nothing of it is kept.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";

/** Long enough for whoever just looks, so that a prompt with an abort right behind it is a prompt that was aborted. */
const graceMs = 250;

export class Hearing {
  readonly #clock: Clock;
  readonly #open = new Set<() => void>();
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `hear` calls `over` when the prompt is accepted; after its signal nobody waits for it. Rejects with `aborted`. */
  next<Heard>(hear: (signal: AbortSignal, over: () => void) => Promise<Heard>): Promise<Heard> {
    return new Promise((resolve, reject) => {
      const patience = new AbortController();
      let cancel = () => {};
      const giveUp = () => {
        this.#open.delete(giveUp);
        const refuse = () => {
          patience.abort();
          reject(new GalleyError("aborted", "The prompt was aborted before it was taken in."));
        };
        cancel = this.#clock.after(graceMs, refuse, { isAwaited: true });
      };
      const over = () => {
        this.#open.delete(giveUp);
        cancel();
      };
      this.#open.add(giveUp);
      if (this.#isClosed) giveUp();
      hear(patience.signal, over).then(resolve, reject).finally(over);
    });
  }

  giveUp(): void {
    for (const giveUp of this.#open) giveUp();
  }

  /** The session ends: also for those that are still to come. */
  close(): void {
    this.#isClosed = true;
    this.giveUp();
  }
}

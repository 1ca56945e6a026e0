// What extensions are asked before an operation on a session goes on. An abort cancels it, without waiting for an
// answer.

import { AbortRace } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";

export class Questions {
  readonly #isEnding: () => boolean;
  readonly #toExtensions = new Set<AbortController>();

  /** `isEnding`: the session is. */
  constructor(isEnding: () => boolean) {
    this.#isEnding = isEnding;
  }

  /** Throws `aborted` when it is cancelled, whatever the extensions do. */
  async askExtensions<Answer>(question: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const stop = new AbortController();
    const race = new AbortRace(stop.signal);
    this.#toExtensions.add(stop);
    const answer = await race.next(question(stop.signal)).finally(() => {
      race.release();
      this.#toExtensions.delete(stop);
    });
    if (answer === "aborted") throw new GalleyError("aborted", "Operation aborted");
    return answer;
  }

  /** Cancels those of operations that have not begun. When the session ends, their own limits are short enough. */
  drop(): void {
    if (this.#isEnding()) return;
    for (const stop of this.#toExtensions) stop.abort();
  }
}

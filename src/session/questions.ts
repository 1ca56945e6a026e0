// What extensions are asked before an operation on a session goes on. An abort cancels it, without waiting for an
// answer.

import { AbortRace } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";

export interface QuestionsDeps {
  isEnding(): boolean;
}

export class Questions {
  readonly #deps: QuestionsDeps;
  readonly #toExtensions = new Set<AbortController>();

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
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
    if (this.#deps.isEnding()) return;
    for (const stop of this.#toExtensions) stop.abort();
  }
}

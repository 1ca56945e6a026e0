// What is asked before an operation on a session goes on: of the user, and of extensions. An abort cancels all of it,
// without waiting for an answer.

import { AbortRace } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";

export interface QuestionsDeps {
  /** Runs work that an abort of the session ends, also before its turn comes. */
  cancellable<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** The session is ending. */
  isEnding(): boolean;
}

export class Questions {
  readonly #deps: QuestionsDeps;
  readonly #toExtensions = new Set<AbortController>();
  #toPerson: AbortSignal | undefined;

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
  }

  /** Cancels a question to the user, if there is one. */
  get signal(): AbortSignal | undefined {
    return this.#toPerson;
  }

  /** A question to the user. One at a time. */
  ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    return this.#deps.cancellable(async (signal) => {
      this.#toPerson = signal;
      return question().finally(() => {
        if (this.#toPerson === signal) this.#toPerson = undefined;
      });
    });
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

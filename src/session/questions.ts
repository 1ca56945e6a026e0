// What is asked before an operation on a session goes on: of a person, and of modules of others. An abort calls all of it
// off, whoever is still thinking.

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

  /** Calls off what a person is being asked, if there is such a question. */
  get signal(): AbortSignal | undefined {
    return this.#toPerson;
  }

  /** A question to a person. One at a time. */
  ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    return this.#deps.cancellable(async (signal) => {
      this.#toPerson = signal;
      return question().finally(() => {
        if (this.#toPerson === signal) this.#toPerson = undefined;
      });
    });
  }

  /** Throws `aborted` when it is called off, whatever the modules do. */
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

  /** Those of operations that have not begun. When the session ends, their own limits do it soon enough. */
  drop(): void {
    if (this.#deps.isEnding()) return;
    for (const stop of this.#toExtensions) stop.abort();
  }
}

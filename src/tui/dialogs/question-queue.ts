// Questions to the user: one at a time, in their order, in place of the editor. Promises: every question ends, by its answer,
// its signal or the end of the program, and anything but a clear answer is the one that changes nothing; a key that was typed
// before the user can have read the question is no answer to it.

import { type Component, isKeyRelease, matchesKey } from "@earendil-works/pi-tui";

/** Gets the keys while it is shown. */
export interface Dialog extends Component {
  handleInput(data: string): void;
}

export interface QuestionPlace {
  show(dialog: Dialog | undefined): void;
  /** Nothing else is in the editor's place or above the conversation. */
  isFree(): boolean;
  /** Ctrl-C twice. */
  leave(): void;
}

export interface QuestionOptions<Answer> {
  readonly none: Answer;
  readonly signal?: AbortSignal | undefined;
  /** The user asked for it, and knows what comes. */
  readonly isCalledUp?: boolean;
}

interface Waiting {
  make(): Dialog;
  cancel(): void;
  readonly isCalledUp: boolean;
}

/** No user reads a question faster. */
const earlyMs = 300;
/** Two presses of Ctrl-C within this time leave. */
const leaveMs = 1500;

export class QuestionQueue {
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  #place: QuestionPlace | undefined;
  #shown: { question: Waiting; dialog: Dialog; since: number } | undefined;
  /** When Ctrl-C was last an answer. */
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  attach(place: QuestionPlace): void {
    this.#place = place;
    this.advance();
  }

  /** Besides the one that is shown. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** `make` is called when its turn comes; what it makes calls `close` with the answer. */
  ask<Answer>(
    make: (close: (answer: Answer) => void) => Dialog,
    { none, signal, isCalledUp = false }: QuestionOptions<Answer>,
  ): Promise<Answer> {
    if (signal?.aborted) return Promise.resolve(none);
    return new Promise((resolve) => {
      const close = (answer: Answer) => {
        signal?.removeEventListener("abort", cancel);
        resolve(answer);
        this.#remove(question);
      };
      const cancel = () => close(none);
      const question: Waiting = { make: () => make(close), cancel, isCalledUp };
      signal?.addEventListener("abort", cancel, { once: true });
      this.#waiting.push(question);
      this.advance();
    });
  }

  /** Shows the next one if there is room for it. */
  advance(): void {
    if (this.#shown || !this.#place?.isFree()) return;
    const question = this.#waiting.shift();
    if (!question) return;
    this.#shown = { question, dialog: question.make(), since: this.#now() };
    this.#place.show(this.#shown.dialog);
  }

  /** True: the key was for a question. */
  handleInput(data: string): boolean {
    const isStop = matchesKey(data, "ctrl+c");
    const isSecond = isStop && this.#now() - this.#refusedAt < leaveMs;
    if (isSecond) this.#place?.leave();
    if (!this.#shown) return isSecond;
    if (isStop) this.#refusedAt = this.#now();
    const { question, dialog, since } = this.#shown;
    const isEarly = !question.isCalledUp && this.#now() - since < earlyMs;
    if (isEarly || isKeyRelease(data)) return true;
    if (isStop) question.cancel();
    else dialog.handleInput(data);
    return true;
  }

  /** The program ends: everything is answered with what changes nothing. */
  close(): void {
    for (const question of [...this.#waiting.splice(0), ...(this.#shown ? [this.#shown.question] : [])])
      question.cancel();
  }

  #remove(question: Waiting): void {
    const index = this.#waiting.indexOf(question);
    if (index !== -1) this.#waiting.splice(index, 1);
    if (this.#shown?.question !== question) return;
    this.#shown = undefined;
    this.#place?.show(undefined);
    this.advance();
  }
}

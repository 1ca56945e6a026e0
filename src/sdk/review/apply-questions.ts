// The question whether what the model wants to apply may be written, for a front end that is made after its session: until
// it answers, the user cannot be asked.

import type { ApplyAnswer } from "../../pending/decide/decision.js";

export type { AgreedPart, ApplyAnswer } from "../../pending/decide/decision.js";

export interface ApplyQuestion {
  readonly id: string;
  readonly revision: number;
}

type Answer = (question: ApplyQuestion, signal: AbortSignal | undefined) => Promise<ApplyAnswer | undefined>;

export class ApplyQuestions {
  #answer: Answer | undefined;

  answerWith(answer: Answer | undefined): void {
    this.#answer = answer;
  }

  /** Undefined: no front end is there to ask. */
  readonly ask: Answer = async (question, signal) => this.#answer?.(question, signal);
}

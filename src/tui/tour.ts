// `/tour`: six steps through preview, one hunk and undo, in a scratch project. Each step is done by the user; the tour only
// says what to do and sees that it was done. Pure: facts go in, lines come out.

export interface TourFacts {
  readonly pending: number;
  /** Applied changes that are not undone. */
  readonly applied: number;
  readonly undone: number;
  /** The review view was opened since the last step. */
  readonly hasReviewed: boolean;
}

interface TourStep {
  readonly say: string;
  isDone(facts: TourFacts): boolean;
}

const steps: readonly TourStep[] = [
  { say: "This is a scratch project. Type:  rename total to sum in src", isDone: ({ pending }) => pending > 0 },
  {
    say: "Nothing is written yet: the change is a preview. Press Ctrl-R to read it.",
    isDone: ({ hasReviewed }) => hasReviewed,
  },
  {
    say: "Take a part of it: j goes to the next hunk, a applies the hunk at the cursor.",
    isDone: ({ applied }) => applied > 0,
  },
  {
    say: "One hunk is written, the rest still waits. Press D and Enter to discard the rest.",
    isDone: ({ pending }) => pending === 0,
  },
  {
    say: "Now take the change back: press u. (In the conversation /undo does the same.)",
    isDone: ({ pending, undone }) => pending > 0 || undone > 0,
  },
  { say: "An undo is a preview too. Read it, and press Y to apply it.", isDone: ({ undone }) => undone > 0 },
];

export const tourEnd =
  "The change is taken back. That was the tour: q closes the review, /quit ends it and removes the scratch project.";

export class Tour {
  #at = 0;

  get isOver(): boolean {
    return this.#at >= steps.length;
  }

  get line(): string {
    const step = steps[this.#at];
    return step ? `Step ${this.#at + 1} of ${steps.length}. ${step.say}` : tourEnd;
  }

  /** The line of the next step, once this one is done. */
  advance(facts: TourFacts): string | undefined {
    if (!steps[this.#at]?.isDone(facts)) return undefined;
    this.#at++;
    return this.line;
  }
}

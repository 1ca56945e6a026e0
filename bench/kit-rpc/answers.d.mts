export interface AnswerFigures {
  rounds: number;
  /** Sent to dialogs and calls, or to nobody. */
  answers: number;
  dialogs: number;
  calls: number;
  /** Rounds that did not end; outcomes that were not due; a yes that nobody gave. */
  hangs: number;
  wrong: number;
  consents: number;
  problems: string[];
  elapsedMs: number;
  exitCode: number | null;
  /** But for the notes on frames that were ignored. */
  stderr: string;
}

export function runAnswers(options: { seed: number; count: number; patienceMs?: number }): Promise<AnswerFigures>;

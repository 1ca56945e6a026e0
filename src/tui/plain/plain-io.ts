// Plain mode's way to the user: whole lines out, whole lines in. Promises: no control character goes out but the line feed,
// and every line begins with who speaks.

import { sanitizeForTerminal } from "../../base/sanitize.js";

export interface PlainIO {
  /** Each line of the text, after `who: `. */
  say(who: string, text: string): void;
  /** A line of the user's; undefined at the end of the input or when the signal fires. */
  ask(signal?: AbortSignal): Promise<string | undefined>;
  /** A person types the lines; else they come from a file or a program, each meant for the question it meets. */
  readonly isTyped: boolean;
  now(): number;
}

export function saidLines(who: string, text: string): string[] {
  const name = sanitizeForTerminal(who).replace(/\s+/g, " ");
  return sanitizeForTerminal(text)
    .replaceAll("\t", "    ")
    .trimEnd()
    .split("\n")
    .map((line) => `${name}: ${line}`.trimEnd());
}

/** The lines of an input, each given to the question that waits, else to the prompt, or else to `onLine`. */
export class LineReader {
  readonly #questions: Waiting[] = [];
  /** A run that a line has steered may ask while the prompt waits already: the line is the answer. */
  readonly #prompts: Waiting[] = [];
  readonly #unread: string[] = [];
  #isEnded = false;
  /** Takes a line that neither a question nor the prompt waits for. */
  onLine: (line: string) => void = () => {};

  /** `isKept`: no question waits, and the line must be read by the next one, since the input is no person at a keyboard. */
  take(line: string, { isKept }: { isKept: boolean }): void {
    const next = this.#questions.shift() ?? this.#prompts.shift();
    if (next) next(line);
    else if (isKept) this.#unread.push(line);
    else this.onLine(line);
  }

  end(): void {
    this.#isEnded = true;
    for (const next of [...this.#questions.splice(0), ...this.#prompts.splice(0)]) next(undefined);
  }

  /** For a question. */
  next(signal?: AbortSignal): Promise<string | undefined> {
    return this.#wait(this.#questions, signal);
  }

  nextPrompt(): Promise<string | undefined> {
    return this.#wait(this.#prompts);
  }

  #wait(waiting: Waiting[], signal?: AbortSignal): Promise<string | undefined> {
    const unread = this.#unread.shift();
    if (unread !== undefined) return Promise.resolve(unread);
    if (this.#isEnded || signal?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const answer: Waiting = (line) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(line);
      };
      const onAbort = () => {
        waiting.splice(waiting.indexOf(answer), 1);
        resolve(undefined);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.push(answer);
    });
  }
}

type Waiting = (line: string | undefined) => void;

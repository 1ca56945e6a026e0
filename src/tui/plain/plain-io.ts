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

/** The lines of an input, each given to the question that waits, or else to `onLine`. */
export class LineReader {
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  readonly #unread: string[] = [];
  #isEnded = false;
  /** Takes a line that no question waits for. */
  onLine: (line: string) => void = () => {};

  /** `isKept`: no question waits, and the line must be read by the next one, since the input is no person at a keyboard. */
  take(line: string, { isKept }: { isKept: boolean }): void {
    const next = this.#waiting.shift();
    if (next) next(line);
    else if (isKept) this.#unread.push(line);
    else this.onLine(line);
  }

  end(): void {
    this.#isEnded = true;
    for (const next of this.#waiting.splice(0)) next(undefined);
  }

  next(signal?: AbortSignal): Promise<string | undefined> {
    const unread = this.#unread.shift();
    if (unread !== undefined) return Promise.resolve(unread);
    if (this.#isEnded || signal?.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const answer = (line: string | undefined) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(line);
      };
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(answer), 1);
        resolve(undefined);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(answer);
    });
  }
}

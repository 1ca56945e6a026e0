// Text that is shown whole, however small the room: it scrolls, and it knows whether its last line has been on the screen.
// Pure: a width and a number of rows go in, lines come out. The text is cleaned already.

import { matchesKey, wrapTextWithAnsi } from "@earendil-works/pi-tui";

export class ScrollText {
  readonly #lines: readonly string[];
  #first = 0;
  #rows = 1;
  #height = 0;
  #hasSeenEnd = false;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The visible lines, at most `rows`. What is returned counts as seen. */
  layout(width: number, rows: number): string[] {
    const wrapped = this.#lines.flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width)));
    this.#rows = Math.max(0, rows);
    this.#height = wrapped.length;
    this.scrollTo(this.#first);
    if (this.below === 0) this.#hasSeenEnd = true;
    return wrapped.slice(this.#first, this.#first + this.#rows);
  }

  get hasSeenEnd(): boolean {
    return this.#hasSeenEnd;
  }

  /** Lines above and below what is visible, at the last layout. */
  get above(): number {
    return this.#first;
  }

  get below(): number {
    return Math.max(0, this.#height - this.#first - this.#rows);
  }

  scrollTo(first: number): void {
    this.#first = Math.max(0, Math.min(first, this.#height - Math.max(1, this.#rows)));
  }

  /** True: the key was one for scrolling. */
  handleInput(data: string): boolean {
    const page = Math.max(1, this.#rows - 1);
    const to = [
      [matchesKey(data, "up"), this.#first - 1],
      [matchesKey(data, "down"), this.#first + 1],
      [matchesKey(data, "pageUp"), this.#first - page],
      [matchesKey(data, "pageDown") || matchesKey(data, "space"), this.#first + page],
      [matchesKey(data, "home"), 0],
      [matchesKey(data, "end"), this.#height],
    ].find(([isIt]) => isIt);
    if (!to) return false;
    this.scrollTo(to[1] as number);
    return true;
  }
}

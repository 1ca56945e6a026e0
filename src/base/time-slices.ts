// Long work in small steps on the event loop: after a few milliseconds of it everybody else has a turn.

export interface TimeSlicesOptions {
  /** How long the loop may be kept. All who share the slices share it. */
  sliceMs: number;
  /** By which clock. Default: the process's own. */
  nowMs?: () => number;
}

export class TimeSlices {
  readonly #sliceMs: number;
  readonly #nowMs: () => number;
  #endMs = Number.NEGATIVE_INFINITY;
  /** In the order of their turns. */
  readonly #waiting: (() => void)[] = [];

  constructor({ sliceMs, nowMs = () => performance.now() }: TimeSlicesOptions) {
    this.#sliceMs = sliceMs;
    this.#nowMs = nowMs;
  }

  /** To be called before each step, and awaited if there is something to await: the slice is used up then. */
  turn(): Promise<void> | undefined {
    return this.#nowMs() < this.#endMs ? undefined : this.#wait();
  }

  /** Whoever is woken may use up the whole slice, and then stands behind those who have waited. */
  async #wait(): Promise<void> {
    let isFirst = false;
    while (this.#nowMs() >= this.#endMs) {
      await new Promise<void>((resolve) => {
        if (this.#waiting.length === 0) setImmediate(() => this.#begin());
        if (isFirst) this.#waiting.unshift(resolve);
        else this.#waiting.push(resolve);
      });
      isFirst = true;
    }
  }

  #begin(): void {
    this.#endMs = this.#nowMs() + this.#sliceMs;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

// Splits long work into small steps on the event loop, so that other tasks get a turn after a few milliseconds.

export interface TimeSlicesOptions {
  /** How long the event loop may be blocked, by all users of these slices together. */
  sliceMs: number;
  /** The clock. Default: the process's own. */
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

  /** Call it before each step, and await its result if there is one: the slice is used up then. */
  turn(): Promise<void> | undefined {
    return this.#nowMs() < this.#endMs ? undefined : this.#wait();
  }

  /** A task that is woken may use the whole slice; afterwards it queues behind the tasks that were waiting. */
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

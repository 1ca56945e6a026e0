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
  #next: Promise<void> | undefined;

  constructor({ sliceMs, nowMs = () => performance.now() }: TimeSlicesOptions) {
    this.#sliceMs = sliceMs;
    this.#nowMs = nowMs;
  }

  /** To be called before each step, and awaited if there is something to await: the slice is used up then. */
  turn(): Promise<void> | undefined {
    return this.#nowMs() < this.#endMs ? undefined : this.#wait();
  }

  /** Whoever wakes first may use up the whole slice again. */
  async #wait(): Promise<void> {
    while (this.#nowMs() >= this.#endMs) {
      this.#next ??= new Promise((resolve) => {
        setImmediate(() => {
          this.#next = undefined;
          this.#endMs = this.#nowMs() + this.#sliceMs;
          resolve();
        });
      });
      await this.#next;
    }
  }
}

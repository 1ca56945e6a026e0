// Passes a child's output to the caller, one chunk at a time over both streams. While the caller handles a chunk the
// child is not read, so a slow reader blocks the child instead of filling our memory.

import type { Readable } from "node:stream";

type Sink = (chunk: Uint8Array, stream: "stdout" | "stderr") => Promise<void> | undefined;

export interface OutputSource {
  readonly stdout: Readable;
  /** None where both go through the same pipe. */
  readonly stderr: Readable | null;
}

export class ProcessOutput {
  /** Both streams are at their end or were closed, and the last chunk is taken. */
  readonly closed: Promise<void>;
  readonly #streams: readonly Readable[];
  readonly #sink: Sink;
  readonly #onFailure: (error: unknown) => void;
  #taking: Promise<void> | undefined;
  #bytes = 0;
  #isClosed = false;

  constructor({ stdout, stderr }: OutputSource, sink: Sink, onFailure: (error: unknown) => void) {
    this.#streams = stderr === null ? [stdout] : [stdout, stderr];
    this.#sink = sink;
    this.#onFailure = onFailure;
    stdout.on("data", (chunk: Buffer) => this.#take(chunk, "stdout", stdout));
    stderr?.on("data", (chunk: Buffer) => this.#take(chunk, "stderr", stderr));
    this.closed = Promise.all(this.#streams.map(whenClosed)).then(() => this.#taking);
  }

  /** Reads what is already there, at most `maxBytes`: a process in the background may write for ever. */
  async readRest(maxBytes: number): Promise<void> {
    const limit = this.#bytes + maxBytes;
    while (!this.#isClosed && this.#bytes < limit) {
      await this.#taking;
      const before = this.#bytes;
      // Reading starts again in the first turn of the event loop, and has brought what there is by the third.
      for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate);
      if (this.#bytes === before && this.#taking === undefined) return;
    }
  }

  /** Drops later output and closes the pipes: a process that goes on writing gets an error. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.destroy();
  }

  #take(chunk: Buffer, name: "stdout" | "stderr", stream: Readable): void {
    if (this.#isClosed) return;
    if (this.#taking !== undefined) {
      // Node sets a dead child's streams flowing again, paused or not.
      stream.pause();
      stream.unshift(chunk);
      return;
    }
    this.#bytes += chunk.length;
    try {
      const taking = this.#sink(chunk, name);
      if (taking !== undefined) this.#hold(taking);
    } catch (error) {
      this.#fail(error);
    }
  }

  #hold(taking: Promise<void>): void {
    for (const stream of this.#streams) stream.pause();
    this.#taking = taking.then(
      () => this.#release(),
      (error: unknown) => this.#fail(error),
    );
  }

  #release(): void {
    this.#taking = undefined;
    for (const stream of this.#streams) stream.resume();
  }

  #fail(error: unknown): void {
    this.close();
    this.#taking = undefined;
    this.#onFailure(error);
  }
}

function whenClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => {}); // a broken pipe is its end, and "close" follows
    stream.on("close", resolve);
  });
}

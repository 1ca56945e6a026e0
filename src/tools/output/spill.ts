// Writes an output to its artifact: in order, one write after another. A failure is kept and reported at the end, never
// thrown: a full disk must not fail a command that did its work.

import type { ArtifactSink, ArtifactWriter } from "../tool.js";

export class OutputSpill {
  readonly #sink: ArtifactSink;
  readonly #toolName: string;
  #writer: ArtifactWriter | undefined;
  #problem: { readonly cause: unknown } | undefined;
  #last = Promise.resolve();

  constructor(sink: ArtifactSink, toolName: string) {
    this.#sink = sink;
    this.#toolName = toolName;
  }

  /** Of an artifact that holds everything so far. */
  get id(): string | undefined {
    return this.#problem ? undefined : this.#writer?.id;
  }

  /** Where it lies on the disk, if it does. */
  get path(): string | undefined {
    return this.#problem ? undefined : this.#writer?.path;
  }

  /** Why there is none. */
  get problem(): { readonly cause: unknown } | undefined {
    return this.#problem;
  }

  /** Resolves when the bytes may be used for something else. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      if (this.#problem) return;
      this.#writer ??= await this.#sink.open(this.#toolName);
      await this.#writer.write(bytes);
    });
  }

  /** To be called once, after the last write. */
  close(): Promise<void> {
    return this.#next(async () => this.#writer?.close());
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((cause: unknown) => {
      this.#problem ??= { cause };
    });
    return this.#last;
  }
}

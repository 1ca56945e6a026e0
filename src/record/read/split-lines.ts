// Cuts the bytes of a session file into lines. A line that is too long is dropped as it comes, so that its length costs
// no memory.

const LF = 0x0a;

export interface Line {
  /** Without its LF; undefined when the line was too long to hold. */
  readonly content: Buffer | undefined;
  /** Counted from 0. */
  readonly number: number;
}

export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #number = 0;
  length = 0;
  isDiscarding = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array, take: (line: Line) => void): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.length += bytes.length;
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const content = this.#finish(bytes.subarray(start, end));
      start = end + 1;
      take({ content, number: this.#number++ });
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  /** What stands behind the last LF. */
  rest(): Line & { bytes: number } {
    const bytes = this.#bytes;
    const content = bytes === 0 ? undefined : this.#finish(Buffer.alloc(0));
    return { content, number: this.#number, bytes };
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.isDiscarding = true;
      this.#pieces = [];
    }
    // Copied, since the caller may use its buffer again.
    if (!this.isDiscarding) this.#pieces.push(Buffer.from(piece));
  }

  #finish(piece: Buffer): Buffer | undefined {
    const isAlone = this.#bytes === 0;
    if (isAlone) this.#bytes = piece.length;
    else this.#keep(piece);
    const isTooLong = this.#bytes > this.#maxBytes;
    const content = isTooLong ? undefined : isAlone ? piece : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.isDiscarding = false;
    return content;
  }
}

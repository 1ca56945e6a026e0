// Cuts the bytes of a session file into lines and decodes them, as many at once as there are. A line that is too long is
// dropped as it comes, so that its length costs no memory.

import { isUtf8 } from "node:buffer";

const LF = 0x0a;

export interface Line {
  /** Without its LF; undefined when the line was too long to hold. */
  readonly text: string | undefined;
  /** What the text was made of, where that is no UTF-8: the text has replacement characters. */
  readonly damaged?: Buffer | undefined;
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
    if (this.#bytes > 0) {
      start = bytes.indexOf(LF) + 1;
      if (start > 0) take(this.#finish(bytes.subarray(0, start - 1)));
    }
    const end = bytes.lastIndexOf(LF) + 1;
    if (start < end) this.#takeLines(bytes.subarray(start, end - 1), take);
    if (end < bytes.length) this.#keep(bytes.subarray(end));
  }

  /** What stands behind the last LF. */
  rest(): Line & { bytes: number } {
    const bytes = this.#bytes;
    return bytes === 0 ? { text: undefined, number: this.#number, bytes } : { ...this.#finish(Buffer.alloc(0)), bytes };
  }

  /** Whole lines with an LF between them. One call decodes all: a call for each costs more than its bytes. */
  #takeLines(bytes: Buffer, take: (line: Line) => void): void {
    if (bytes.length <= this.#maxBytes && isUtf8(bytes)) {
      for (const text of bytes.toString("utf8").split("\n")) take({ text, number: this.#number++ });
      return;
    }
    for (let start = 0, end = 0; start <= bytes.length; start = end + 1) {
      end = bytes.indexOf(LF, start);
      if (end === -1) end = bytes.length;
      take(this.#finish(bytes.subarray(start, end)));
    }
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

  #finish(piece: Buffer): Line {
    this.#keep(piece);
    const whole = this.isDiscarding ? undefined : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.isDiscarding = false;
    return {
      text: whole?.toString("utf8"),
      damaged: whole && !isUtf8(whole) ? whole : undefined,
      number: this.#number++,
    };
  }
}

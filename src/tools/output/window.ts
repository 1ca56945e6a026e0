// The last bytes of a stream, in bounded memory: constant cost per byte, however the stream is cut into chunks.

export class RollingBytes {
  readonly #maxBytes: number;
  #buffer = Buffer.alloc(0);
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(bytes: Uint8Array): void {
    const added = bytes.length > this.#maxBytes ? bytes.subarray(bytes.length - this.#maxBytes) : bytes;
    if (this.#end + added.length > this.#buffer.length) this.#makeRoom(added.length);
    this.#buffer.set(added, this.#end);
    this.#end += added.length;
  }

  /** At most the last `maxBytes`; a view that the next `append` may change. */
  last(maxBytes: number = this.#maxBytes): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#end - Math.min(maxBytes, this.#maxBytes)), this.#end);
  }

  /** Twice as large as what is kept, so that bytes are moved to the front only once per `maxBytes`. */
  #makeRoom(length: number): void {
    const capacity = 2 * this.#maxBytes;
    if (this.#end + length > capacity) {
      const kept = this.#maxBytes - length;
      this.#buffer.copyWithin(0, this.#end - kept, this.#end);
      this.#end = kept;
      return;
    }
    const grown = Buffer.allocUnsafe(Math.min(capacity, 2 * (this.#end + length)));
    grown.set(this.#buffer.subarray(0, this.#end));
    this.#buffer = grown;
  }
}

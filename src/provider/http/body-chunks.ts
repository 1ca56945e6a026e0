// The body of a response, chunk by chunk. Node's own iterator passes each chunk through a buffer, an event and several
// turns of its queue; here a waiting reader gets it at once. Promises: nothing is lost or out of order, unread data
// stays bounded, and a body that breaks off fails instead of ending.

import type { Readable } from "node:stream";
import { GalleyError } from "../../base/errors.js";

type Step = IteratorResult<Uint8Array, undefined>;

interface Waiting {
  resolve(step: Step): void;
  reject(error: Error): void;
}

const maxQueuedBytes = 64 * 1024;
const done: Step = { done: true, value: undefined };

/** One step at a time: a reader asks for the next chunk only after it has the last one. */
export class BodyChunks implements AsyncIterableIterator<Uint8Array> {
  readonly #body: Readable;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #waiting: Waiting | undefined;
  #end: "ended" | Error | undefined;

  constructor(body: Readable) {
    this.#body = body;
    body.on("data", (chunk: Buffer) => this.#take(chunk));
    body.once("end", () => this.#close("ended"));
    // Stays for the life of the body: a late error without a listener would end the process.
    body.on("error", (error) => this.#close(error));
    body.once("close", () => this.#close(new GalleyError("disconnected", "The reply was closed before its end.")));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#queue.length > 0) return Promise.resolve({ done: false, value: this.#takeQueued() });
    if (this.#end === "ended") return Promise.resolve(done);
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** The reader does not want the rest. */
  return(): Promise<Step> {
    this.#body.destroy();
    return Promise.resolve(done);
  }

  /** As one chunk: chunks that arrived while the reader was busy cost no more than a single one. */
  #takeQueued(): Buffer {
    const value = Buffer.concat(this.#queue);
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#body.isPaused()) this.#body.resume();
    return value;
  }

  #take(chunk: Buffer): void {
    const waiting = this.#awaited();
    if (waiting) return waiting.resolve({ done: false, value: chunk });
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes >= maxQueuedBytes) this.#body.pause();
  }

  /** Only the first call counts: a body is closed in any case, after its end and after an error. */
  #close(end: "ended" | Error): void {
    this.#end ??= end;
    const waiting = this.#awaited();
    if (this.#end === "ended") waiting?.resolve(done);
    else waiting?.reject(this.#end);
  }

  /** Answered once. */
  #awaited(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

// Bytes in, frames out. The server's reader also guards itself against hostile structure; a host reads only its own
// agent, and this client must stay small, so it does without. What stays: LF only, strict UTF-8, bounded memory.

import { messageOf } from "../base/errors.js";
import { isObject } from "../base/json.js";
import type { Frame, TypedObject } from "../base/ndjson.js";

/** The largest record that either side accepts. */
export const maxRecordBytes = 64 * 2 ** 20;

const LF = 0x0a;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export class LineReader {
  /** The record under way, in the pieces in which it came: joined once, when it is complete. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    // LF only. U+2028 and friends are legal inside a JSON string, and a line reader would cut the frame there.
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#take(chunk.subarray(start, end));
      frames.push(...this.end());
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
    return frames;
  }

  /** What came after the last LF; at the end of the stream that counts as a record. */
  end(): Frame[] {
    const isTooLarge = this.#bytes > maxRecordBytes;
    const record = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return isTooLarge ? [{ ok: false, problem: `a line of more than ${maxRecordBytes} bytes` }] : parseLine(record);
  }

  #take(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > maxRecordBytes) this.#pieces = [];
    else this.#pieces.push(piece);
  }
}

/** Nothing for a blank line. */
export function parseLine(bytes: Uint8Array): Frame[] {
  try {
    const text = utf8.decode(bytes).trim();
    if (!text) return [];
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.type === "string") return [{ ok: true, value: value as TypedObject }];
    return [{ ok: false, problem: `no object with a type: ${text.slice(0, 80)}` }];
  } catch (error) {
    return [{ ok: false, problem: messageOf(error) }];
  }
}

// Reassembles a frame that came in pieces (`rpc_chunk`). The pieces of one frame come in order with nothing between
// them; a violation is reported once, and the rest of the broken frame is skipped.

import type { Frame, TypedObject } from "../base/ndjson.js";
import type { RpcChunk } from "../protocol/frames.js";
import { maxRecordBytes, parseLine } from "./line-reader.js";

const maxPieceBytes = 262_144;
const minFrameBytes = 1_048_576;

export class ChunkAssembler {
  #first: RpcChunk | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The frame whose remaining pieces are skipped; initially a value that equals no id. */
  #brokenId: unknown = Number.NaN;

  /** What a frame gives: itself, the whole frame that it completes, a problem, or nothing yet. */
  take(frame: TypedObject): Frame[] {
    if (frame.type !== "rpc_chunk") {
      const whole: Frame = { ok: true, value: frame };
      return this.#first ? [this.#fail(this.#first.chunkId), whole] : [whole];
    }
    const chunk = frame as unknown as RpcChunk;
    if (chunk.chunkId === this.#brokenId) return [];
    if (!this.#add(chunk)) return [this.#fail(chunk.chunkId)];
    if (this.#pieces.length < chunk.count) return [];
    const pieces = this.#pieces;
    this.#reset();
    return parseLine(Buffer.concat(pieces));
  }

  /** False if the piece does not fit: then none of it may be trusted. */
  #add(chunk: RpcChunk): boolean {
    this.#first ??= chunk;
    const { chunkId, index, count, byteLength, data } = chunk;
    const piece = Buffer.from(String(data), "base64");
    this.#bytes += piece.length;
    const isLast = index === count - 1;
    return (
      typeof chunkId === "string" &&
      chunkId === this.#first.chunkId &&
      count === this.#first.count &&
      byteLength === this.#first.byteLength &&
      Number.isInteger(count) &&
      count > 1 &&
      byteLength >= minFrameBytes &&
      byteLength <= maxRecordBytes &&
      piece.length > 0 &&
      piece.length <= maxPieceBytes &&
      piece.toString("base64") === data && // Buffer skips over what is no base64
      (isLast ? this.#bytes === byteLength : this.#bytes < byteLength) &&
      this.#pieces.push(piece) === index + 1
    );
  }

  #fail(chunkId: unknown): Frame {
    const { index, count } = this.#first ?? {};
    this.#reset();
    this.#brokenId = chunkId;
    return { ok: false, problem: `The pieces of rpc_chunk ${chunkId} do not fit (${index} of ${count})` };
  }

  #reset(): void {
    this.#first = undefined;
    this.#pieces = [];
    this.#bytes = 0;
  }
}

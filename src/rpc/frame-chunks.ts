// A line that is too long for a host that agreed on version 2, split into several frames. A line that is too large even
// for that is replaced by an error frame: a host that waits for an answer gets one.

/** With its line end: a longer line is sent in pieces. */
export const maxFrameBytes = 1_048_576;
/** The most that a host reassembles. */
export const maxReassembledFrameBytes = 67_108_864;

const maxPieceBytes = 262_144;

/** The JSON text of a line in bytes, if it is too long for one frame. */
export function oversized(line: string): Buffer | undefined {
  if (line.length * 3 <= maxFrameBytes) return undefined; // no character takes more bytes: the usual case costs nothing
  if (line.length <= maxFrameBytes && Buffer.byteLength(line) <= maxFrameBytes) return undefined;
  return Buffer.from(line.slice(0, -1));
}

/** The lines that carry it, made one by one, so that a large frame is not in memory a second time as base64. */
export function* chunkLines(json: Buffer, chunkId: string): Generator<string, void> {
  const byteLength = json.length;
  const count = Math.ceil(byteLength / maxPieceBytes);
  for (let index = 0; index < count; index++) {
    const data = json.toString("base64", index * maxPieceBytes, (index + 1) * maxPieceBytes);
    yield `${JSON.stringify({ type: "rpc_chunk", chunkId, index, count, byteLength, data })}\n`;
  }
}

/** Replaces a frame that no host could reassemble. */
export function tooLarge(frame: {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly command?: unknown;
}): object {
  const { type, id, command } = frame;
  if (type !== "response")
    return { type: "rpc_frame_error", originalType: String(type), error: "RPC frame exceeded the transport limit" };
  return { id, type, command, success: false, error: "RPC response exceeded the transport limit" };
}

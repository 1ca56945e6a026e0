// Server-sent events out of a byte stream: UTF-8 safe at any cut, bounded in line and in total. Comments and unknown
// fields are skipped; `[DONE]` is data like any other and left to the caller.

import { isAscii } from "node:buffer";
import { createParser } from "eventsource-parser";
import { GalleyError } from "../../base/errors.js";
import type { Watchdog } from "./watchdog.js";

export interface SseOptions {
  watchdog: Watchdog;
  /** Default 16 MiB: a line, or the lines of one event, that grow longer end the stream. */
  maxEventCharacters?: number;
  /** Default 256 MiB. */
  maxBytes?: number;
}

/**
 * The `data` of each event, in one batch per chunk of bytes: fewer turns of the event loop than one per event. The
 * caller owns the iterator and decides what becomes of the connection, so nothing here closes it.
 */
export async function* readSse(chunks: AsyncIterator<Uint8Array>, options: SseOptions): AsyncGenerator<string[]> {
  const { watchdog, maxEventCharacters = 16 * 1024 * 1024, maxBytes = 256 * 1024 * 1024 } = options;
  let batch: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: maxEventCharacters,
    onEvent: (event) => batch.push(event.data),
    onError(error) {
      isTooLong ||= error.type === "max-buffer-size-exceeded"; // other errors are unknown fields, which are skipped
    },
  });
  const toLines = lineDecoder();
  let bytes = 0;
  for (;;) {
    watchdog.waiting();
    const { done, value } = await chunks.next();
    watchdog.fed();
    if (done) return;
    bytes += value.byteLength;
    if (bytes > maxBytes) throw new GalleyError("invalid_frame", `The reply is larger than ${maxBytes} bytes.`);
    parser.feed(toLines(value));
    if (batch.length > 0) {
      yield batch;
      batch = [];
    }
    if (isTooLong)
      throw new GalleyError("invalid_frame", `An event of the reply is longer than ${maxEventCharacters} characters.`);
  }
}

/** Bytes to text with LF line ends. The parser searches ahead for a CR on every line, which a sender can make costly. */
function lineDecoder(): (bytes: Uint8Array) => string {
  const toText = textDecoder();
  let endedInCr = false;
  return (bytes) => {
    let text = toText(bytes);
    if (text === "") return text;
    if (endedInCr && text.startsWith("\n")) text = text.slice(1);
    endedInCr = text.endsWith("\r");
    return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  };
}

/** Most replies are pure ASCII and need no decoder, whose creation takes longer than reading them. */
function textDecoder(): (bytes: Uint8Array) => string {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isFirst = true;
  return (bytes) => {
    if (!decoder && !isAscii(bytes)) decoder = new TextDecoder("utf-8", { ignoreBOM: !isFirst });
    isFirst &&= bytes.length === 0; // a byte order mark is one at the very beginning only
    return decoder
      ? decoder.decode(bytes, { stream: true })
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  };
}

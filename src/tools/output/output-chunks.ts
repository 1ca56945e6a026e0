// The output of a command for a live view, chunk by chunk: whole characters, no escape sequences, wherever the bytes
// were cut. Carriage returns stay, so that a progress bar can be drawn as one.

import { StringDecoder } from "node:string_decoder";
import { sevenBit, withoutControls } from "./plain.js";

/** An escape sequence that takes longer than this to end is shown without its beginning. */
const maxHeld = 4096;

export class OutputChunks {
  readonly #decoder = new StringDecoder("utf8");
  #held = "";

  /** What can be shown now; empty where all of it has to wait for the next chunk. */
  push(bytes: Uint8Array): string {
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    return this.#release(this.#held + sevenBit(text));
  }

  /** The rest, after the last chunk. */
  end(): string {
    const rest = withoutControls(this.#held + this.#decoder.end());
    this.#held = "";
    return rest;
  }

  #release(text: string): string {
    const open = unfinishedSequence.exec(text)?.index ?? text.length;
    const cut = text.length - open > maxHeld ? text.length : open;
    this.#held = text.slice(cut);
    return withoutControls(text.slice(0, cut));
  }
}

/** At the end: an introducer with parameters but no final, or a string without its terminator. */
const unfinishedSequence = new RegExp(
  ["\\u001b\\[[0-?]*[ -/]*$", "\\u001b[\\]PX^_][^\\u0007\\u001b\\n]*\\u001b?$", "\\u001b[ -/]*$"].join("|"),
);

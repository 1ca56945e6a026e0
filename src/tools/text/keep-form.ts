// A whole new text for a file, as a pure step. What the old text had and a model leaves out is kept: its byte order
// mark, and CRLF where every line ended so. A file with mixed endings, and a text that brings CRLF itself, are written as
// given.

import { toolFailure } from "../tool.js";
import { hasByteOrderMark } from "./text-view.js";

export interface ComputedWrite {
  readonly after: Buffer;
  /** What is not as given, in words. */
  readonly kept: readonly string[];
}

/** `before`: the bytes that are there now, if any. */
export function computeWrite(before: Buffer | undefined, content: string): ComputedWrite {
  if (/\p{Surrogate}/u.test(content))
    throw toolFailure("content holds half of a surrogate pair, which cannot be written as UTF-8.");
  const kept: string[] = [];
  let text = content;
  if (before && endsLinesInCrlf(before) && /\n/.test(text) && !text.includes("\r\n")) {
    text = text.replaceAll("\n", "\r\n");
    kept.push("CRLF line endings");
  }
  if (before && hasByteOrderMark(before) && !text.startsWith("\ufeff")) {
    text = `\ufeff${text}`;
    kept.push("byte order mark");
  }
  return { after: Buffer.from(text), kept };
}

function endsLinesInCrlf(bytes: Buffer): boolean {
  let at = bytes.indexOf(0x0a);
  if (at === -1) return false;
  for (; at !== -1; at = bytes.indexOf(0x0a, at + 1)) if (bytes[at - 1] !== 0x0d) return false;
  return true;
}

// Whether a file has anything to read in it, from its first bytes and never from its name.

import { isAscii } from "node:buffer";

/** How much of a file tells. */
export const binaryHeadBytes = 8192;

/** A NUL, or mostly bytes that are no UTF-8: nothing to read in it. */
export function isBinary(head: Uint8Array): boolean {
  if (head.includes(0)) return true;
  if (isAscii(head)) return false;
  const text = new TextDecoder().decode(head);
  const invalid = text.split("\ufffd").length - 1;
  return invalid > text.length * 0.3;
}

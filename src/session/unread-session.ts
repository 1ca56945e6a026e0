// A session file that was taken in as it is: its header is known, its entries are bytes until somebody asks for one. A
// host that goes from session to session waits for the file then, and not for what can be made of it.

import type { SessionEntry, SessionHeader } from "../protocol/entries.js";
import { currentVersion } from "./migrate-entries.js";
import { findPlainConversation, type PlainConversation } from "./plain-conversation.js";
import { type ReadSession, SessionReader } from "./read-entries.js";

export interface UnreadSession {
  readonly header: SessionHeader;
  readonly bytes: Buffer;
  /** Its messages as JSON text in pieces, where they can be told without reading. */
  messages(): Iterable<string> | undefined;
  /** What stands in it. */
  read(): ReadSession;
}

/** Undefined for a file that needs a look before it can be used: one of another version, or with a torn end. */
export function leaveUnread(bytes: Buffer, path: string): UnreadSession | undefined {
  const headerEnd = bytes.indexOf(LF);
  if (bytes.at(-1) !== LF || headerEnd > maxHeaderBytes) return undefined;
  const { header, version, entries, problemCount } = readBytes(bytes.subarray(0, headerEnd + 1), path);
  if (version !== currentVersion || entries.length > 0 || problemCount > 0) return undefined;
  let looked: { readonly found: PlainConversation | undefined } | undefined;
  const plain = () => {
    looked ??= { found: findPlainConversation(bytes) };
    return looked.found;
  };
  return {
    header,
    bytes,
    messages: () => plain()?.messages(),
    read() {
      const linked = plain()?.entries();
      return linked ? { ...sound, header, length: bytes.length, ...linked } : readBytes(bytes, path);
    },
  };
}

/** What there is to say about a file in which nothing is out of the ordinary. */
const sound = {
  version: currentVersion,
  originals: new Map<SessionEntry, string>(),
  problems: [],
  problemCount: 0,
  tail: { bytes: 0, isWhole: false },
  isFit: true,
} as const;

/** Throws `file_refused` for what is no session. */
export function readBytes(bytes: Buffer, path: string): ReadSession {
  const reader = new SessionReader(path);
  for (let start = 0; start < bytes.length; start += chunkBytes) reader.push(bytes.subarray(start, start + chunkBytes));
  return reader.end();
}

/** A little less than Node begins to keep texts outside of V8's heap at, where they would pile up. */
export const chunkBytes = 1_000_000;

const LF = 0x0a;
const maxHeaderBytes = 64 * 1024;

// Identifiers as a capability: random in the program, counted in tests.

import { randomBytes } from "node:crypto";

export interface Ids {
  /** A session id: UUID version 7, so that names sort by time. */
  session(now: number): string;
  /** An entry id: eight hex digits, unique within one session as far as the caller checks. */
  entry(): string;
}

export const randomIds: Ids = {
  session: uuidV7,
  entry: () => randomBytes(4).toString("hex"),
};

/** Ids that count up, for tests and transcripts. */
export function countedIds(): Ids {
  let sessions = 0;
  let entries = 0;
  const hex = (value: number, width: number) => value.toString(16).padStart(width, "0");
  return {
    session: () => `00000000-0000-7000-8000-${hex(++sessions, 12)}`,
    entry: () => hex(++entries, 8),
  };
}

function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

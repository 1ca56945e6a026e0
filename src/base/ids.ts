// Identifiers as a capability: random in the program, counted in tests.

export interface Ids {
  /** A session id: UUID version 7, so that names sort by time. */
  session(now: number): string;
  /** An entry id: eight hex digits, unique within one session as far as the caller checks. */
  entry(): string;
}

/** Unique, not secret: Math.random will do, and node:crypto would cost the first answer three milliseconds. */
export const randomIds: Ids = {
  session: uuidV7,
  entry: () => randomHex(8),
};

/** Ids that count up, for tests and transcripts. */
export function countedIds(): Ids {
  let sessions = 0;
  let entries = 0;
  const hex = (value: number, width: number) => value.toString(16).padStart(width, "0");
  return { session: () => `00000000-0000-7000-8000-${hex(++sessions, 12)}`, entry: () => hex(++entries, 8) };
}

function uuidV7(now: number): string {
  const time = now.toString(16).padStart(12, "0");
  const variant = "89ab"[Math.floor(Math.random() * 4)];
  return [time.slice(0, 8), time.slice(8), `7${randomHex(3)}`, `${variant}${randomHex(3)}`, randomHex(12)].join("-");
}

function randomHex(digits: number): string {
  let hex = "";
  while (hex.length < digits)
    hex += Math.floor(Math.random() * 0x10000)
      .toString(16)
      .padStart(4, "0");
  return hex.slice(0, digits);
}

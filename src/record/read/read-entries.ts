// The bytes of a session file in, its header and entries out. Promises: one bad line never stops the rest, memory is
// bounded by one line beyond what is returned, and nothing here depends on how the bytes are cut up.

import { isUtf8 } from "node:buffer";
import { GalleyError } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { maxNesting, type TypedObject } from "../../base/ndjson.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import { type LinkedEntries, type LinkProblem, linkEntries } from "./link-entries.js";
import { currentVersion, migrateEntries } from "./migrate-entries.js";

export const maxLineBytes = 8 * 1024 * 1024;

export type ReadProblemKind = "malformed" | "oversized" | "fused" | "bad_utf8" | "extra_header" | LinkProblem;

export interface ReadProblem {
  readonly kind: ReadProblemKind;
  /** As an editor counts: the header is on line 1. */
  readonly line: number;
}

/** The entries are in the form of `currentVersion`, unless the file is newer than that. */
export interface ReadSession extends LinkedEntries {
  readonly header: SessionHeader;
  /** What the file says. */
  readonly version: number;
  /** The exact text of entries that we would word otherwise, so that a copy of the file keeps them to the byte. */
  readonly originals: ReadonlyMap<SessionEntry, string>;
  /** The first ones; `problemCount` counts all. */
  readonly problems: readonly ReadProblem[];
  readonly problemCount: number;
  /** Bytes behind the last LF. A whole one is an entry that only lacks its LF, and is among `entries`. */
  readonly tail: { readonly bytes: number; readonly isWhole: boolean };
  readonly length: number;
}

/** Why a file of this version is only read, or undefined. */
export function versionProblem(version: unknown): string | undefined {
  const isKnown = Number.isInteger(version) && (version as number) >= 1 && (version as number) <= currentVersion;
  return isKnown ? undefined : `Session version ${version} is newer than supported (${currentVersion})`;
}

const maxProblems = 100;

export class SessionReader {
  readonly #path: string;
  readonly #lines: LineReader;
  readonly #entries: TypedObject[] = [];
  readonly #lineOf: number[] = [];
  readonly #originals = new Map<TypedObject, string>();
  readonly #problems: ReadProblem[] = [];
  #problemCount = 0;
  #header: TypedObject | undefined;
  #version = 1;

  /** The path is for the sentence when it is no session. */
  constructor(path: string, maxBytes = maxLineBytes) {
    this.#path = path;
    this.#lines = new LineReader(maxBytes);
  }

  /** Throws `file_refused` as soon as it is clear that this is no session file. */
  push(chunk: Uint8Array): void {
    this.#lines.push(chunk, (line) => this.#take(line));
    if (!this.#header && this.#lines.isDiscarding) throw this.#refusal();
  }

  end(): ReadSession {
    const { length } = this.#lines;
    const rest = this.#lines.rest();
    // A torn line cannot be a complete object: what parses has only lost its LF.
    const isWhole = rest.record !== undefined && parseObject(rest.record) !== undefined;
    if (isWhole) this.#take({ record: rest.record, number: rest.number });
    if (!this.#header) throw this.#refusal();
    const header = this.#header as TypedObject as SessionHeader;
    const migrated = migrateEntries(this.#version, this.#entries, this.#lineOf);
    const placed = [...this.#originals].map(([entry, text]) => ({
      entry,
      text,
      id: entry.id,
      parentId: entry.parentId,
    }));
    const linked = linkEntries(migrated, this.#lineOf, (kind, index) => this.#report(kind, this.#lineOf[index] ?? 0));
    // An entry that was given another place no longer is what its line says.
    const kept = placed.filter(({ entry, id, parentId }) => entry.id === id && entry.parentId === parentId);
    const originals = new Map(kept.map(({ entry, text }) => [entry as object as SessionEntry, text]));
    return {
      header,
      version: (header.version ?? 1) as number,
      ...linked,
      originals,
      problems: this.#problems,
      problemCount: this.#problemCount,
      tail: { bytes: rest.bytes, isWhole },
      length,
    };
  }

  #take({ record, number }: Line): void {
    if (record === undefined) {
      if (!this.#header) throw this.#refusal();
      return this.#report("oversized", number);
    }
    const found = parseLine(number === 0 ? withoutMark(record) : record, (value) => this.#isPart(value));
    if (found.problem) this.#report(found.problem, number);
    for (const value of found.values) {
      if (!this.#header) this.#open(value);
      else if (value.type === "session") this.#report("extra_header", number);
      else this.#add(value, number, found.original);
    }
    if (!this.#header) throw this.#refusal();
  }

  #open(value: TypedObject): void {
    if (value.type !== "session" || typeof value.id !== "string") throw this.#refusal();
    if (typeof value.version === "object" && value.version !== null) value.version = Number.NaN; // not even a word
    const { version = 1, timestamp, cwd } = value;
    this.#header = value;
    value.timestamp = typeof timestamp === "string" ? timestamp : "";
    value.cwd = typeof cwd === "string" ? cwd : "";
    // A version we do not know is left as it is.
    this.#version = versionProblem(version) === undefined ? (version as number) : currentVersion;
  }

  #add(value: TypedObject, number: number, original: string | undefined): void {
    this.#entries.push(value);
    this.#lineOf.push(number);
    if (original !== undefined) this.#originals.set(value, original);
  }

  /** Whether an object found inside a damaged line is a line of its own, and not a piece of one. */
  #isPart(value: TypedObject): boolean {
    if (value.type === "session") return !this.#header;
    if (typeof value.timestamp !== "string") return false;
    const { id, parentId } = value;
    return this.#version < 2 || (typeof id === "string" && (parentId === null || typeof parentId === "string"));
  }

  #report(kind: ReadProblemKind, line: number): void {
    this.#problemCount++;
    if (this.#problems.length < maxProblems) this.#problems.push({ kind, line: line + 1 });
  }

  #refusal(): GalleyError {
    return new GalleyError("file_refused", `Not a session file: ${this.#path}`);
  }
}

const ownTypes: ReadonlySet<string> = new Set<SessionEntry["type"]>([
  "message",
  "model_change",
  "thinking_level_change",
  "service_tier_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "ttsr_injection",
  "mcp_tool_selection",
  "session_init",
  "mode_change",
  "context_change",
  "session_info",
  "leaf",
  "prune",
]);

export interface Line {
  /** Without its LF; undefined when the line was too long to hold. */
  readonly record: Buffer | undefined;
  /** Counted from 0. */
  readonly number: number;
}

/** Cuts bytes into lines at LF, and drops a line that is too long as it comes, so that its length costs nothing. */
export class LineReader {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #number = 0;
  length = 0;
  isDiscarding = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array, take: (line: Line) => void): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.length += bytes.length;
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const record = this.#finish(bytes.subarray(start, end));
      start = end + 1;
      take({ record, number: this.#number++ });
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  /** What stands behind the last LF. */
  rest(): Line & { bytes: number } {
    const bytes = this.#bytes;
    const record = bytes === 0 ? undefined : this.#finish(Buffer.alloc(0));
    return { record, number: this.#number, bytes };
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.isDiscarding = true;
      this.#pieces = [];
    }
    // Copied, since the caller may use its buffer again.
    if (!this.isDiscarding) this.#pieces.push(Buffer.from(piece));
  }

  #finish(piece: Buffer): Buffer | undefined {
    const isAlone = this.#bytes === 0;
    if (isAlone) this.#bytes = piece.length;
    else this.#keep(piece);
    const isTooLong = this.#bytes > this.#maxBytes;
    const record = isTooLong ? undefined : isAlone ? piece : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.isDiscarding = false;
    return record;
  }
}

const LF = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function withoutMark(record: Buffer): Buffer {
  return record.subarray(0, 3).equals(byteOrderMark) ? record.subarray(3) : record;
}

interface ParsedLine {
  readonly values: readonly TypedObject[];
  /** The exact text of its one object, where that has to be kept. */
  readonly original?: string | undefined;
  readonly problem?: ReadProblemKind;
}

function parseLine(record: Buffer, isPart: (value: TypedObject) => boolean): ParsedLine {
  const text = record.toString("utf8");
  const parsed = parseText(text);
  // One flipped bit in a text is no reason to lose the message: it is read with a mark in that place.
  if (parsed && !isUtf8(record)) return { values: [parsed.value], problem: "bad_utf8" };
  if (parsed) return { values: [parsed.value], original: originalOf(parsed, text) };
  if (record.toString("latin1").trim() === "") return { values: [] };
  const values = partsOf(record, isPart);
  return { values, problem: values.length > 0 ? "fused" : "malformed" };
}

function parseObject(record: Buffer): TypedObject | undefined {
  return parseText(record.toString("utf8"))?.value;
}

interface ParsedText {
  readonly value: TypedObject;
  /** Every number in it is to the digit what the text says. */
  readonly isExact: boolean;
}

/** Parsed first and judged then: most of a long session's loading is this, and its lines are bounded already. */
function parseText(text: string): ParsedText | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value.type !== "string") return undefined;
    const flaw = flawOf(value, 1);
    return flaw === Flaw.tooDeep ? undefined : { value: value as TypedObject, isExact: flaw === Flaw.none };
  } catch {
    return undefined; // the caller looks for what can be saved
  }
}

/** What is wrong with a value that was parsed, the worst last. */
const Flaw = {
  none: 0,
  /** It holds a number that is no longer to the digit what the text says. */
  inexact: 1,
  tooDeep: 2,
} as const;

/** Visits members without making lists or iterators: this runs over everything that is loaded. */
function flawOf(value: object, depth: number): number {
  if (depth > maxNesting) return Flaw.tooDeep;
  let worst: number = Flaw.none;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null) worst = Math.max(worst, flawOf(item, depth + 1));
      else if (typeof item === "number" && isInexact(item)) worst = Math.max(worst, Flaw.inexact);
    }
    return worst;
  }
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === "object" && member !== null) worst = Math.max(worst, flawOf(member, depth + 1));
    else if (typeof member === "number" && isInexact(member)) worst = Math.max(worst, Flaw.inexact);
  }
  return worst;
}

function isInexact(number: number): boolean {
  return number > Number.MAX_SAFE_INTEGER || number < Number.MIN_SAFE_INTEGER;
}

/** Of an entry of another program's own type, and of one that would not be written again as it was read. */
function originalOf({ value, isExact }: ParsedText, text: string): string | undefined {
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  const isOurs = ownTypes.has(value.type) && typeof value.timestamp === "string";
  return isOurs && (isExact || JSON.stringify(value) === line) ? undefined : line;
}

/**
 * The whole objects in a line that holds more than one, or one among rubbish. Works from the end: each time the longest
 * stretch that begins like a line and is one, and where there is none, what begins last is given up.
 */
function partsOf(record: Buffer, isPart: (value: TypedObject) => boolean): TypedObject[] {
  const parts: TypedObject[] = [];
  // Of bytes read in vain, or a line of nothing but openings would take for ever.
  let budget = 8 * maxLineBytes;
  for (let end = record.length; end > 0 && budget > 0; ) {
    let isFound = false;
    for (let start = record.indexOf(opening); start !== -1 && start < end && budget > 0 && !isFound; ) {
      const part = parseObject(record.subarray(start, end));
      isFound = part !== undefined && isPart(part);
      if (part && isFound) {
        parts.unshift(part);
        end = start;
      } else {
        budget -= end - start;
        start = record.indexOf(opening, start + 1);
      }
    }
    if (!isFound) end = record.lastIndexOf(opening, end - 1);
  }
  return parts;
}

const opening = Buffer.from('{"type":');

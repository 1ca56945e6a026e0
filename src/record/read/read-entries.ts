// The bytes of a session file in, its header and entries out. Promises: one bad line never stops the rest, memory is
// bounded by one line beyond what is returned, and nothing here depends on how the bytes are cut up.

import { GalleyError } from "../../base/errors.js";
import type { TypedObject } from "../../base/ndjson.js";
import type { SessionEntry, SessionHeader } from "../../protocol/entries.js";
import { type LinkProblem, linkEntries } from "./link-entries.js";
import { currentVersion, migrateEntries } from "./migrate-entries.js";
import { type LineProblem, maxLineBytes, originalOf, parseText, salvage } from "./parse-line.js";
import { type Line, LineSplitter } from "./split-lines.js";

export type ReadProblemKind = LineProblem | "oversized" | "extra_header" | LinkProblem;

export interface ReadProblem {
  readonly kind: ReadProblemKind;
  /** As an editor counts: the header is on line 1. */
  readonly line: number;
}

/** The entries are in the form of `currentVersion`, unless the file is newer than that. */
export interface ReadSession {
  readonly header: SessionHeader;
  /** What the file says. */
  readonly version: number;
  readonly entries: readonly SessionEntry[];
  /** The exact text of entries that we would write differently, so that a copy of the file keeps them to the byte. */
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
  readonly #lines: LineSplitter;
  readonly #entries: TypedObject[] = [];
  readonly #lineOf: number[] = [];
  readonly #originals = new Map<TypedObject, string>();
  readonly #problems: ReadProblem[] = [];
  #problemCount = 0;
  #header: TypedObject | undefined;
  #version = 1;

  /** The path is for the error message. */
  constructor(path: string, maxBytes = maxLineBytes) {
    this.#path = path;
    this.#lines = new LineSplitter(maxBytes);
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
    const isWhole = rest.text !== undefined && parseText(rest.text) !== undefined;
    if (isWhole) this.#take(rest);
    if (!this.#header) throw this.#refusal();
    const header = this.#header as TypedObject as SessionHeader;
    const migrated = migrateEntries(this.#version, this.#entries, this.#lineOf);
    const placed = [...this.#originals].map(([entry, text]) => ({
      entry,
      text,
      id: entry.id,
      parentId: entry.parentId,
    }));
    const entries = linkEntries(migrated, this.#lineOf, (kind, index) => this.#report(kind, this.#lineOf[index] ?? 0));
    // An entry that was given another place no longer is what its line says.
    const kept = placed.filter(({ entry, id, parentId }) => entry.id === id && entry.parentId === parentId);
    const originals = new Map(kept.map(({ entry, text }) => [entry as object as SessionEntry, text]));
    return {
      header,
      version: (header.version ?? 1) as number,
      entries,
      originals,
      problems: this.#problems,
      problemCount: this.#problemCount,
      tail: { bytes: rest.bytes, isWhole },
      length,
    };
  }

  #take({ text, damaged, number }: Line): void {
    if (text === undefined) {
      if (!this.#header) throw this.#refusal();
      return this.#report("oversized", number);
    }
    const line = number === 0 && text.startsWith(byteOrderMark) ? text.slice(1) : text;
    const parsed = damaged ? undefined : parseText(line);
    if (parsed) return this.#takeValue(parsed.value, number, originalOf(parsed, line));
    const { values, problem } = salvage(line, damaged, this.#isPart);
    if (problem) this.#report(problem, number);
    for (const value of values) this.#takeValue(value, number, undefined);
    if (!this.#header) throw this.#refusal();
  }

  #takeValue(value: TypedObject, number: number, original: string | undefined): void {
    if (!this.#header) return this.#open(value);
    if (value.type === "session") return this.#report("extra_header", number);
    this.#entries.push(value);
    this.#lineOf.push(number);
    if (original !== undefined) this.#originals.set(value, original);
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

  /** Whether an object found inside a damaged line is a line of its own, and not a piece of one. */
  readonly #isPart = (value: TypedObject): boolean => {
    if (value.type === "session") return !this.#header;
    if (typeof value.timestamp !== "string") return false;
    const { id, parentId } = value;
    return this.#version < 2 || (typeof id === "string" && (parentId === null || typeof parentId === "string"));
  };

  #report(kind: ReadProblemKind, line: number): void {
    this.#problemCount++;
    if (this.#problems.length < maxProblems) this.#problems.push({ kind, line: line + 1 });
  }

  #refusal(): GalleyError {
    return new GalleyError("file_refused", `Not a session file: ${this.#path}`);
  }
}

const byteOrderMark = "\ufeff";

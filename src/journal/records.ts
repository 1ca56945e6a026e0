// The lines of a journal: `[checksum, record]`, each ended by a newline. Reading stops at the first line that is
// incomplete or has a wrong checksum; nothing after it counts.

import { sha256Of } from "../base/digest.js";
import type { FileType } from "../base/file-type.js";
import { isObject } from "../base/json.js";
import type { ChangeOwner } from "../plans/change-writer.js";

/**
 * A change of one path. A rename is a creation and a deletion; `respell` is a rename between two spellings that the
 * directory takes for the same name.
 */
export interface StoredOp {
  readonly kind: "modify" | "create" | "delete" | "respell";
  readonly path: string;
  /** The old spelling. */
  readonly from?: string;
  readonly shownPath: string;
  /** The `contentHash`; null where there is nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** What is left, and what was found; default: a regular file. */
  readonly type?: FileType;
  readonly beforeType?: FileType;
  /** The permission bits that were found; null where there is nothing. */
  readonly beforeMode: number | null;
  /** The permission bits that a directory gets in the end. */
  readonly afterMode?: number;
  /**
   * Paths beside the target: the temporary file with the new bytes, and the backup of the old file. Where the directory
   * of the target goes or comes in step 6, they are in the nearest directory above it that stays.
   */
  readonly staged: string | null;
  readonly backup: string | null;
}

export interface BeginRecord {
  readonly type: "begin";
  /** 2: with links or directories, which an earlier galley would take for files. */
  readonly version: 1 | 2;
  readonly txid: string;
  readonly root: string;
  readonly ops: readonly StoredOp[];
  /** Directories that had to be made, the outermost first. */
  readonly dirs: readonly string[];
  /** Removed in step 8 if they are empty. */
  readonly emptied?: readonly string[];
  readonly undoRecord: string | null;
  readonly owner?: ChangeOwner;
}

export type JournalRecord =
  | BeginRecord
  | { readonly type: "commit" }
  | { readonly type: "undo" }
  | { readonly type: "end"; readonly result: "applied" | "reverted"; readonly foreign: readonly string[] };

const openingLength = '["0123456789abcdef",'.length;

export function encodeRecord(record: object): Uint8Array {
  return Buffer.from(`${lineOf(JSON.stringify(record))}\n`);
}

/** The records up to the first invalid line, and how many bytes they take. */
export function decodeRecords(bytes: Uint8Array): { records: unknown[]; soundBytes: number } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const records: unknown[] = [];
  let soundBytes = 0;
  for (let end = buffer.indexOf(10); end !== -1; end = buffer.indexOf(10, soundBytes)) {
    const record = decodeLine(buffer.toString("utf8", soundBytes, end));
    if (record === undefined) break;
    records.push(record);
    soundBytes = end + 1;
  }
  return { records, soundBytes };
}

function decodeLine(line: string): unknown {
  const text = line.slice(openingLength, -1);
  if (line !== lineOf(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // galley never writes a right checksum for text that is not JSON
  }
}

function lineOf(text: string): string {
  return `["${sha256Of(text).slice(0, 16)}",${text}]`;
}

/** The last record of a journal decides what recovery has to do. */
export interface JournalState {
  readonly begin: BeginRecord;
  readonly phase: "begun" | "committed" | "undoing" | "ended";
  readonly end?: Extract<JournalRecord, { type: "end" }>;
}

/** Undefined without a valid `begin`: then nothing was done. */
export function stateOf(records: readonly unknown[]): JournalState | undefined {
  const [begin, ...rest] = records;
  if (!isObject(begin) || begin.type !== "begin" || !isKnown(begin.version)) return undefined;
  // The checksum proves that galley wrote the record, so its shape is known.
  let state: JournalState = { begin: begin as unknown as BeginRecord, phase: "begun" };
  for (const record of rest as JournalRecord[]) {
    if (record.type === "commit") state = { ...state, phase: "committed" };
    else if (record.type === "undo") state = { ...state, phase: "undoing" };
    else if (record.type === "end") state = { ...state, phase: "ended", end: record };
  }
  return state;
}

export function isKnown(version: unknown): boolean {
  return version === 1 || version === 2;
}

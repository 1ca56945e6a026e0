// A plan: the exact bytes that an action would write, file by file, and the text for the model afterwards. It is data, so
// it can be stored in a file, restored after a restart and applied as it was shown.

import { GalleyError } from "../base/errors.js";
import { contentHash, type FileType, isFileType, usualType } from "../base/file-type.js";
import { isObject } from "../base/json.js";
import type { FileChangeKind, FileStamp } from "../protocol/pending.js";

/** A file that a preview depends on. */
export interface SeenFile {
  /** Absolute and canonical. */
  readonly path: string;
  /** The file when the preview was made; its `path` is the one that people and models see. */
  readonly stamp: FileStamp;
}

export interface PlannedChange extends SeenFile {
  readonly kind: FileChangeKind;
  /**
   * What it leaves there; of a delete, what was there. Default: a regular file. A path has one change: where a file
   * becomes a link or a directory, this differs from the type of the stamp.
   */
  readonly type?: FileType;
  /** The new path of a rename, absolute. */
  readonly to?: string;
  /** Empty for a file that is created, and for a directory; of a link its target. */
  readonly before: Uint8Array;
  /** Empty for a file that is deleted, and for a directory; of a link its target. */
  readonly after: Uint8Array;
  /** Permission bits of what is created or, where given, restored; default: as they are. */
  readonly mode?: number;
  /** Set on the new file; default: now. */
  readonly mtimeMs?: number;
  /** How many of the plan's units it has; absent where that is not known. */
  readonly units?: number;
  /** Only the user's own word writes it: it decides what runs next. */
  readonly protected?: true;
  /** The shown path of a file that the same plan deletes and that has the same bytes. Both are changes of their own. */
  readonly renamedFrom?: string;
}

export interface Plan {
  readonly changes: readonly PlannedChange[];
  /** What the model is told when all of it was applied. */
  readonly applied: { readonly text: string; readonly details?: unknown };
  readonly undoes?: readonly string[];
  readonly kind?: "undo" | "redo";
  /** What its label counts, in the singular: `replacement`. Default: hunks. */
  readonly unit?: string;
  /** A command did this in the staged view. Its git data is written with the rest. */
  readonly fromCommand?: true;
}

/** What was there before the change; undefined where there was nothing. */
export function typeBefore({ stamp }: Pick<PlannedChange, "stamp">): FileType | undefined {
  return stamp.exists ? (stamp.type ?? usualType) : undefined;
}

/** What the change leaves there; undefined where it leaves nothing. */
export function typeAfter({ kind, type = usualType }: Pick<PlannedChange, "kind" | "type">): FileType | undefined {
  return kind === "delete" ? undefined : type;
}

/** Neither side is anything but a regular file: only such a change has hunks. */
export function isOfFiles(change: Pick<PlannedChange, "stamp" | "kind" | "type">): boolean {
  return (typeBefore(change) ?? "file") === "file" && (typeAfter(change) ?? "file") === "file";
}

/** For plans of many files: a plan never changes, so each is indexed once. */
const indexes = new WeakMap<readonly PlannedChange[], ReadonlyMap<string, PlannedChange>>();

export function changesByPath({ changes }: Pick<Plan, "changes">): ReadonlyMap<string, PlannedChange> {
  const known = indexes.get(changes);
  if (known) return known;
  const made = new Map<string, PlannedChange>();
  for (const change of changes) if (!made.has(change.path)) made.set(change.path, change);
  indexes.set(changes, made);
  return made;
}

/** What was read at a path. */
export interface FoundContent {
  /** Of a link its target; none of a directory. */
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly type?: FileType | undefined;
}

/** The stamp of bytes that were read, or of a file that is not there. */
export function stampOf(path: string, found: FoundContent | undefined): FileStamp {
  if (!found) return { path, exists: false, size: 0, sha256: "", mode: 0 };
  const { bytes, mode, type = usualType } = found;
  const sha256 = contentHash(type, bytes);
  return { path, exists: true, size: bytes.length, sha256, mode, ...(type === usualType ? {} : { type }) };
}

/**
 * One plan for several that were made on top of each other, the oldest first: each file goes from what it was before
 * the first to what the last leaves. Throws `stale_preview` if one was not made for what the one below it leaves: it
 * would overwrite a change without a decision.
 */
export function combinePlans(plans: readonly Pick<Plan, "changes">[]): readonly PlannedChange[] {
  const byPath = new Map<string, PlannedChange>();
  for (const change of plans.flatMap((plan) => plan.changes)) {
    const earlier = byPath.get(change.path);
    byPath.set(change.path, earlier ? follow(earlier, change) : change);
  }
  return [...byPath.values()];
}

/** A file that one plan creates and another deletes: nothing is written, but the file must still not exist. */
export function isOnlySeen({ kind, stamp }: PlannedChange): boolean {
  return kind === "delete" && !stamp.exists;
}

function follow(first: PlannedChange, second: PlannedChange): PlannedChange {
  if (first.kind === "rename" || second.kind === "rename")
    throw new GalleyError(
      "invalid_argument",
      `A rename of ${first.stamp.path} cannot be combined with another change.`,
    );
  if (!isMadeFor(second, first))
    throw new GalleyError("stale_preview", `The plan for ${second.stamp.path} was made for other content.`, {
      details: { files: [second.stamp.path] },
    });
  const { path, stamp, before } = first;
  const isSameType = typeAfter(first) === typeAfter(second);
  const { after, mode = isSameType ? first.mode : undefined, mtimeMs, renamedFrom } = second;
  const guard = first.protected || second.protected ? { protected: true as const } : {};
  const start = { path, stamp, before, after, ...guard };
  if (second.kind === "delete") return { kind: "delete", ...start, ...typeMember(stamp.type) };
  return { kind: stamp.exists ? "modify" : "create", ...start, ...typeMember(second.type), mode, mtimeMs, renamedFrom };
}

/** Regular files carry no type, so that plans of them look as they always did. */
export function typeMember(type: FileType | undefined): { type?: FileType } {
  return type === undefined || type === usualType ? {} : { type };
}

export function isMadeFor(upper: PlannedChange, lower: PlannedChange): boolean {
  const left = typeAfter(lower);
  if (typeBefore(upper) !== left) return false;
  return left === undefined || Buffer.compare(upper.before, lower.after) === 0;
}

/** Shorter pieces would take longer to write than to make. */
const minPieceLength = 256 * 1024;
/** Bytes; a multiple of three. */
const encodedTogether = 192 * 1024;

/**
 * The stored form of a plan, in pieces, so that a long one is never in memory as text. It is JSON, with the long parts
 * joined by hand: base64 needs no escapes.
 */
export function* encodePlan(plan: Plan): Generator<string, void, undefined> {
  let piece = "";
  for (const part of partsOf(plan)) {
    piece += part;
    if (piece.length < minPieceLength) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function* partsOf({ changes, ...rest }: Plan): Generator<string, void, undefined> {
  const { applied, undoes, kind, unit, fromCommand } = rest;
  // An earlier galley would take links and directories for files, and does not know what is protected.
  const isNew = fromCommand || changes.some(({ type, stamp, ...change }) => type || stamp.type || change.protected);
  yield `${openObject({ version: isNew ? 2 : 1, applied, undoes, kind, unit, fromCommand })}"changes":[`;
  for (const [index, { before, after, ...rest }] of changes.entries()) {
    yield `${index > 0 ? "," : ""}${openObject(rest)}"before":"`;
    yield* base64Parts(before);
    yield '","after":"';
    yield* base64Parts(after);
    yield '"}';
  }
  yield "]}";
}

/** The JSON of an object with members, to which more can be added. */
function openObject(value: object): string {
  return `${JSON.stringify(value).slice(0, -1)},`;
}

/** Throws `invalid_argument` for what is not a plan of ours: it may have been cut, or written by a later version. */
export function decodePlan(text: string): Plan {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new GalleyError("invalid_argument", "The plan cannot be read: it is not JSON.", { cause });
  }
  if (
    !isObject(value) ||
    (value.version !== 1 && value.version !== 2) ||
    !Array.isArray(value.changes) ||
    !isObject(value.applied)
  )
    throw new GalleyError("invalid_argument", "The plan cannot be read: it has an unknown form.");
  const { text: appliedText, details } = value.applied;
  if (typeof appliedText !== "string") throw new GalleyError("invalid_argument", "The plan has no text.");
  return {
    changes: value.changes.map(decodeChange),
    applied: { text: appliedText, details },
    ...(value.undoes === undefined ? {} : { undoes: undoneIn(value.undoes) }),
    ...(value.kind === "undo" || value.kind === "redo" ? { kind: value.kind } : {}),
    ...(typeof value.unit === "string" ? { unit: value.unit } : {}),
    ...(value.fromCommand === true ? { fromCommand: true } : {}),
  };
}

/** Earlier versions wrote one id. */
export function undoneIn(undoes: unknown): string[] {
  return [undoes].flat().filter((id) => typeof id === "string");
}

function decodeChange(value: unknown): PlannedChange {
  if (!isObject(value) || !isKind(value.kind) || typeof value.path !== "string" || !isStamp(value.stamp))
    throw new GalleyError("invalid_argument", "The plan has a change of an unknown form.");
  const { kind, path, to, stamp, before, after, mode, mtimeMs, units, type, renamedFrom } = value;
  if (type !== undefined && !isFileType(type))
    throw new GalleyError("invalid_argument", `The plan has an unknown type for ${stamp.path}.`);
  if (typeof before !== "string" || typeof after !== "string" || (kind === "rename" && typeof to !== "string"))
    throw new GalleyError("invalid_argument", `The plan is incomplete for ${stamp.path}.`);
  return {
    kind,
    path,
    stamp,
    before: bytesOf(before, stamp.path),
    after: bytesOf(after, stamp.path),
    ...typeMember(type),
    ...(typeof to === "string" ? { to } : {}),
    ...(typeof mode === "number" ? { mode } : {}),
    ...(typeof mtimeMs === "number" ? { mtimeMs } : {}),
    ...(typeof units === "number" ? { units } : {}),
    ...(value.protected === true ? { protected: true } : {}),
    ...(typeof renamedFrom === "string" ? { renamedFrom } : {}),
  };
}

/** Node reads past what is no base64; here it means that the bytes are not those that were shown. */
function bytesOf(text: string, path: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") === text) return bytes;
  throw new GalleyError("invalid_argument", `The plan has damaged bytes for ${path}.`);
}

function isKind(value: unknown): value is FileChangeKind {
  return value === "modify" || value === "create" || value === "delete" || value === "rename";
}

function isStamp(value: unknown): value is FileStamp {
  if (!isObject(value)) return false;
  const { path, exists, size, sha256: hash, mode, type } = value;
  return (
    (type === undefined || isFileType(type)) &&
    typeof path === "string" &&
    typeof exists === "boolean" &&
    typeof size === "number" &&
    typeof hash === "string" &&
    typeof mode === "number"
  );
}

/** Only the last part may have to be filled up: three bytes become four characters. */
function* base64Parts({ buffer, byteOffset, length }: Uint8Array): Generator<string, void, undefined> {
  const bytes = Buffer.from(buffer, byteOffset, length);
  for (let at = 0; at < length; at += encodedTogether) yield bytes.toString("base64", at, at + encodedTogether);
}

// Opens a session file: takes its lock, now or with the first line to write, reads it in pieces, and leaves it ready for
// that line. Never changes a file
// that is no session, is newer than this program, or is open in another process.

import * as fs from "node:fs";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { acquireLock, type FileLock, lockHolder } from "../../base/path-lock.js";
import { type ReadProblem, type ReadSession, SessionReader, versionProblem } from "../read/read-entries.js";
import { writeAll } from "./append-file.js";
import {
  type FileStatus,
  nodeDisk,
  O_APPEND,
  O_CREAT,
  O_RDONLY,
  O_RDWR,
  realPath,
  type SessionDisk,
} from "./session-disk.js";

export interface LoadOptions {
  readonly clock: Clock;
  readonly disk?: SessionDisk;
  /** Takes no lock and writes nothing. */
  readonly isReadOnly?: boolean;
  /** The lock is left to the first entry: `later` takes it. */
  readonly locksLate?: boolean;
}

/** What a writer holds. */
export interface WriteAccess {
  readonly file: number;
  readonly lock: FileLock;
  /** Bytes in the file. */
  readonly length: number;
  /** The last line lacks its LF; it has to come before the next one. */
  readonly isOpenEnded: boolean;
}

export interface LoadedSession {
  readonly kind: "session";
  /** The real path. */
  readonly path: string;
  readonly session: ReadSession;
  /** Undefined when the file is only to be read, or not to be written yet; `readOnly` says why. */
  readonly access: WriteAccess | undefined;
  /** Takes the lock, or says why this file can no longer be gone on with. Another process may use it at the moment. */
  readonly later?: LaterAccess | undefined;
  readonly readOnly: ReadOnly | undefined;
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

export type LaterAccess = (warn: (text: string) => void) => Promise<WriteAccess | { readonly problem: string }>;

/** `absent` also stands for an empty file: there is nothing to read, and a new session may be put there. */
export type LoadResult = LoadedSession | { readonly kind: "absent"; readonly path: string; readonly exists: boolean };

/** Throws `file_refused` for what is no session, and for what cannot be read at all, with what the system says. */
export async function loadSession(path: string, options: LoadOptions): Promise<LoadResult> {
  try {
    return await load(path, options);
  } catch (error) {
    if (error instanceof GalleyError || systemCode(error) === undefined) throw error;
    throw new GalleyError("file_refused", `Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Without the name of the call, and without the path, which stands before it. */
function reasonOf(error: unknown): string {
  if (systemCode(error) === "ERR_INVALID_ARG_VALUE") return "the path holds a NUL character";
  return messageOf(error).replace(/, \w+(?: '.*)?$/s, "");
}

async function load(path: string, options: LoadOptions): Promise<LoadResult> {
  const disk = options.disk ?? nodeDisk;
  const real = realPath(path);
  const bytes = regularFileBytes(real, path);
  if (!bytes) return { kind: "absent", path: real, exists: bytes === 0 };
  if (bytes > suspiciousBytes) await refuseUnlessItFits(bytes, path);

  const isLate = options.locksLate === true && !options.isReadOnly;
  const { lock, holder } = await lockFor(real, options);
  let file: number | undefined;
  let access: WriteAccess | undefined;
  try {
    const opened = openFile(disk, real, lock !== undefined || isLate);
    file = opened.file;
    const session = await readAll(disk, file, path);
    const readOnly = whyReadOnly(path, { ...session, ...opened, isWanted: options.isReadOnly === true, holder });
    const warnings = describeProblems(path, session);
    if (isLate && (!readOnly || readOnly.code === "in_use")) {
      const later = laterAccess(path, { disk, real, session, clock: options.clock, seen: disk.status(opened.file) });
      return { kind: "session", path: real, session, access, later, readOnly, warnings };
    }
    if (lock && !readOnly) {
      closeToOthers(disk, file, path, warnings);
      access = { file, lock, ...(await mendEnd(disk, file, real, session, warnings)) };
    }
    return { kind: "session", path: real, session, access, readOnly, warnings };
  } finally {
    if (!access) {
      if (file !== undefined) disk.close(file);
      await lock?.release();
    }
  }
}

interface Late {
  readonly disk: SessionDisk;
  readonly real: string;
  readonly session: ReadSession;
  readonly clock: Clock;
  /** The file that was read. */
  readonly seen: FileStatus;
}

function laterAccess(path: string, { disk, real, session, clock, seen }: Late): LaterAccess {
  return async (warn) => {
    const { lock, holder } = await lockFor(real, { clock });
    if (!lock) return { problem: inUseText(path, holder?.pid) };
    let file: number | undefined;
    let access: WriteAccess | undefined;
    try {
      const now = disk.statusAt(real);
      if (now?.inode !== seen.inode || now.device !== seen.device || now.bytes !== session.length)
        return { problem: changedText(path) };
      file = disk.open(real, O_RDWR | O_APPEND);
      const warnings: string[] = [];
      closeToOthers(disk, file, path, warnings);
      access = { file, lock, ...(await mendEnd(disk, file, real, session, warnings)) };
      warnings.forEach(warn);
      return access;
    } finally {
      if (!access) {
        if (file !== undefined) disk.close(file);
        await lock.release();
      }
    }
  };
}

export function changedText(path: string): string {
  return `Session ${path} was changed by another program`;
}

interface Holder {
  readonly pid: number | undefined;
}

/** Without a lock and a holder it is free, or not asked for. */
async function lockFor(
  real: string,
  { clock, isReadOnly, locksLate }: LoadOptions,
): Promise<{ lock?: FileLock | undefined; holder?: Holder | undefined }> {
  if (isReadOnly) return {};
  if (locksLate) return { holder: await lockHolder(real) };
  const attempt = await acquireLock(real, clock);
  return attempt.lock ? { lock: attempt.lock } : { holder: { pid: attempt.holderPid } };
}

function whyReadOnly(
  path: string,
  found: Pick<ReadSession, "version"> & {
    isWanted: boolean;
    holder: Holder | undefined;
    isWritable: boolean;
  },
): ReadOnly | undefined {
  const newer = versionProblem(found.version);
  if (newer !== undefined) return { code: "newer", text: newer };
  if (found.isWanted) return { code: "wanted", text: `${path} was opened for reading` };
  const { holder } = found;
  if (holder) return { code: "in_use", pid: holder.pid, text: inUseText(path, holder.pid) };
  return found.isWritable ? undefined : { code: "not_writable", text: `${path} cannot be written by this user` };
}

export function inUseText(path: string, pid: number | undefined): string {
  return `Session ${path} is in use by another galley${pid === undefined ? "" : ` (pid ${pid})`}`;
}

/** Why nothing can be written to a session's file here. */
export interface ReadOnly {
  readonly code: "newer" | "wanted" | "in_use" | "not_writable";
  /** Of the process that uses it, if that is known. */
  readonly pid?: number | undefined;
  readonly text: string;
}

/** Undefined when there is nothing. A directory, a pipe or a device is not even opened. */
function regularFileBytes(real: string, path: string): number | undefined {
  const status = fs.statSync(real, { throwIfNoEntry: false });
  if (status && !status.isFile()) throw new GalleyError("file_refused", `Not a session file: ${path}`);
  return status?.size;
}

const suspiciousBytes = 256 * 1024 * 1024;

/** A session takes twice its size in memory: an error is better than the end of the process. */
async function refuseUnlessItFits(bytes: number, path: string): Promise<void> {
  const { getHeapStatistics } = await import("node:v8");
  if (bytes * 2 < getHeapStatistics().heap_size_limit) return;
  const size = `${Math.round(bytes / 2 ** 20)} MiB`;
  throw new GalleyError("file_refused", `Session file is too large to load into memory: ${path} (${size})`);
}

function openFile(disk: SessionDisk, path: string, isWritable: boolean): { file: number; isWritable: boolean } {
  if (!isWritable) return { file: disk.open(path, O_RDONLY), isWritable: false };
  try {
    return { file: disk.open(path, O_RDWR | O_APPEND), isWritable: true };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { file: disk.open(path, O_RDONLY), isWritable: false };
  }
}

/** This user may not write there, so that trying again would not help. */
export function isForbidden(error: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes(systemCode(error) ?? "");
}

const chunkBytes = 1024 * 1024;

/** Reads the next piece while one is parsed. */
async function readAll(disk: SessionDisk, file: number, path: string): Promise<ReadSession> {
  const reader = new SessionReader(path);
  let [current, other] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let position = 0;
  let reading = disk.read(file, current, position);
  try {
    for (let bytes = await reading; bytes > 0; bytes = await reading) {
      position += bytes;
      reading = disk.read(file, other, position);
      reader.push(current.subarray(0, bytes));
      [current, other] = [other, current];
    }
    return reader.end();
  } finally {
    await reading.catch(() => 0); // the file is closed next, and what is under way must not outlive that
  }
}

function closeToOthers(disk: SessionDisk, file: number, path: string, warnings: string[]): void {
  if (process.platform === "win32" || (disk.status(file).mode & 0o077) === 0) return;
  try {
    disk.changeMode(file, 0o600);
    warnings.push(`${path} was accessible to other users; it is now private`);
  } catch (error) {
    warnings.push(`${path} is accessible to other users, and its mode could not be changed: ${systemCode(error)}`);
  }
}

/** A torn last line goes to `<file>.tail`. If that fails it stays, and the next line begins with an LF instead. */
async function mendEnd(
  disk: SessionDisk,
  file: number,
  path: string,
  { length, tail }: Pick<ReadSession, "length" | "tail">,
  warnings: string[],
): Promise<{ length: number; isOpenEnded: boolean }> {
  if (tail.bytes === 0 || tail.isWhole) return { length, isOpenEnded: tail.isWhole };
  const start = length - tail.bytes;
  try {
    await saveTail(disk, file, `${path}.tail`, start);
    disk.truncate(file, start);
  } catch (error) {
    warnings.push(`The torn last line of ${path} could not be moved away: ${systemCode(error) ?? error}`);
    return { length, isOpenEnded: true };
  }
  warnings.push(`The last line of ${path} was torn; its ${tail.bytes} bytes are in ${path}.tail`);
  return { length: start, isOpenEnded: false };
}

async function saveTail(disk: SessionDisk, from: number, path: string, start: number): Promise<void> {
  const to = disk.open(path, O_RDWR | O_APPEND | O_CREAT);
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    if (disk.status(to).bytes > 0) writeAll(disk, to, Buffer.from("\n")); // an earlier one stays readable, too
    for (let position = start; ; ) {
      const bytes = await disk.read(from, buffer, position);
      if (bytes === 0) break;
      writeAll(disk, to, buffer.subarray(0, bytes));
      position += bytes;
    }
    await disk.sync(to);
  } finally {
    disk.close(to);
  }
}

/** Sentences for the user. */
function describeProblems(path: string, { problems, problemCount }: ReadSession): string[] {
  const lines = (kinds: readonly ReadProblem["kind"][]) =>
    problems.filter(({ kind }) => kinds.includes(kind)).map(({ line }) => line);
  const sentences = ([...sentenceByKind] as const).flatMap(([sentence, kinds]) => {
    const found = lines(kinds);
    return found.length === 0
      ? []
      : [`${path}: ${sentence} (line ${found.slice(0, 10).join(", ")}${found.length > 10 ? ", …" : ""})`];
  });
  const more = problemCount - problems.length;
  return more > 0 ? [...sentences, `${path}: ${more} more problems like these`] : sentences;
}

const sentenceByKind = new Map<string, readonly ReadProblem["kind"][]>([
  ["damaged lines were skipped", ["malformed", "oversized", "extra_header"]],
  ["damaged lines were read in part", ["fused", "bad_utf8"]],
  ["entries with a missing or repeated id got a new one", ["no_id", "duplicate_id"]],
  ["entries whose parent is missing were attached to the entry before them", ["missing_parent", "cycle"]],
]);

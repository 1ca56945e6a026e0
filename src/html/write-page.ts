// Writes an export to the disk: piece by piece under a hidden name beside its target, closed to other users, and
// renamed when it is complete. An existing file is replaced only if it is an earlier export, or if the caller says so.
// A failed or aborted write leaves everything as it was.

import { constants, promises as fs, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import { makeDirectories, realPath } from "../record/store/session-disk.js";
import { exportMarker, markerBytes } from "./page.js";

export interface WriteExportRequest {
  /** Absolute and canonical: the caller has checked that it may be written. `typedPath` makes one from user input. */
  readonly path: string;
  /** For the sentences; the path without it. */
  readonly displayPath?: string;
  readonly pieces: AsyncIterable<string>;
  /** Replaces whatever file is there. */
  readonly overwrite?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Throws `file_refused` for a path that must not or cannot be written, `file_changed` for a lost race. */
export async function writeExport(request: WriteExportRequest): Promise<{ path: string; bytes: number }> {
  const { path, displayPath = path } = request;
  throwIfAborted(request.signal);
  try {
    const firstMade = makeDirectories(dirname(path));
    try {
      return { path, bytes: await writeInto(await openDirectory(dirname(path)), request) };
    } catch (error) {
      if (firstMade !== undefined) await removeEmpty(dirname(path), firstMade);
      throw error;
    }
  } catch (error) {
    if (error instanceof GalleyError || systemCode(error) === undefined) throw error;
    const reason = messageOf(error).replace(/, \w+(?: '.*)?$/s, ""); // without the names of drafts
    throw new GalleyError("file_refused", `Cannot write ${displayPath}: ${reason}`, { cause: error });
  }
}

/** `galley-session-<name of the session file>.html`, or the id of a session without a file. */
export function exportName(session: { sessionFile?: string | undefined; sessionId: string }): string {
  const { sessionFile, sessionId } = session;
  return `galley-session-${sessionFile === undefined ? sessionId : basename(sessionFile, ".jsonl")}.html`;
}

/** A path that the user typed, which is the permission to write it: absolute, links followed. */
export function typedPath(path: string): string {
  return realPath(resolve(path));
}

/** Whether a file is an earlier export, by its first `markerBytes` bytes. */
export function beginsAsExport(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, markerBytes)).toString("latin1");
  return head.startsWith("<!doctype html>\n") && head.includes(exportMarker);
}

export function notAnExport(displayPath: string): GalleyError {
  return new GalleyError("file_refused", `${displayPath} exists and is not an earlier export; it is left as it is`);
}

export function changedMeanwhile(displayPath: string): GalleyError {
  return new GalleyError(
    "file_changed",
    `${displayPath} was changed by another program meanwhile; nothing was written`,
  );
}

interface Directory {
  readonly handle: fs.FileHandle;
  /** A path to the very directory that was opened, where the system supports it. */
  readonly path: string;
}

/** Fails if a component of the path has become a link since the path was checked. */
async function openDirectory(path: string): Promise<Directory> {
  const handle = await fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const pinned = `/proc/self/fd/${handle.fd}`;
  const isPinned = process.platform === "linux";
  const real = await fs.realpath(isPinned ? pinned : path).catch(() => "");
  if (real === path) return { handle, path: isPinned ? pinned : path };
  await handle.close();
  throw new GalleyError("file_changed", `${path} now resolves to a different path.`);
}

async function writeInto(directory: Directory, request: WriteExportRequest): Promise<number> {
  const { path, displayPath = path } = request;
  const target = join(directory.path, basename(path));
  let draft: string | undefined;
  try {
    const before = await replaceable(target, request);
    // A name that searches skip.
    draft = join(directory.path, `.galley-export.${await randomName()}-0.new`);
    const bytes = await fill(draft, request);
    throwIfAborted(request.signal);
    if (!isSame(await lookAt(target), before)) throw changedMeanwhile(displayPath);
    if (before) await fs.rename(draft, target);
    else await appear(draft, target, displayPath);
    await directory.handle.sync().catch(() => {}); // a page whose name is lost can be made again
    return bytes;
  } finally {
    if (draft !== undefined) await fs.rm(draft, { force: true });
    await directory.handle.close();
  }
}

/** The file that is there and may be replaced; undefined where there is none. */
async function replaceable(target: string, { path, displayPath = path, overwrite = false }: WriteExportRequest) {
  const status = await lookAt(target);
  if (!status) return undefined;
  if (!status.isFile()) throw new GalleyError("file_refused", `Cannot write ${displayPath}: it is not a file`);
  if (!overwrite && !(await isExport(target))) throw notAnExport(displayPath);
  return status;
}

async function isExport(target: string): Promise<boolean> {
  const file = await fs.open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(markerBytes), 0, markerBytes, 0);
    return beginsAsExport(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function lookAt(path: string): Promise<Stats | undefined> {
  return fs.lstat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
}

function isSame(now: Stats | undefined, before: Stats | undefined): boolean {
  return now?.ino === before?.ino && now?.dev === before?.dev && now?.mtimeMs === before?.mtimeMs;
}

/** In writes of some size: a page has many small pieces. */
const batchLength = 256 * 1024;

async function fill(draft: string, { pieces, signal }: WriteExportRequest): Promise<number> {
  const file = await fs.open(draft, "wx", 0o600);
  try {
    let batch = "";
    let bytes = 0;
    const flush = async () => {
      throwIfAborted(signal);
      const buffer = Buffer.from(batch);
      for (let at = 0; at < buffer.length; ) at += (await file.write(buffer, at)).bytesWritten;
      bytes += buffer.length;
      batch = "";
    };
    for await (const piece of pieces) {
      batch += piece;
      if (batch.length >= batchLength) await flush();
    }
    await flush();
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Gives a new file its name unless another program took it meanwhile. */
async function appear(draft: string, target: string, displayPath: string): Promise<void> {
  try {
    await fs.link(draft, target).catch(async (error: unknown) => {
      if (systemCode(error) === "EEXIST") throw error;
      // No hard links here: take the name with an empty file of our own, and replace that one.
      await (await fs.open(target, "wx", 0o600)).close();
      await fs.rename(draft, target);
    });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    throw new GalleyError("file_changed", `${displayPath} was made by another program meanwhile; nothing was written`);
  }
}

async function randomName(): Promise<string> {
  const { randomBytes } = await import("node:crypto");
  return randomBytes(16).toString("hex");
}

/** From the deepest up to the first that was made here; one that is in use by now stays. */
async function removeEmpty(deepest: string, first: string): Promise<void> {
  for (let path = deepest; path.length >= first.length; path = dirname(path)) await fs.rmdir(path).catch(() => {}); // not empty, or gone
}

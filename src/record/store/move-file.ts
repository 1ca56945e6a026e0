// Moves an open session file: the new file is complete and safe on the disk before the old one is removed.

import { dirname } from "node:path";
import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { acquireLock, type FileLock } from "../../base/path-lock.js";
import type { SessionHeader } from "../../protocol/entries.js";
import { AppendFile } from "./append-file.js";
import { createFile, type NewFile, replaceFile } from "./create-file.js";
import { inUseText } from "./load-session.js";
import type { SessionDisk } from "./session-disk.js";

interface OpenFile {
  readonly file: AppendFile;
  readonly lock: FileLock;
}

export interface MovePlace {
  readonly disk: SessionDisk;
  readonly clock: Clock;
  ensureDirectory(path: string): void;
  /** Moves the companion files; returns how to undo that. */
  moveCompanions(file: AppendFile): Promise<() => Promise<void>>;
}

/** The caller keeps the old descriptor and lock until this resolves, and releases them then. */
export async function moveFile(
  open: OpenFile,
  from: string,
  { path, header }: { path: string; header: SessionHeader },
  place: MovePlace,
): Promise<OpenFile> {
  const { disk, clock, ensureDirectory } = place;
  const content = { header, lines: withoutHeader(open.file, from) };
  const { isOpenEnded } = open.file;
  if (path === from) {
    const made = await replaceFile(disk, path, content, () => open.file.isOurs);
    if (!made) throw changed(from);
    return { file: new AppendFile(disk, path, { ...made, isOpenEnded }), lock: open.lock };
  }
  ensureDirectory(dirname(path));
  const attempt = await acquireLock(path, clock);
  if (!attempt.lock) throw new GalleyError("busy", inUseText(path, attempt.holderPid));
  try {
    const made = await createFile(disk, path, content);
    if (!made) throw new GalleyError("file_refused", `There is another file at ${path}`);
    await replaceOld(made, { from, path, file: open.file }, place);
    return { file: new AppendFile(disk, path, { ...made, isOpenEnded }), lock: attempt.lock };
  } catch (error) {
    await attempt.lock.release();
    throw error;
  }
}

/** From the moment when both are there to the moment when only the new one is. */
async function replaceOld(
  made: NewFile,
  { from, path, file }: { from: string; path: string; file: AppendFile },
  { disk, moveCompanions }: MovePlace,
): Promise<void> {
  let bringBack = async () => {};
  try {
    await disk.sync(made.file);
    await disk.syncDirectory(dirname(path));
    bringBack = await moveCompanions(file);
    if (!file.isOurs) throw changed(from);
    disk.unlink(from);
  } catch (error) {
    disk.close(made.file);
    try {
      disk.unlink(path);
    } catch {
      // A leftover copy does no harm; the first error is the one to report.
    }
    await bringBack();
    throw error;
  }
  await disk.syncDirectory(dirname(from)).catch(() => {}); // at worst the old name comes back beside the new one
}

async function* withoutHeader(file: AppendFile, path: string): AsyncGenerator<Buffer> {
  let header: Buffer[] | undefined = [];
  for await (const chunk of file.chunks()) {
    const end = header ? chunk.indexOf(0x0a) : -1;
    if (header) header.push(Buffer.from(end === -1 ? chunk : chunk.subarray(0, end)));
    if (header && end === -1) continue;
    if (header) checkHeader(Buffer.concat(header), path);
    header = undefined;
    yield Buffer.from(chunk.subarray(end + 1));
  }
}

/** What a damaged first line holds besides the header would be lost with it. */
function checkHeader(line: Buffer, path: string): void {
  try {
    JSON.parse(line.toString("utf8").replace(/^\ufeff/, ""));
  } catch (error) {
    throw new GalleyError("file_refused", `The first line of ${path} is damaged; it stays where it is`, {
      cause: error,
    });
  }
}

function changed(path: string): GalleyError {
  return new GalleyError("file_changed", `Session ${path} was changed by another program`);
}

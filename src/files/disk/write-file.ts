// Creates or replaces a file: writes a temporary file beside it, gives it the old file's owner and mode, syncs it,
// compares the old file with what the caller saw, and only then renames it. A failure before that leaves the old file
// and neither a temporary file nor a new directory. Between the last check and the rename there is a window of well
// under a millisecond in which another program's change would be lost.

import { basename, dirname, join } from "node:path";
import { throwIfAborted } from "../../base/abort.js";
import { systemCode } from "../../base/errors.js";
import { cannotWrite, fileChanged, ifAbsent, notLasting, parentChanged, writeFailure } from "../refusals.js";
import type { WriteOutcome, WriteRequest, WriteTarget } from "../workspace.js";
import type { Disk, DiskFile, DiskStat, PinnedDirectory } from "./disk.js";
import { type EnteredDirectory, enterDirectory } from "./enter-directory.js";
import { newTransaction, stagedName } from "./temp-names.js";

const chunkBytes = 4 * 1024 * 1024;

export async function replaceFile(disk: Disk, target: WriteTarget, request: WriteRequest): Promise<WriteOutcome> {
  throwIfAborted(request.signal);
  let entered: EnteredDirectory | undefined;
  try {
    entered = await enterDirectory(disk, dirname(target.path), target.displayPath);
    const outcome = await replaceIn(disk, entered.directory, { target, request });
    entered.keep();
    await entered.fsync().catch((error: unknown) => {
      throw notLasting(target.displayPath, error);
    });
    return outcome;
  } catch (error) {
    throw writeFailure(target.displayPath, error);
  } finally {
    await entered?.leave();
  }
}

interface Job {
  readonly target: WriteTarget;
  readonly request: WriteRequest;
}

async function replaceIn(disk: Disk, directory: PinnedDirectory, job: Job): Promise<WriteOutcome> {
  const name = basename(job.target.path);
  const path = join(directory.path, name);
  const before = await look(disk, path, job);
  const staged = join(directory.path, stagedName(name, await newTransaction(), 0));
  const file = await disk.create(staged, before || job.request.mode !== undefined ? 0o600 : 0o666);
  let isStaged = true;
  try {
    try {
      await fill(file, before, job);
    } finally {
      await file.close();
    }
    throwIfAborted(job.request.signal);
    if ((await directory.location()) !== dirname(job.target.path)) throw parentChanged(job.target.displayPath);
    const now = await look(disk, path, job);
    if (now?.identity !== before?.identity || !isAlike(now, before)) throw fileChanged(job.target.displayPath);
    if (before) {
      await disk.rename(staged, path);
      isStaged = false;
    } else isStaged = await appear(disk, { staged, path, job });
  } finally {
    // If this fails too, its name says what it is, and the first failure is the one to report.
    if (isStaged) await disk.unlink(staged).catch(() => undefined);
  }
  return { created: !before, ...(before && before.linkCount > 1 ? { hardlinkBroken: true } : {}) };
}

/** The old file, if it may be replaced. Throws if it may not, or if it is not what the caller saw. */
async function look(disk: Disk, path: string, { target, request }: Job): Promise<DiskStat | undefined> {
  const { expected, signal } = request;
  const changed = fileChanged(target.displayPath);
  const stat = await disk.lstat(path).catch(ifAbsent);
  if (stat === undefined) {
    if (expected === undefined ? target.kind !== "absent" : expected !== "absent") throw changed;
    return undefined;
  }
  if (stat.kind === "directory") throw cannotWrite(target.displayPath, "it is a directory");
  if (stat.kind !== "file") throw changed; // it was a file or nothing when it was resolved
  if (expected === undefined ? stat.identity !== target.identity : expected === "absent") throw changed;
  if (stat.mode & 0o4000) throw cannotWrite(target.displayPath, "it is a setuid file");
  if ((stat.mode & 0o222) === 0) throw cannotWrite(target.displayPath, "it is read-only");
  if (expected !== undefined && (await disk.digest(path, stat.identity, signal)) !== expected) throw changed;
  return stat;
}

/** Writes all bytes, sets owner, group and mode (the old file's unless another is asked for), and syncs. */
async function fill(file: DiskFile, old: DiskStat | undefined, { target, request }: Job): Promise<void> {
  for (let start = 0; start < request.bytes.length; start += chunkBytes) {
    throwIfAborted(request.signal);
    await file.append(request.bytes.subarray(start, start + chunkBytes));
  }
  if (old) {
    const own = await file.stat();
    if (own.uid !== old.uid || own.gid !== old.gid)
      await file.chown(old.uid, old.gid).catch((error: unknown) => {
        throw cannotWrite(target.displayPath, "its owner and group cannot be kept", error);
      });
    const mode = request.mode ?? old.mode;
    await file.chmod(mode); // after chown, which clears the setgid bit
    if (!isAlike(await file.stat(), { ...old, mode })) throw cannotWrite(target.displayPath, "its mode cannot be kept");
  } else if (request.mode !== undefined) await file.chmod(request.mode);
  await file.fsync();
}

function isAlike(a: DiskStat | undefined, b: DiskStat | undefined): boolean {
  return a?.mode === b?.mode && a?.uid === b?.uid && a?.gid === b?.gid;
}

/** Gives a new file its name unless it was taken meanwhile. Returns whether the temporary name still exists. */
async function appear(disk: Disk, { staged, path, job }: { staged: string; path: string; job: Job }): Promise<boolean> {
  const taken = (error: unknown): never => {
    throw systemCode(error) === "EEXIST" ? fileChanged(job.target.displayPath) : error;
  };
  try {
    await disk.link(staged, path);
    return true;
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(systemCode(error) ?? "")) taken(error);
  }
  // No hard links here: take the name with an empty file of our own, and replace that one.
  const placeholder = await disk.create(path, 0o600).catch(taken);
  await placeholder.close();
  try {
    await disk.rename(staged, path);
  } catch (error) {
    await disk.unlink(path);
    throw error;
  }
  return false;
}

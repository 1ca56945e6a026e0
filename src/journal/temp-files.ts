// Step 3 of an apply: the new bytes are written to temporary files beside the targets, each old file gets a backup name,
// and new directories are made. The targets stay untouched; after this step only names have to change. `removeTempFiles`
// reverses it, and is also step 8.

import { dirname } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { systemCode } from "../base/errors.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskFile, DiskStat } from "../files/disk/disk.js";
import { failingFor, ignoring, noLinkCodes, refusal } from "./apply-failures.js";
import type { ChangeDisk } from "./change-set.js";
import { isPlacedByRename, typesOf } from "./ops/op-types.js";
import type { PreparedOp } from "./ops/prepared-op.js";
import type { Prepared } from "./prepare.js";
import type { BeginRecord, StoredOp } from "./records.js";
import { refuseFoldedTogether } from "./respell.js";
import type { StepContext } from "./step-context.js";
import {
  copyLink,
  makeBackupDirectory,
  makeDirectories,
  makeNewDirectory,
  makeNewLink,
  syncedDirectories,
} from "./temp-types.js";

export async function writeTempFiles(
  deps: StepContext & { readonly txid: string },
  { ops, dirs }: Prepared,
  signal?: AbortSignal,
): Promise<void> {
  const { pins, width, txid } = deps;
  await makeDirectories(deps, { ops, dirs });
  await inLanes(ops, width, (op) =>
    failingFor(op.shownPath, async () => {
      throwIfAborted(signal);
      await writeNew(deps, op);
      await backUp(deps, op);
    }),
  );
  const created = ops.flatMap((op) => (op.kind === "create" && op.staged ? [{ ...op, staged: op.staged }] : []));
  await refuseFoldedTogether(deps, created, txid);
  await pins.sync([...ops.flatMap(tempDirectories), ...dirs.map((directory) => dirname(directory))]);
  await pins.sync(syncedDirectories(ops));
}

/** Where its temporary and backup files are; else where the target is. */
function tempDirectories({ path, staged, backup }: StoredOp): string[] {
  const names = [staged, backup].filter((name) => name !== null);
  return (names.length > 0 ? names : [path]).map((name) => dirname(name));
}

/**
 * Removes the temporary and backup files, and with `withDirectories` the directories that step 3 made, if empty.
 * `isRenamed`: modified files have no temporary file any more, because it was renamed over the target.
 */
export async function removeTempFiles(
  { disk, pins, width }: StepContext,
  { ops, dirs }: Pick<BeginRecord, "ops" | "dirs">,
  { withDirectories, isRenamed = false }: { withDirectories: boolean; isRenamed?: boolean },
): Promise<void> {
  const touched = new Set<string>();
  await inLanes(ops, width, (op) =>
    failingFor(op.shownPath, async () => {
      const { before, after } = typesOf(op);
      const staged = { name: op.staged, type: after };
      const backup = { name: op.backup, type: before };
      for (const { name, type } of isRenamed && isPlacedByRename(op) ? [backup] : [staged, backup]) {
        const pinned = name === null ? undefined : await pins.ofExisting(name);
        if (pinned === undefined || name === null) continue; // the directory was removed or never made
        if (type === "directory") await removeIfEmpty(disk, pinned);
        else await disk.unlink(pinned).catch(ignoring("ENOENT"));
        touched.add(dirname(name));
      }
    }),
  );
  if (withDirectories) await removeDirectories({ disk, pins }, dirs, touched);
  await pins.sync(touched);
}

/** The deepest first, as far as they are empty. `touched` gets the directories that they were in. */
export async function removeDirectories(
  { disk, pins }: Pick<StepContext, "disk" | "pins">,
  outermostFirst: readonly string[],
  touched: Set<string>,
): Promise<void> {
  for (const directory of [...outermostFirst].reverse()) {
    const pinned = await pins.ofExisting(directory);
    if (pinned === undefined) continue;
    touched.add(dirname(directory));
    const isGone = await failingFor(directory, () => removeIfEmpty(disk, pinned));
    if (isGone) touched.delete(directory);
  }
}

/** The directory stays if another program has put something in it. */
function removeIfEmpty(disk: ChangeDisk, path: string): Promise<boolean> {
  return disk.rmdir(path).then(
    () => true,
    (error: unknown) => {
      ignoring("ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST")(error);
      return systemCode(error) === "ENOENT";
    },
  );
}

async function writeNew(deps: StepContext, op: PreparedOp): Promise<void> {
  if (op.staged === null) return;
  const { after } = typesOf(op);
  if (after === "directory") return makeNewDirectory(deps, op, op.staged);
  return after === "symlink" ? makeNewLink(deps, op, op.staged) : writeNewBytes(deps, op, op.staged);
}

async function writeNewBytes({ disk, pins }: StepContext, op: PreparedOp, staged: string): Promise<void> {
  const { like, bytes = new Uint8Array(), mtimeMs } = op;
  const { mode = like?.kind === "file" ? like.mode : undefined } = op;
  // Other users cannot read a file that replaces another one before it has its final mode. A new file follows the umask.
  const file = await disk.create(await pins.of(staged), mode === undefined ? 0o666 : 0o600);
  await closing(file, async () => {
    await file.append(bytes);
    await setAttributes(file, { shownPath: op.shownPath, like, mode, mtimeMs });
    await file.fsync();
  });
}

/** A hard link to the old file, or a copy where the file system has no hard links. */
async function backUp(deps: StepContext, op: PreparedOp): Promise<void> {
  if (op.backup === null || !op.found) return;
  const { disk, pins } = deps;
  const { found, shownPath } = op;
  if (found.kind === "directory") return makeBackupDirectory(deps, op, { backup: op.backup, found });
  const [target, backup] = [await pins.of(op.path), await pins.of(op.backup)];
  try {
    return await disk.link(target, backup);
  } catch (error) {
    // Across mounts neither a link nor the rename of step 6 is possible.
    if (systemCode(error) === "EXDEV") throw refusal(shownPath, "it is a mount point", error);
    ignoring(...noLinkCodes)(error);
  }
  if (found.kind === "link") return copyLink(deps, { target, backup, found });
  const read = await disk.read(target, found.identity, { maxBytes: found.sizeBytes + 1 });
  const file = await disk.create(backup, 0o600);
  await closing(file, async () => {
    await file.append(read?.bytes ?? new Uint8Array()); // if the file changed meanwhile, step 4 notices
    await setAttributes(file, { shownPath, like: found, mode: found.mode, mtimeMs: found.modifiedMs });
    await file.fsync();
  });
}

/** Owner, mode and time. Refuses what cannot be kept here, before any target has changed. */
async function setAttributes(
  file: DiskFile,
  {
    shownPath,
    like,
    mode,
    mtimeMs,
  }: { shownPath: string; like: DiskStat | undefined; mode: number | undefined; mtimeMs: number | undefined },
): Promise<void> {
  const made = await file.stat();
  if (like && (made.uid !== like.uid || made.gid !== like.gid))
    await file.chown(like.uid, like.gid).catch((error: unknown) => {
      ignoring("EPERM")(error);
      throw refusal(shownPath, "its owner and group cannot be kept", error);
    });
  if (mode !== undefined) await file.chmod(mode); // after chown, which clears the setgid bit
  if (mtimeMs !== undefined) await file.utimes(mtimeMs);
  if (!like) return;
  const result = await file.stat();
  if ((mode !== undefined && result.mode !== mode) || result.uid !== like.uid || result.gid !== like.gid)
    throw refusal(shownPath, "its owner and mode cannot be kept"); // some file systems ignore the calls silently
}

async function closing(file: DiskFile, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await file.close();
  }
}

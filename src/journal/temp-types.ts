// Step 3 of an apply for links and directories: what takes their place later, and the backups of old ones. A link is made
// whole by one call; a directory is made open, so that files can be put into it until the apply is done.

import type { DiskStat } from "../files/disk/disk.js";
import { failingFor, ignoring, refusal } from "./apply-failures.js";
import { isStandingDirectory, modeUntilEnd, openMode, typesOf } from "./ops/op-types.js";
import type { PreparedOp } from "./ops/prepared-op.js";
import type { Prepared } from "./prepare.js";
import type { SerialStepContext } from "./step-context.js";

/** Those that files need, and those that the set names, which may have a mode. */
export async function makeDirectories(
  deps: SerialStepContext,
  { ops, dirs }: Pick<Prepared, "ops" | "dirs">,
): Promise<void> {
  const { disk, pins } = deps;
  const named = new Map(ops.filter(isStandingDirectory).map((op) => [op.path, op]));
  for (const directory of dirs)
    await failingFor(directory, async () => {
      const op = named.get(directory);
      const pinned = await pins.of(directory);
      // Another program may have made it since step 1. If that is no directory, step 4 notices.
      await makeOpen(deps, pinned, op?.afterMode).catch(ignoring("EEXIST"));
    });
  for (const op of named.values())
    if (op.found && modeUntilEnd(op) !== undefined && !disk.ownsMode(op.found))
      throw refusal(op.shownPath, "its mode cannot be changed");
}

async function makeOpen({ disk }: SerialStepContext, path: string, mode: number | undefined): Promise<void> {
  await disk.mkdir(path);
  if (mode !== undefined) await disk.chmodDirectory(path, openMode(mode));
}

/** In the place of something else, or below such a place. */
export async function makeNewDirectory(deps: SerialStepContext, op: PreparedOp, staged: string): Promise<void> {
  const path = await deps.pins.of(staged);
  await makeOpen(deps, path, op.afterMode);
  if (op.like)
    await keepOwner(
      op,
      op.like,
      (uid, gid) => deps.disk.chownDirectory(path, uid, gid),
      () => deps.disk.lstat(path),
    );
}

export async function makeNewLink({ disk, pins }: SerialStepContext, op: PreparedOp, staged: string): Promise<void> {
  const path = await pins.of(staged);
  await disk.symlink(op.bytes ?? new Uint8Array(), path);
  if (op.like)
    await keepOwner(
      op,
      op.like,
      (uid, gid) => disk.chownLink(path, uid, gid),
      () => disk.lstat(path),
    );
  if (op.mtimeMs !== undefined) await disk.touchLink(path, op.mtimeMs);
}

/** A true copy, empty: what is in the directory goes with it, and has backups of its own. */
export async function makeBackupDirectory(
  { disk, pins }: SerialStepContext,
  op: PreparedOp,
  { backup, found }: { backup: string; found: DiskStat },
): Promise<void> {
  const path = await pins.of(backup);
  await disk.mkdir(path);
  await keepOwner(
    op,
    found,
    (uid, gid) => disk.chownDirectory(path, uid, gid),
    () => disk.lstat(path),
  );
  await disk.chmodDirectory(path, found.mode);
}

/** Where the file system has no hard links, or none to links. */
export async function copyLink(
  { disk }: SerialStepContext,
  { target, backup, found }: { target: string; backup: string; found: DiskStat },
): Promise<void> {
  await disk.symlink(await disk.readlink(target), backup); // if it changed meanwhile, step 4 notices
  await disk.chownLink(backup, found.uid, found.gid);
  await disk.touchLink(backup, found.modifiedMs);
}

async function keepOwner(
  { shownPath }: PreparedOp,
  like: DiskStat,
  chown: (uid: number, gid: number) => Promise<void>,
  look: () => Promise<DiskStat>,
): Promise<void> {
  const made = await look();
  if (made.uid === like.uid && made.gid === like.gid) return;
  await chown(like.uid, like.gid).catch((error: unknown) => {
    ignoring("EPERM")(error);
    throw refusal(shownPath, "its owner and group cannot be kept", error);
  });
}

/** Directories whose own mode or owner has to be durable before the commit. */
export function syncedDirectories(ops: readonly PreparedOp[]): string[] {
  return ops.flatMap((op) => {
    const { before, after } = typesOf(op);
    const made = after === "directory" && !op.found ? [op.staged ?? op.path] : [];
    const staged = after === "directory" && op.found && op.staged ? [op.staged] : [];
    return [...made, ...staged, ...(before === "directory" && op.backup ? [op.backup] : [])];
  });
}

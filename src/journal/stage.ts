// Step three of an apply: everything that needs room or time is done beside the targets, which stay as they are. After
// it only names have to change. `removeTempFiles` is its opposite, and also the last step of every apply.

import { dirname } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { systemCode } from "../base/errors.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskFile, DiskStat } from "../files/disk/disk.js";
import type { ChangeDisk } from "./change-set.js";
import { failingFor, ignoring, noLinkCodes, refusal } from "./failures.js";
import type { Prepared, PreparedOp } from "./prepare.js";
import type { BeginRecord } from "./records.js";
import { refuseFoldedTogether } from "./respell.js";
import type { StepContext } from "./step-context.js";

export async function stageFiles(
  deps: StepContext & { readonly txid: string },
  { ops, dirs }: Prepared,
  signal?: AbortSignal,
): Promise<void> {
  const { disk, pins, width, txid } = deps;
  for (const directory of dirs)
    await failingFor(directory, async () => disk.mkdir(await pins.of(directory)).catch(ignoring("EEXIST")));
  await inLanes(ops, width, (op) =>
    failingFor(op.shownPath, async () => {
      throwIfAborted(signal);
      await writeStaged(deps, op);
      await keepOld(deps, op);
    }),
  );
  const appearing = ops.flatMap((op) => (op.kind === "create" && op.staged ? [{ ...op, staged: op.staged }] : []));
  await refuseFoldedTogether(deps, appearing, txid);
  await pins.sync([...ops.map(({ path }) => dirname(path)), ...dirs.map((directory) => dirname(directory))]);
}

/**
 * Removes what was put beside the targets. With `withDirectories` also the directories that were made, if empty;
 * `isRenamed`: the staged files of what was replaced have gone into their places.
 */
export async function removeTempFiles(
  { disk, pins, width }: StepContext,
  { ops, dirs }: Pick<BeginRecord, "ops" | "dirs">,
  { withDirectories, isRenamed = false }: { withDirectories: boolean; isRenamed?: boolean },
): Promise<void> {
  const touched = new Set<string>();
  await inLanes(ops, width, ({ kind, path, shownPath, staged, backup }) =>
    failingFor(shownPath, async () => {
      for (const name of isRenamed && kind === "modify" ? [backup] : [staged, backup]) {
        const pinned = name === null ? undefined : await pins.ofExisting(name);
        if (pinned === undefined) continue; // its directory is gone, or was never made
        await disk.unlink(pinned).catch(ignoring("ENOENT"));
        touched.add(dirname(path));
      }
    }),
  );
  if (withDirectories)
    for (const directory of [...dirs].reverse()) {
      const pinned = await pins.ofExisting(directory);
      if (pinned === undefined) continue;
      touched.add(dirname(directory));
      const isGone = await failingFor(directory, () => removeIfEmpty(disk, pinned));
      if (isGone) touched.delete(directory);
    }
  await pins.sync(touched);
}

/** Somebody may have put something in: then it stays. */
function removeIfEmpty(disk: ChangeDisk, path: string): Promise<boolean> {
  return disk.rmdir(path).then(
    () => true,
    (error: unknown) => {
      ignoring("ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST")(error);
      return systemCode(error) === "ENOENT";
    },
  );
}

async function writeStaged({ disk, pins }: StepContext, op: PreparedOp): Promise<void> {
  if (op.staged === null || op.bytes === undefined) return;
  const { like, bytes, mode = like?.mode, mtimeMs } = op;
  // Nobody else reads it before it is whole; a new file gets what the umask leaves, as any program's would.
  const file = await disk.create(await pins.of(op.staged), mode === undefined ? 0o666 : 0o600);
  await closing(file, async () => {
    await file.append(bytes);
    await dress(file, { shownPath: op.shownPath, like, mode, mtimeMs });
    await file.fsync();
  });
}

/** A second name for the old bytes; where files have only one, a copy. */
async function keepOld({ disk, pins }: StepContext, op: PreparedOp): Promise<void> {
  if (op.backup === null || !op.found) return;
  const { found, shownPath } = op;
  const [target, backup] = [await pins.of(op.path), await pins.of(op.backup)];
  try {
    return await disk.link(target, backup);
  } catch (error) {
    // Between two mounts nothing can be linked, nor be renamed over later.
    if (systemCode(error) === "EXDEV") throw refusal(shownPath, "it is a mount point", error);
    ignoring(...noLinkCodes)(error);
  }
  const read = await disk.read(target, found.identity, { maxBytes: found.sizeBytes + 1 });
  const file = await disk.create(backup, 0o600);
  await closing(file, async () => {
    await file.append(read?.bytes ?? new Uint8Array()); // changed meanwhile: the second look finds out
    await dress(file, { shownPath, like: found, mode: found.mode, mtimeMs: found.modifiedMs });
    await file.fsync();
  });
}

/** Whoever cannot give it back its owner and mode refuses here, before anything has changed. */
async function dress(
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
  if (mode !== undefined) await file.chmod(mode); // after chown, which takes the set-group bit away
  if (mtimeMs !== undefined) await file.utimes(mtimeMs);
  if (!like) return;
  const dressed = await file.stat();
  if (dressed.mode !== mode || dressed.uid !== like.uid || dressed.gid !== like.gid)
    throw refusal(shownPath, "its owner and mode cannot be kept"); // some disks only say that they did
}

async function closing(file: DiskFile, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await file.close();
  }
}

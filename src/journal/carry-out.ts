// Step 6 of an apply for one op, and its reversal. Only names change here. The state of an op can be read from the disk
// alone, so recovery can continue where a crash stopped it.

import { dirname } from "node:path";
import { systemCode } from "../base/errors.js";
import type { DiskStat } from "../files/disk/disk.js";
import { ForeignChange, ignoring, noLinkCodes } from "./failures.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

/** `edited`: it was applied, and another program changed the file later. It counts as applied and is left alone. */
export type OpState = "applied" | "edited" | "pending" | "conflict";

export async function stateOfOp(deps: SerialStepContext, op: StoredOp): Promise<OpState> {
  const { hash, mode, isStaged, isOurs } = await lookAt(deps, op);
  const isAsFound = hash === op.before && mode === op.beforeMode;
  if (op.kind === "delete") return hash === null ? "applied" : isAsFound ? "pending" : "conflict";
  // Judging by the hash alone would undo a finished apply because the user went on editing.
  if (!isStaged) return hash === op.after ? "applied" : "edited";
  if (isOurs) return "applied";
  if (isAsFound || (op.kind === "respell" && hash === null)) return "pending";
  return hash === op.after ? "applied" : "conflict";
}

/** Replaces the target, creates it or removes it. A created file keeps its temporary name as a second one. */
export async function carryOut({ disk, pins }: SerialStepContext, op: StoredOp): Promise<void> {
  const target = await pins.of(op.path);
  if (op.kind === "delete" || op.staged === null) return disk.unlink(target);
  const staged = await pins.of(op.staged);
  if (op.kind === "modify") return disk.rename(staged, target);
  if (op.from !== undefined) {
    // The backup holds the old bytes. Without this unlink the directory would keep the old spelling.
    await disk.unlink(await pins.of(op.from)).catch(ignoring("ENOENT"));
    await pins.sync([dirname(op.path)]);
  }
  await linkIfFree({ disk }, { from: staged, to: target, op });
}

/** Restores the old file. Returns true if another program changed the file: then it is left alone. */
export async function revertOp(deps: SerialStepContext, op: StoredOp): Promise<boolean> {
  const { disk, pins } = deps;
  const { hash, isOurs } = await lookAt(deps, op);
  const isBetween = op.kind === "respell" && hash === null;
  if (!isOurs && !isBetween) return hash !== op.before;
  const [target, backup] = [await pins.ofExisting(op.path), op.backup && (await pins.ofExisting(op.backup))];
  if (backup === null && target !== undefined) {
    await disk.unlink(target);
    return false;
  }
  if (!target || !backup || !(await disk.lstat(backup).catch(ignoring("ENOENT")))) return hash !== op.before;
  if (op.kind === "modify") {
    await disk.rename(backup, target);
    return false;
  }
  if (isOurs && op.kind === "respell") {
    await disk.unlink(target);
    await pins.sync([dirname(op.path)]);
  }
  try {
    await linkIfFree({ disk }, { from: backup, to: op.from === undefined ? target : await pins.of(op.from), op });
    return false;
  } catch (error) {
    if (error instanceof ForeignChange) return true;
    throw error;
  }
}

/** Gives a file another name, which must be free. */
async function linkIfFree(
  { disk }: Pick<SerialStepContext, "disk">,
  { from, to, op }: { from: string; to: string; op: StoredOp },
): Promise<void> {
  try {
    return await disk.link(from, to);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw new ForeignChange(op.shownPath);
    ignoring(...noLinkCodes)(error);
  }
  // This file system has no hard links. The check and the rename leave a short window.
  if (await disk.lstat(to).catch(ignoring("ENOENT"))) throw new ForeignChange(op.shownPath);
  await disk.rename(from, to);
}

interface Look {
  /** Null where there is nothing; undefined for something that is not a file or that changes while it is read. */
  readonly hash: string | null | undefined;
  readonly mode: number | null;
  readonly isStaged: boolean;
  /** The target is as this op made it. */
  readonly isOurs: boolean;
}

async function lookAt(deps: SerialStepContext, op: StoredOp): Promise<Look> {
  const stat = await statAt(deps, op.path);
  const hash = stat ? await hashOf(deps, op.path, stat) : null;
  const staged = op.staged === null ? undefined : await statAt(deps, op.staged);
  // While the temporary name exists, the target is ours only if it is the same file.
  const isOurs = staged ? staged.identity === stat?.identity : hash === op.after;
  return { hash, mode: stat?.mode ?? null, isStaged: staged !== undefined, isOurs };
}

async function hashOf({ disk, pins }: SerialStepContext, path: string, stat: DiskStat): Promise<string | undefined> {
  if (stat.kind !== "file") return undefined;
  return disk.digest(await pins.of(path), stat.identity).catch(ignoring("ENOENT"));
}

export async function statAt({ disk, pins }: SerialStepContext, path: string): Promise<DiskStat | undefined> {
  const pinned = await pins.ofExisting(path);
  return pinned === undefined ? undefined : disk.lstat(pinned).catch(ignoring("ENOENT"));
}

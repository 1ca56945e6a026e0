// Step 6 of an apply for an op about a directory, and its reversal. A directory cannot be replaced in one step, as a file
// can: between the old and the new there is a moment with nothing at the path. Recovery knows it by the names beside it.
// A directory is removed only if it is empty, and never with what another program has put into it.

import { dirname } from "node:path";
import { systemCode } from "../base/errors.js";
import { ForeignChange, ignoring } from "./apply-failures.js";
import { linkIfFree } from "./link-if-free.js";
import { type Look, lookAt, type OpState, statAt } from "./look-at.js";
import { becomesDirectory, directoryHash, isStandingDirectory, modeUntilEnd, typesOf } from "./ops/op-types.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

export function stateOfDirectoryOp(op: StoredOp, { hash, mode, isStaged, isOurs }: Look): OpState {
  if (isStandingDirectory(op)) return hash === directoryHash ? "applied" : "edited";
  const isAsFound = hash === op.before && mode === op.beforeMode;
  if (op.kind === "delete") return hash === null ? "applied" : isAsFound ? "pending" : "conflict";
  if (!isStaged) return hash === op.after ? "applied" : "edited";
  if (isOurs) return "applied";
  if (isAsFound || hash === null) return "pending";
  return hash === op.after && hash !== directoryHash ? "applied" : "conflict";
}

export async function carryOutDirectoryOp(deps: SerialStepContext, op: StoredOp): Promise<void> {
  const { disk, pins } = deps;
  if (isStandingDirectory(op)) return; // step 3 made it, or step 8 changes its mode
  const target = await pins.of(op.path);
  if (typesOf(op).before === "directory") await removeOld(deps, op, target);
  if (op.staged === null) return;
  const staged = await pins.of(op.staged);
  if (typesOf(op).after !== "directory") return linkIfFree({ disk }, { from: staged, to: target, op });
  if (becomesDirectory(op)) await disk.unlink(target).catch(ignoring("ENOENT"));
  // A rename would replace an empty directory that another program has made.
  if (await disk.lstat(target).catch(ignoring("ENOENT"))) throw new ForeignChange(op.shownPath);
  await disk.rename(staged, target);
  // Else a loss of power could leave what is put into it next under the temporary name.
  await pins.sync([dirname(op.path), dirname(op.staged)]);
}

/** Recovery may find it removed. */
async function removeOld({ disk, pins }: SerialStepContext, op: StoredOp, target: string): Promise<void> {
  if (!(await isRemoved({ disk }, target))) throw new ForeignChange(op.shownPath);
  await pins.forget(op.path);
}

/** False where something is in it, or where it is no directory any more. */
async function isRemoved({ disk }: Pick<SerialStepContext, "disk">, path: string): Promise<boolean> {
  try {
    await disk.rmdir(path);
    return true;
  } catch (error) {
    ignoring("ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST")(error);
    return systemCode(error) === "ENOENT";
  }
}

/** Restores what was there. Returns true if another program changed it: then it is left alone. */
export async function revertDirectoryOp(deps: SerialStepContext, op: StoredOp): Promise<boolean> {
  if (isStandingDirectory(op)) return false; // what step 3 made goes with the other temporary names
  const { disk, pins } = deps;
  const look = await lookAt(deps, op);
  const target = await pins.ofExisting(op.path);
  let isAbsent = look.hash === null;
  if (target !== undefined && look.isOurs && !isAbsent) {
    isAbsent = await isNewRemoved(deps, op, target);
    if (!isAbsent) return true;
  }
  if (!isAbsent || target === undefined) return look.hash !== op.before;
  if (op.backup === null) return false; // it was made
  const backup = await pins.ofExisting(op.backup);
  if (backup === undefined || !(await statAt(deps, op.backup))) return true;
  if (typesOf(op).before === "directory") {
    await disk.rename(backup, target);
    await pins.sync([dirname(op.path), dirname(op.backup)]); // as when a directory is put in place
    return false;
  }
  try {
    await linkIfFree({ disk }, { from: backup, to: target, op });
    return false;
  } catch (error) {
    if (error instanceof ForeignChange) return true;
    throw error;
  }
}

async function isNewRemoved({ disk, pins }: SerialStepContext, op: StoredOp, target: string): Promise<boolean> {
  if (typesOf(op).after !== "directory") {
    await disk.unlink(target);
    return true;
  }
  const isGone = await isRemoved({ disk }, target);
  if (isGone) await pins.forget(op.path);
  return isGone;
}

/**
 * In step 8, because until then files have to be put into the directories and taken out of them. A directory whose mode
 * another program has changed meanwhile keeps that one.
 */
export async function setDirectoryModes(deps: SerialStepContext, ops: readonly StoredOp[]): Promise<void> {
  const { disk, pins } = deps;
  // The deepest first: what is above may be closed afterwards.
  for (const op of ops.toSorted((a, b) => b.path.length - a.path.length)) {
    const until = modeUntilEnd(op);
    if (until === undefined || op.afterMode === undefined) continue;
    const stat = await statAt(deps, op.path);
    if (stat?.kind !== "directory") continue;
    if (stat.mode === until) await disk.chmodDirectory(await pins.of(op.path), op.afterMode);
    await pins.sync([op.path]); // also where a process that died has set it
  }
}

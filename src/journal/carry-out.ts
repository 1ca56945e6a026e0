// Step 6 of an apply for one op, and its reversal. Only names change here. The state of an op can be read from the disk
// alone, so recovery can continue where a crash stopped it. Files and links are alike here.

import { dirname } from "node:path";
import { ForeignChange, ignoring } from "./apply-failures.js";
import { carryOutDirectoryOp, revertDirectoryOp, stateOfDirectoryOp } from "./directory-ops.js";
import { linkIfFree } from "./link-if-free.js";
import { lookAt, type OpState } from "./look-at.js";
import { isOfDirectory } from "./ops/op-types.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

export async function stateOfOp(deps: SerialStepContext, op: StoredOp): Promise<OpState> {
  const look = await lookAt(deps, op);
  if (isOfDirectory(op)) return stateOfDirectoryOp(op, look);
  const { hash, mode, isStaged, isOurs } = look;
  const isAsFound = hash === op.before && mode === op.beforeMode;
  if (op.kind === "delete") return hash === null ? "applied" : isAsFound ? "pending" : "conflict";
  // Judging by the hash alone would undo a finished apply because the user went on editing.
  if (!isStaged) return hash === op.after ? "applied" : "edited";
  if (isOurs) return "applied";
  if (isAsFound || (op.kind === "respell" && hash === null)) return "pending";
  return hash === op.after ? "applied" : "conflict";
}

/** Replaces the target, creates it or removes it. A created file keeps its temporary name as a second one. */
export async function carryOut(deps: SerialStepContext, op: StoredOp): Promise<void> {
  if (isOfDirectory(op)) return carryOutDirectoryOp(deps, op);
  const { disk, pins } = deps;
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
  if (isOfDirectory(op)) return revertDirectoryOp(deps, op);
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

// Step six of an apply and its way back. Only names change here. Each op can be asked in which state it is, from the
// disk alone, so that whoever comes after a crash goes on where it stopped.

import { dirname } from "node:path";
import { systemCode } from "../base/errors.js";
import type { DiskStat } from "../files/disk/disk.js";
import { ForeignChange, ignoring, noLinkCodes } from "./failures.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

/** `edited` was applied and then changed by somebody: it counts as applied and is left alone. */
export type OpState = "applied" | "edited" | "pending" | "conflict";

export async function stateOfOp(deps: SerialStepContext, op: StoredOp): Promise<OpState> {
  const { hash, mode, isStaged, isOurs } = await lookAt(deps, op);
  const isAsFound = hash === op.before && mode === op.beforeMode;
  if (op.kind === "delete") return hash === null ? "applied" : isAsFound ? "pending" : "conflict";
  // By the hash alone a finished apply would be undone because the user went on editing.
  if (!isStaged) return hash === op.after ? "applied" : "edited";
  if (isOurs) return "applied";
  if (isAsFound || (op.kind === "respell" && hash === null)) return "pending";
  return hash === op.after ? "applied" : "conflict";
}

/** Puts the new bytes, or none, in the place of the old. A file that appears keeps its staged name beside the new one. */
export async function carryOut({ disk, pins }: SerialStepContext, op: StoredOp): Promise<void> {
  const target = await pins.of(op.path);
  if (op.kind === "delete" || op.staged === null) return disk.unlink(target);
  const staged = await pins.of(op.staged);
  if (op.kind === "modify") return disk.rename(staged, target);
  if (op.from !== undefined) {
    // The old bytes have a name of their own by now; the directory would keep the old spelling otherwise.
    await disk.unlink(await pins.of(op.from)).catch(ignoring("ENOENT"));
    await pins.sync([dirname(op.path)]);
  }
  await appear({ disk }, { from: staged, to: target, op });
}

/** The old bytes back in their place. True when that cannot be, because somebody else changed something: it stays. */
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
    await appear({ disk }, { from: backup, to: op.from === undefined ? target : await pins.of(op.from), op });
    return false;
  } catch (error) {
    if (error instanceof ForeignChange) return true;
    throw error;
  }
}

/** Gives a file a name that must be free. */
async function appear(
  { disk }: Pick<SerialStepContext, "disk">,
  { from, to, op }: { from: string; to: string; op: StoredOp },
): Promise<void> {
  try {
    return await disk.link(from, to);
  } catch (error) {
    if (systemCode(error) === "EEXIST") throw new ForeignChange(op.shownPath);
    ignoring(...noLinkCodes)(error);
  }
  // No second names on this disk: a look has to do.
  if (await disk.lstat(to).catch(ignoring("ENOENT"))) throw new ForeignChange(op.shownPath);
  await disk.rename(from, to);
}

interface Look {
  /** Null where there is no file; undefined for what is not a file, or changes while it is read. */
  readonly hash: string | null | undefined;
  readonly mode: number | null;
  readonly isStaged: boolean;
  /** What is there, or is not, is the work of this op. */
  readonly isOurs: boolean;
}

async function lookAt(deps: SerialStepContext, op: StoredOp): Promise<Look> {
  const stat = await statAt(deps, op.path);
  const hash = stat ? await hashOf(deps, op.path, stat) : null;
  const staged = op.staged === null ? undefined : await statAt(deps, op.staged);
  // While the staged file has its first name, the target is ours only if it is that file.
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

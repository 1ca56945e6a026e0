// Step 4 of an apply: is every target still what was previewed? Returns a mark per target. Step 6 compares the mark once
// more right before it renames, so only the moment between these two calls stays unguarded.

import { join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskStat } from "../files/disk/disk.js";
import { maxListed } from "../files/disk/disk.js";
import { ForeignChange, failingFor, staleError } from "./apply-failures.js";
import { hashOf, statAt } from "./look-at.js";
import { isOfDirectory, isStandingDirectory, losesDirectory, typesOf } from "./ops/op-types.js";
import type { PreparedOp } from "./ops/prepared-op.js";
import type { StoredOp } from "./records.js";
import type { StepContext } from "./step-context.js";

export type Marks = ReadonlyMap<string, string>;

export async function verifyUnchanged(
  deps: StepContext,
  ops: readonly PreparedOp[],
  signal?: AbortSignal,
): Promise<Marks> {
  const stale = new Set<PreparedOp>();
  const removed = new Set(ops.filter(({ after }) => after === null).map(({ path }) => path));
  const marks = new Map<string, string>();
  await inLanes(ops, deps.width, (op) =>
    failingFor(op.shownPath, async () => {
      throwIfAborted(signal);
      const stat = await statAt(deps, op.path);
      marks.set(op.path, markOf(op, stat));
      if (!(await isAsFound(deps, op, stat))) stale.add(op);
      else if (losesDirectory(op) && !(await holdsOnly(deps, op.path, removed))) stale.add(op);
    }),
  );
  const files = ops.filter((op) => stale.has(op)).map(({ shownPath }) => shownPath);
  if (files.length > 0) throw staleError(files, ops.length);
  return marks;
}

/** Step 6, right before an op is carried out. */
export async function refuseChanged(deps: StepContext, op: StoredOp, marks: Marks): Promise<void> {
  if (markOf(op, await statAt(deps, op.path)) !== marks.get(op.path)) throw new ForeignChange(op.shownPath);
}

/** What is in a directory changes with our own work: only the directory itself counts. */
export function markOf(op: StoredOp, stat: DiskStat | undefined): string {
  if (stat === undefined) return "absent";
  const isAlone = isOfDirectory(op) && stat.kind === "directory";
  return `${stat.identity} ${isAlone ? stat.mode : stat.mark}`;
}

/** Nothing is in a directory that goes but what goes too. */
async function holdsOnly({ disk, pins }: StepContext, path: string, removed: ReadonlySet<string>): Promise<boolean> {
  const entries = await disk.list(await pins.of(path), maxListed);
  return entries.every(({ name }) => removed.has(join(path, name)));
}

async function isAsFound(deps: StepContext, op: PreparedOp, stat: DiskStat | undefined): Promise<boolean> {
  const { found, before, backup } = op;
  if (!found && isStandingDirectory(op)) return stat?.kind === "directory"; // made in step 3
  if (!found || !stat) return !found && !stat;
  const isAlike = stat.mode === found.mode && stat.uid === found.uid && stat.gid === found.gid;
  if (!isAlike || (await digestAt(deps, op.path, stat)) !== before) return false;
  if (backup === null || typesOf(op).before === "directory") return true;
  // The backup must be the same file as the target, or a true copy of it.
  const kept = await statAt(deps, backup);
  return kept?.identity === stat.identity || (await digestAt(deps, backup, kept)) === before;
}

async function digestAt(deps: StepContext, path: string, stat: DiskStat | undefined): Promise<string | undefined> {
  return stat && hashOf(deps, path, stat);
}

// Step 4 of an apply: is every target still what was previewed? Returns a mark per target. Step 6 compares the mark once
// more right before it renames, so only the moment between these two calls stays unguarded.

import { throwIfAborted } from "../base/abort.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskStat } from "../files/disk/disk.js";
import { statAt } from "./carry-out.js";
import { ForeignChange, failingFor, staleError } from "./failures.js";
import type { PreparedOp } from "./prepare.js";
import type { StoredOp } from "./records.js";
import type { StepContext } from "./step-context.js";

export type Marks = ReadonlyMap<string, string>;

export async function verifyUnchanged(
  deps: StepContext,
  ops: readonly PreparedOp[],
  signal?: AbortSignal,
): Promise<Marks> {
  const stale = new Set<PreparedOp>();
  const marks = new Map<string, string>();
  await inLanes(ops, deps.width, (op) =>
    failingFor(op.shownPath, async () => {
      throwIfAborted(signal);
      const stat = await statAt(deps, op.path);
      marks.set(op.path, markOf(stat));
      if (!(await isAsFound(deps, op, stat))) stale.add(op);
    }),
  );
  const files = ops.filter((op) => stale.has(op)).map(({ shownPath }) => shownPath);
  if (files.length > 0) throw staleError(files, ops.length);
  return marks;
}

/** Step 6, right before an op is carried out. */
export async function refuseChanged(deps: StepContext, op: StoredOp, marks: Marks): Promise<void> {
  if (markOf(await statAt(deps, op.path)) !== marks.get(op.path)) throw new ForeignChange(op.shownPath);
}

export function markOf(stat: DiskStat | undefined): string {
  return stat === undefined ? "absent" : `${stat.identity} ${stat.mark}`;
}

async function isAsFound(deps: StepContext, op: PreparedOp, stat: DiskStat | undefined): Promise<boolean> {
  const { found, before, backup } = op;
  if (!found || !stat) return !found && !stat;
  const isAlike = stat.mode === found.mode && stat.uid === found.uid && stat.gid === found.gid;
  if (!isAlike || (await digestAt(deps, op.path, stat)) !== before) return false;
  if (backup === null) return true;
  // The backup must be the same file as the target, or a true copy of it.
  const kept = await statAt(deps, backup);
  return kept?.identity === stat.identity || (await digestAt(deps, backup, kept)) === before;
}

async function digestAt(
  { disk, pins }: StepContext,
  path: string,
  stat: DiskStat | undefined,
): Promise<string | undefined> {
  return stat?.kind === "file" ? disk.digest(await pins.of(path), stat.identity) : undefined;
}

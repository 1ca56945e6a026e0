// Steps 6 to 9 of an apply. The process that began it and the process that recovers it after a crash both run them: roll
// forward once `commit` is on record, roll back once `undo` is, then clean up and record the outcome.

import { basename, dirname } from "node:path";
import { inLanes } from "../base/in-lanes.js";
import type { ChangeOutcome } from "../plans/change-writer.js";
import { failingFor, ignoring } from "./apply-failures.js";
import { carryOut, revertOp } from "./carry-out.js";
import { setDirectoryModes } from "./directory-ops.js";
import type { JournalFile } from "./journal-file.js";
import { becomesDirectory, isOfDirectory, isPlacedByRename, isStandingDirectory } from "./ops/op-types.js";
import type { BeginRecord, StoredOp } from "./records.js";
import type { StepContext } from "./step-context.js";
import { removeDirectories, removeTempFiles } from "./temp-files.js";
import { type Marks, refuseChanged } from "./verify-unchanged.js";

export interface FinishContext extends StepContext {
  /**
   * Settles the pending action in the session that owns it, unless that is done. If it returns false or throws, the
   * journal stays, and the next recovery tries again.
   */
  settle(outcome: ChangeOutcome): Promise<boolean>;
}

/** Step 6. Throws when an op fails, `ForeignChange` when another program changed a target. */
export async function rollForward(
  deps: FinishContext,
  { begin, pending, marks }: { begin: BeginRecord; pending: readonly StoredOp[]; marks: Marks },
): Promise<void> {
  for (const op of pending)
    await failingFor(op.shownPath, async () => {
      await refuseChanged(deps, op, marks);
      await carryOut(deps, op);
    });
  await deps.pins.syncExisting(directoriesOf(begin));
  // A missing temporary name tells recovery that the op was carried out, whatever the target holds now. So it is removed
  // only after the new name is durable; for a modified file the rename has removed it.
  await inLanes(pending, deps.width, async (op) => {
    if (isPlacedByRename(op) || op.staged === null) return;
    await deps.disk.unlink(await deps.pins.of(op.staged)).catch(() => {}); // step 8 tries again
  });
}

/** Reverts step 6, after `undo` is on record. Returns the files that another program has changed. */
export async function rollBack(deps: FinishContext, begin: BeginRecord): Promise<string[]> {
  const foreign: string[] = [];
  await syncMovedDirectories(deps, begin);
  for (const op of [...begin.ops].reverse())
    if (await failingFor(op.shownPath, () => revertOp(deps, op))) foreign.unshift(foreignText(op));
  await deps.pins.syncExisting(directoriesOf(begin));
  return foreign;
}

/**
 * A process that died may have removed directories or put them in place without making that durable. What is put into
 * them next would be lost with them.
 */
export function syncMovedDirectories({ pins }: FinishContext, { ops }: BeginRecord): Promise<void> {
  const moved = ops.filter((op) => isOfDirectory(op) && !isStandingDirectory(op));
  return pins.syncExisting(directoriesOf({ ops: moved }));
}

/**
 * What became a directory cannot be put back while another program has something in there. That program did not mean to
 * replace it, so its backup stays.
 */
function foreignText(op: StoredOp): string {
  const isKept = becomesDirectory(op) && op.backup !== null;
  return isKept ? `${op.shownPath} (what it was is kept as ${basename(op.backup)})` : op.shownPath;
}

/** Cross-directory moves touch the one with the temporary name too. */
function directoriesOf({ ops }: Pick<BeginRecord, "ops">): string[] {
  return ops.flatMap(({ path, staged, backup }) =>
    [path, staged, backup].flatMap((name) => (name === null ? [] : [dirname(name)])),
  );
}

export interface Ending {
  readonly begin: BeginRecord;
  /** `end` is on record already. */
  readonly isEnded: boolean;
  /** This process ran all of step 6: modified files have no temporary name any more. */
  readonly isOwnWork?: boolean;
  readonly result: ChangeOutcome["result"];
  readonly foreign: readonly string[];
}

/** Steps 7 to 9. */
export async function finish(
  deps: FinishContext,
  journal: JournalFile,
  { begin, isEnded, isOwnWork = false, result, foreign }: Ending,
): Promise<ChangeOutcome> {
  if (!isEnded) await journal.append({ type: "end", result, foreign });
  const isReverted = result === "reverted";
  const left = isReverted ? withoutKept(begin, foreign) : begin;
  await removeTempFiles(deps, left, { withDirectories: isReverted, isRenamed: isOwnWork });
  if (isReverted) await dropUndoRecord(deps, begin);
  else await completeDirectories(deps, begin);
  const outcome = { txid: begin.txid, result, foreign, ...(begin.owner ? { owner: begin.owner } : {}) };
  // The files are final, even if the outcome cannot be recorded now.
  if (await deps.settle(outcome).catch(() => false)) await journal.remove();
  return outcome;
}

function withoutKept(begin: BeginRecord, foreign: readonly string[]): BeginRecord {
  const isKept = (op: StoredOp) => foreignText(op) !== op.shownPath && foreign.includes(foreignText(op));
  return { ...begin, ops: begin.ops.map((op) => (isKept(op) ? { ...op, backup: null } : op)) };
}

/** The end of step 8: nothing has to be put into directories any more, or taken out of them. */
async function completeDirectories(deps: FinishContext, { ops, emptied = [] }: BeginRecord): Promise<void> {
  await setDirectoryModes(deps, ops);
  const touched = new Set<string>();
  await removeDirectories(deps, emptied, touched);
  await deps.pins.syncExisting(touched);
}

/** Removes what steps 2 and 3 made: without a commit nothing has happened. */
export async function forget(deps: FinishContext, journal: JournalFile, begin: BeginRecord | undefined): Promise<void> {
  if (begin) {
    await removeTempFiles(deps, begin, { withDirectories: true });
    await dropUndoRecord(deps, begin);
  }
  await journal.remove();
}

async function dropUndoRecord({ disk, pins }: FinishContext, { undoRecord }: BeginRecord): Promise<void> {
  if (undoRecord === null) return;
  await failingFor("the undo record", async () => {
    const pinned = await pins.ofExisting(undoRecord);
    if (pinned === undefined) return;
    await disk.unlink(pinned).catch(ignoring("ENOENT"));
    await pins.sync([dirname(undoRecord)]);
  });
}

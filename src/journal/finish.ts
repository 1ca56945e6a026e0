// The end of an apply, told the same way by the process that began it and by the one that found it after a crash:
// forward once committed, back once undoing, then clean up, tell the owner and forget.

import { dirname } from "node:path";
import { inLanes } from "../base/in-lanes.js";
import type { ChangeOutcome } from "../preview/change-writer.js";
import { carryOut, revertOp } from "./carry-out.js";
import { failingFor, ignoring } from "./failures.js";
import type { JournalFile } from "./journal-file.js";
import type { BeginRecord, StoredOp } from "./records.js";
import { removeTempFiles } from "./stage.js";
import type { StepContext } from "./step-context.js";
import { type Marks, refuseChanged } from "./verify-unchanged.js";

export interface FinishContext extends StepContext {
  /**
   * Writes the outcome into the record of whoever asked, unless it is there. False, or a failure: not possible now; the
   * journal stays, and the next recovery asks again.
   */
  settle(outcome: ChangeOutcome): Promise<boolean>;
}

/** Step six. Throws when a step fails, `ForeignChange` when somebody got in between. */
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
  // A staged name that is gone says: this was carried out, whatever is there now. So it goes only after the new name of
  // the file is sure to stay; of a file that was replaced it went with the rename.
  await inLanes(pending, deps.width, async ({ kind, staged }) => {
    if (kind === "modify" || staged === null) return;
    await deps.disk.unlink(await deps.pins.of(staged)).catch(() => {}); // tried again when all is cleared away
  });
}

/** The way back, after `undo` is on record. Answers the files that somebody else has changed. */
export async function rollBack(deps: FinishContext, begin: BeginRecord): Promise<string[]> {
  const foreign: string[] = [];
  for (const op of [...begin.ops].reverse())
    if (await failingFor(op.shownPath, () => revertOp(deps, op))) foreign.unshift(op.shownPath);
  await deps.pins.syncExisting(directoriesOf(begin));
  return foreign;
}

function directoriesOf({ ops }: BeginRecord): string[] {
  return ops.map(({ path }) => dirname(path));
}

export interface Ending {
  readonly begin: BeginRecord;
  /** The end is on record already. */
  readonly isEnded: boolean;
  /** We carried everything out ourselves: of what was replaced, no staged name is left. */
  readonly isOwnWork?: boolean;
  readonly result: ChangeOutcome["result"];
  readonly foreign: readonly string[];
}

/** Steps seven to nine. */
export async function finish(
  deps: FinishContext,
  journal: JournalFile,
  { begin, isEnded, isOwnWork = false, result, foreign }: Ending,
): Promise<ChangeOutcome> {
  if (!isEnded) await journal.append({ type: "end", result, foreign });
  const isReverted = result === "reverted";
  await removeTempFiles(deps, begin, { withDirectories: isReverted, isRenamed: isOwnWork });
  if (isReverted) await dropUndoRecord(deps, begin);
  const outcome = { txid: begin.txid, result, foreign, ...(begin.owner ? { owner: begin.owner } : {}) };
  // The files have reached their end, whoever can be told of it.
  if (await deps.settle(outcome).catch(() => false)) await journal.remove();
  return outcome;
}

/** J-1: nothing was committed, so nothing happened; all that was prepared goes. */
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

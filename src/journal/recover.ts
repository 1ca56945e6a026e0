// Completes what a crash interrupted: all files old or all files new. May itself be stopped at any point, any number of
// times. If it cannot finish, the journal stays and the error says why; reading works, applying has to wait.

import { GalleyError } from "../base/errors.js";
import type { ChangeOutcome } from "../plans/change-writer.js";
import { ForeignChange, failingFor, recoveryNeeded } from "./apply-failures.js";
import { stateOfOp } from "./carry-out.js";
import type { ChangeDisk } from "./change-set.js";
import {
  type Ending,
  type FinishContext,
  finish,
  forget,
  rollBack,
  rollForward,
  syncMovedDirectories,
} from "./finish.js";
import { JournalFile, journalPaths, readJournal } from "./journal-file.js";
import { statAt } from "./look-at.js";
import { turnedLinks } from "./ops/op-types.js";
import { PinnedPaths } from "./pinned-paths.js";
import { type JournalState, type StoredOp, stateOf } from "./records.js";
import { type Marks, markOf } from "./verify-unchanged.js";

export interface RecoverContext {
  readonly disk: ChangeDisk;
  readonly journalDir: string;
  /** How many files are read or removed at the same time. */
  readonly width: number;
  settle(outcome: ChangeOutcome): Promise<boolean>;
}

/** The caller holds the lock of the root. Throws `apply_failed`, `Recovery needed: …`, when it cannot finish. */
export async function recoverChanges(context: RecoverContext): Promise<ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = [];
  const { disk, journalDir } = context;
  for (const path of await journalPaths(disk, journalDir).catch(failed)) {
    const deps = { ...context, pins: new PinnedPaths(disk) };
    try {
      const outcome = await recoverOne(deps, path);
      if (outcome) outcomes.push(outcome);
    } catch (error) {
      failed(error);
    } finally {
      await deps.pins.close();
    }
  }
  return outcomes;
}

function failed(error: unknown): never {
  throw recoveryNeeded(error);
}

async function recoverOne(deps: FinishContext, path: string): Promise<ChangeOutcome | undefined> {
  const { records, soundBytes } = await failingFor(path, () => readJournal(deps.disk, path));
  const state = stateOf(records);
  if (!state && records.length > 0)
    throw new GalleyError("unsupported", `${path} was written by a later version of galley`);
  // If the project itself cannot be reached, missing files do not mean that the user removed them.
  if (state) await failingFor(state.begin.root, () => deps.disk.lstat(state.begin.root));
  if (state) deps.pins.expectLinks(turnedLinks(state.begin.ops));
  const journal = await JournalFile.reopen(deps, path, soundBytes);
  try {
    // No valid record, or no commit: nothing has happened.
    if (!state || state.phase === "begun") {
      await forget(deps, journal, state?.begin);
      return undefined;
    }
    return await finish(deps, journal, await completeStep6(deps, journal, state));
  } finally {
    await journal.close();
  }
}

/** Step 6, forward or back. */
async function completeStep6(
  deps: FinishContext,
  journal: JournalFile,
  { begin, phase, end }: JournalState,
): Promise<Ending> {
  if (end) return { begin, isEnded: true, result: end.result, foreign: end.foreign };
  if (phase === "committed") {
    if (await tryRollForward(deps, begin)) return { begin, isEnded: false, result: "applied", foreign: [] };
    await journal.append({ type: "undo" });
  }
  return { begin, isEnded: false, result: "reverted", foreign: await rollBack(deps, begin) };
}

/** False when another program has changed a target. */
async function tryRollForward(deps: FinishContext, begin: JournalState["begin"]): Promise<boolean> {
  await syncMovedDirectories(deps, begin);
  const left = await pendingOps(deps, begin.ops);
  if (!left) return false;
  try {
    await rollForward(deps, { begin, ...left });
    return true;
  } catch (error) {
    if (error instanceof ForeignChange) return false;
    throw error;
  }
}

/** The ops that are left, with marks for the check right before each. Undefined when another program changed a target. */
async function pendingOps(
  deps: FinishContext,
  ops: readonly StoredOp[],
): Promise<{ pending: StoredOp[]; marks: Marks } | undefined> {
  const pending: StoredOp[] = [];
  const marks = new Map<string, string>();
  for (const op of ops) {
    const mark = markOf(op, await statAt(deps, op.path));
    const state = await failingFor(op.shownPath, () => stateOfOp(deps, op));
    if (state === "conflict") return undefined;
    if (state !== "pending") continue;
    pending.push(op);
    marks.set(op.path, mark);
  }
  return { pending, marks };
}

// Applies a change set of N files: all of it or none of it. Everything that needs disk space happens before the one
// commit record; after it only names change. Wherever the process or the machine stops, recovery reaches the old files
// or the new ones. The caller holds the lock of the root and has run recovery (changes.ts). The steps:
//
//   1. Check every target; refuse stale, duplicate and read-only files.              prepare.ts
//   2. Create the journal and append `begin`.                                        journal-file.ts
//   3. Write the undo record; write temporary and backup files beside the targets,
//      make new directories.                                                         undo-record.ts, temp-files.ts
//   4. Hash every target again; a difference makes the change set stale.             verify-unchanged.ts
//   5. Append `commit`: the one commit point.                                        journal-file.ts
//   6. Rename, link, unlink or rmdir, one target after the other.                    finish.ts, carry-out.ts
//   7. Append `end`.                                                                 finish.ts
//   8. Remove the temporary and backup files that are left; give directories their
//      final mode.                                                                   temp-files.ts, directory-ops.ts
//   9. Record the outcome in the session that owns it, then remove the journal.      finish.ts
//
// What a step writes is durable (fsync) before the next step begins. A failure before step 5 removes what steps 2 and 3
// made. A failure in step 5 or 6 appends `undo` and rolls back.

import { dirname, join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError, messageOf } from "../base/errors.js";
import type { ChangeOutcome } from "../plans/change-writer.js";
import { failingFor, recoveryNeeded, untouchedError } from "./apply-failures.js";
import type { AppliedSet, ChangeDisk, ChangeSet, JournalDirectories } from "./change-set.js";
import { finish, forget, rollBack, rollForward } from "./finish.js";
import { JournalFile, journalEnding } from "./journal-file.js";
import { modeUntilEnd, turnedLinks } from "./ops/op-types.js";
import type { PreparedOp } from "./ops/prepared-op.js";
import { PinnedPaths } from "./pinned-paths.js";
import { type Prepared, prepareChangeSet } from "./prepare.js";
import type { BeginRecord, StoredOp } from "./records.js";
import { writeTempFiles } from "./temp-files.js";
import { fitsUndoRecord, undoPath, writeUndoRecord } from "./undo-record.js";
import { type Marks, verifyUnchanged } from "./verify-unchanged.js";

export interface ApplyContext {
  readonly disk: ChangeDisk;
  readonly directories: JournalDirectories;
  /** 128 random bits in hex. */
  readonly txid: string;
  readonly now: number;
  /** How many files are read or written at the same time. */
  readonly width: number;
  /** Without it the change cannot be undone later. */
  readonly keepsUndo: boolean;
  settle(outcome: ChangeOutcome): Promise<boolean>;
}

/**
 * Steps 1 to 9. The caller holds the lock of the root and nothing is left to recover. Throws `stale_preview`,
 * `apply_failed` or `aborted`.
 */
export async function applyChangeSet(context: ApplyContext, set: ChangeSet, signal?: AbortSignal): Promise<AppliedSet> {
  const { disk, txid } = context;
  const pins = new PinnedPaths(disk);
  try {
    throwIfAborted(signal);
    const prepared = await prepareChangeSet({ ...context, pins }, set, txid, signal).catch(untouched);
    const { ops, hardlinkBroken } = prepared;
    pins.expectLinks(turnedLinks(ops));
    if (ops.length === 0) return { txid, hardlinkBroken, isUndoable: false };
    const directories = await canonical(context).catch(untouched);
    const deps = { ...context, directories, pins };
    const begin = beginRecord(deps, set, prepared);
    await applyPrepared(deps, { set, prepared, begin, signal });
    return { txid, hardlinkBroken, isUndoable: begin.undoRecord !== null };
  } finally {
    await pins.close();
  }
}

/** The user may have replaced our directories by links. */
async function canonical({ disk, directories, keepsUndo }: ApplyContext): Promise<JournalDirectories> {
  const { root, journalDir, undoDir } = directories;
  return failingFor("the journal", async () => ({
    root,
    journalDir: await disk.realpath(journalDir),
    undoDir: keepsUndo ? await disk.realpath(undoDir) : undoDir,
  }));
}

type StepContext = ApplyContext & { readonly pins: PinnedPaths };

interface Work {
  readonly set: ChangeSet;
  readonly prepared: Prepared;
  readonly begin: BeginRecord;
  readonly signal: AbortSignal | undefined;
}

async function applyPrepared(deps: StepContext, work: Work): Promise<void> {
  const path = join(deps.directories.journalDir, `${deps.txid}${journalEnding}`);
  const journal = await JournalFile.create(deps, path).catch(untouched);
  try {
    const marks = await prepareCommit(deps, journal, work);
    await commit(deps, journal, { ...work, marks });
  } finally {
    await journal.close();
  }
}

/** Steps 2 to 4. Whatever fails, the targets stay untouched. */
async function prepareCommit(
  deps: StepContext,
  journal: JournalFile,
  { set, prepared, begin, signal }: Work,
): Promise<Marks> {
  try {
    await journal.append(begin);
    await journal.syncName();
    await keepOriginals(deps, { set, prepared, begin, signal });
    await writeTempFiles(deps, prepared, signal);
    const marks = await verifyUnchanged(deps, prepared.ops, signal);
    throwIfAborted(signal);
    return marks;
  } catch (error) {
    // The next recovery removes what cannot be removed now.
    await forget(deps, journal, begin).catch(() => {});
    throw untouchedError(error);
  }
}

/** Steps 5 to 9. They cannot be cancelled. */
async function commit(
  deps: StepContext,
  journal: JournalFile,
  { begin, prepared, marks }: Work & { marks: Marks },
): Promise<void> {
  try {
    // A failed append may still have reached the disk, so only an `undo` record revokes it.
    await journal.append({ type: "commit" });
    await rollForward(deps, { begin, pending: prepared.ops, marks });
  } catch (error) {
    throw await revert(deps, journal, { begin, error });
  }
  // All files are new. If the rest fails, the next recovery completes it with the same result.
  const ending = { begin, isEnded: false, isOwnWork: true, result: "applied", foreign: [] } as const;
  await finish(deps, journal, ending).catch((error: unknown) => {
    // But for the modes of directories, which come last: until they are set, the change is not complete.
    if (begin.ops.some((op) => modeUntilEnd(op) !== undefined)) throw recoveryNeeded(error);
  });
}

/** Returns the error to throw. */
async function revert(
  deps: StepContext,
  journal: JournalFile,
  { begin, error }: { begin: BeginRecord; error: unknown },
): Promise<GalleyError> {
  let foreign: string[];
  try {
    await journal.append({ type: "undo" });
    foreign = await rollBack(deps, begin);
  } catch (cause) {
    return recoveryNeeded(cause);
  }
  // All files are old. If the rest fails, the next recovery completes it.
  await finish(deps, journal, { begin, isEnded: false, result: "reverted", foreign }).catch(() => {});
  const kept =
    foreign.length === 0
      ? "All files were restored."
      : `Not restored, changed by another program: ${foreign.join(", ")}.`;
  return new GalleyError("apply_failed", `Apply failed: ${messageOf(error)}. ${kept}`, { cause: error });
}

function beginRecord(
  { txid, directories, keepsUndo }: StepContext,
  { owner, emptied = [] }: ChangeSet,
  { ops, dirs }: Prepared,
): BeginRecord {
  return {
    type: "begin",
    version: ops.some(isTyped) ? 2 : 1,
    txid,
    root: directories.root,
    ops: ops.map(storedOp),
    dirs,
    ...(emptied.length === 0 ? {} : { emptied }),
    undoRecord: keepsUndo && fitsUndoRecord(ops) ? undoPath(directories.undoDir, txid) : null,
    ...(owner ? { owner } : {}),
  };
}

function storedOp(op: PreparedOp): StoredOp {
  const { kind, path, from, shownPath, before, after, beforeMode, staged, backup } = op;
  const { type, beforeType, afterMode } = op;
  return { kind, path, from, shownPath, before, after, type, beforeType, beforeMode, afterMode, staged, backup };
}

function isTyped({ type, beforeType }: StoredOp): boolean {
  return type !== undefined || beforeType !== undefined;
}

async function keepOriginals(deps: StepContext, { set, prepared, begin, signal }: Work): Promise<void> {
  if (begin.undoRecord === null) return;
  const { label, sourceToolName, by, reason, owner, undoes, kind, run, fromCommand } = set;
  const { txid, now: at } = deps;
  const { ops } = prepared;
  const named = new Set(ops.map(({ path }) => path));
  const dirs = prepared.dirs.filter((path) => !named.has(path));
  await writeUndoRecord(deps, begin.undoRecord, {
    header: {
      type: "change",
      version: fromCommand || ops.some((op) => isTyped(op) || op.isProtected) ? 2 : 1,
      txid,
      at,
      label,
      sourceToolName,
      by,
      reason,
      ...(owner ? { owner } : {}),
      undoes,
      kind,
      run,
      ...(fromCommand ? { fromCommand } : {}),
      ...(dirs.length === 0 ? {} : { dirs }),
    },
    ops,
    signal,
  });
  await deps.pins.sync([dirname(begin.undoRecord)]);
}

function untouched(error: unknown): never {
  throw untouchedError(error);
}

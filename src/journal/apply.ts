// A change set of N files, all or nothing. The order of the steps is the promise: whatever needs room is done before the
// one commit record, only names change after it, and wherever the process or the machine stops, recovery reaches the
// old files or the new ones.

import { dirname, join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError, messageOf } from "../base/errors.js";
import type { ChangeOutcome } from "../preview/change-writer.js";
import type { AppliedSet, ChangeDisk, ChangeSet, JournalPlaces } from "./change-set.js";
import { failingFor, recoveryNeeded, untouchedError } from "./failures.js";
import { finish, forget, rollBack, rollForward } from "./finish.js";
import { JournalFile, journalEnding } from "./journal-file.js";
import { PinnedPaths } from "./pinned-paths.js";
import { type Prepared, prepareChangeSet } from "./prepare.js";
import type { BeginRecord } from "./records.js";
import { stageFiles } from "./stage.js";
import { fitsUndoRecord, undoPath, writeUndoRecord } from "./undo-record.js";
import { type Marks, verifyUnchanged } from "./verify-unchanged.js";

export interface ApplyContext {
  readonly disk: ChangeDisk;
  readonly places: JournalPlaces;
  /** 128 random bits in hex. */
  readonly txid: string;
  readonly now: number;
  /** How many files are read or written at the same time. */
  readonly width: number;
  /** Without it the change cannot be undone later. */
  readonly keepsUndo: boolean;
  settle(outcome: ChangeOutcome): Promise<boolean>;
}

/** The root's lock is held and nothing is left to recover. Throws `stale_preview`, `apply_failed` or `aborted`. */
export async function applyChangeSet(context: ApplyContext, set: ChangeSet, signal?: AbortSignal): Promise<AppliedSet> {
  const { disk, txid } = context;
  const pins = new PinnedPaths(disk);
  try {
    throwIfAborted(signal);
    const prepared = await prepareChangeSet({ ...context, pins }, set, txid, signal).catch(untouched);
    const { ops, hardlinkBroken } = prepared;
    if (ops.length === 0) return { txid, hardlinkBroken, isUndoable: false };
    const places = await canonical(context).catch(untouched);
    const deps = { ...context, places, pins };
    const begin = beginRecord(deps, set, prepared);
    await applyPrepared(deps, { set, prepared, begin, signal });
    return { txid, hardlinkBroken, isUndoable: begin.undoRecord !== null };
  } finally {
    await pins.close();
  }
}

/** The user may keep our directories behind links of his own. */
async function canonical({ disk, places, keepsUndo }: ApplyContext): Promise<JournalPlaces> {
  const { root, journalDir, undoDir } = places;
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
  const path = join(deps.places.journalDir, `${deps.txid}${journalEnding}`);
  const journal = await JournalFile.create(deps, path).catch(untouched);
  try {
    const marks = await getReady(deps, journal, work);
    await commit(deps, journal, { ...work, marks });
  } finally {
    await journal.close();
  }
}

/** Steps two to four. Whatever fails, the targets are as they were. */
async function getReady(
  deps: StepContext,
  journal: JournalFile,
  { set, prepared, begin, signal }: Work,
): Promise<Marks> {
  try {
    await journal.append(begin);
    await journal.syncName();
    await keepOriginals(deps, { set, prepared, begin, signal });
    await stageFiles(deps, prepared, signal);
    const marks = await verifyUnchanged(deps, prepared.ops, signal);
    throwIfAborted(signal);
    return marks;
  } catch (error) {
    // What cannot be tidied up now is tidied up by the next recovery.
    await forget(deps, journal, begin).catch(() => {});
    throw untouchedError(error);
  }
}

/** From here on cancelling is too late. */
async function commit(
  deps: StepContext,
  journal: JournalFile,
  { begin, prepared, marks }: Work & { marks: Marks },
): Promise<void> {
  try {
    // Should it fail, it may be on the disk all the same: only a record that takes it back makes sure.
    await journal.append({ type: "commit" });
    await rollForward(deps, { begin, pending: prepared.ops, marks });
  } catch (error) {
    throw await revert(deps, journal, { begin, error });
  }
  // All files are new. What cannot be tidied up now is tidied up by the next recovery, with the same result.
  const ending = { begin, isEnded: false, isOwnWork: true, result: "applied", foreign: [] } as const;
  await finish(deps, journal, ending).catch(() => {});
}

/** Answers what to throw. */
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
  // All files are old. As above.
  await finish(deps, journal, { begin, isEnded: false, result: "reverted", foreign }).catch(() => {});
  const kept =
    foreign.length === 0
      ? "All files were restored."
      : `Not restored, changed by somebody else: ${foreign.join(", ")}.`;
  return new GalleyError("apply_failed", `Apply failed: ${messageOf(error)}. ${kept}`, { cause: error });
}

function beginRecord(
  { txid, places, keepsUndo }: StepContext,
  { owner }: ChangeSet,
  { ops, dirs }: Prepared,
): BeginRecord {
  return {
    type: "begin",
    version: 1,
    txid,
    root: places.root,
    ops: ops.map(({ kind, path, from, shownPath, before, after, beforeMode, staged, backup }) => ({
      kind,
      path,
      ...(from === undefined ? {} : { from }),
      shownPath,
      before,
      after,
      beforeMode,
      staged,
      backup,
    })),
    dirs,
    undoRecord: keepsUndo && fitsUndoRecord(ops) ? undoPath(places.undoDir, txid) : null,
    ...(owner ? { owner } : {}),
  };
}

async function keepOriginals(deps: StepContext, { set, prepared, begin, signal }: Work): Promise<void> {
  if (begin.undoRecord === null) return;
  const { label, sourceToolName, by, reason, owner, undoes } = set;
  const { txid, now: at } = deps;
  await writeUndoRecord(deps, begin.undoRecord, {
    header: {
      type: "change",
      version: 1,
      txid,
      at,
      label,
      sourceToolName,
      by,
      reason,
      ...(owner ? { owner } : {}),
      ...(undoes === undefined ? {} : { undoes }),
    },
    ops: prepared.ops,
    signal,
  });
  await deps.pins.sync([dirname(begin.undoRecord)]);
}

function untouched(error: unknown): never {
  throw untouchedError(error);
}

// Plans over a workspace that the host provides. They are checked and written only through that workspace: each file
// completely or not at all, and a failure reverts the files written before it. There is no journal. A crash in the
// middle may leave some files changed, and the undo history lasts only as long as this process.

import type { Clock } from "../base/clock.js";
import { sha256Of } from "../base/digest.js";
import { GalleyError, messageOf } from "../base/errors.js";
import { holdFiles } from "../files/disk/hold-files.js";
import { newTransaction } from "../files/disk/temp-names.js";
import type { Workspace } from "../files/workspace.js";
import { changeIdOf } from "../plans/change-id.js";
import type {
  AppliedChanges,
  ApplyOwner,
  ChangeSession,
  ChangeWriter,
  FileSeen,
  UndoFile,
  UndoRecord,
} from "../plans/change-writer.js";
import { isOfFiles, isOnlySeen, type PlannedChange, type SeenFile } from "../plans/plan.js";
import { staleError } from "./apply-failures.js";
import { settledBy } from "./create-change-writer.js";
import { checkStillAllowed, knowsFilesOnly } from "./ops/planned-ops.js";

export interface WorkspaceChangeWriterDeps {
  readonly workspace: Workspace;
  readonly clock: Pick<Clock, "now">;
  /** How much is kept for undo; `keep` 0 keeps nothing. */
  retention(): { readonly keep: number; readonly maxBytes: number };
  /** 32 hexadecimal digits that name a change; default: random. */
  nextTxid?(): Promise<string>;
}

const historyLimit = "The workspace of this session keeps changes only while the process runs.";

export function createWorkspaceChangeWriter(options: WorkspaceChangeWriterDeps): ChangeWriter {
  const { workspace, clock, nextTxid = newTransaction } = options;
  let records: UndoRecord[] = []; // the oldest first

  const keep = (record: UndoRecord) => {
    records = retained([...records, record], options.retention());
  };
  const staleFiles = async (seen: readonly SeenFile[]) => {
    const stale: string[] = [];
    for (const { path, stamp } of seen) if (!(await isAsSeen(workspace, { path, stamp }))) stale.push(stamp.path);
    return stale;
  };
  const refuseStale = async (planned: readonly PlannedChange[]) => {
    const stale = await staleFiles(planned);
    if (stale.length > 0) throw staleError(stale, planned.length);
  };

  return {
    historyLimit,
    async apply(planned, owner, session, there = workspace) {
      const apply = async () => {
        const typed = planned.find((change) => !isOfFiles(change));
        if (typed) throw knowsFilesOnly(typed);
        await checkStillAllowed(there, planned, owner).catch(async (error: unknown) => {
          await refuseStale(planned); // that the file changed is the better error
          throw error;
        });
        await refuseStale(planned);
        return write(planned, owner, session);
      };
      if (owner.holdsFiles) return apply();
      const files = planned.flatMap(({ path, to }) => [{ path }, ...(to === undefined ? [] : [{ path: to }])]);
      return holdFiles(there, files, apply);
    },
    async note(change, session) {
      const txid = await nextTxid();
      const owner = { session: session.owner, pendingId: "" };
      keep({ type: "change", version: 1, txid, at: clock.now(), ...change, owner, run: session.run });
      return async () => {
        records = records.filter((record) => record.txid !== txid);
      };
    },
    checkWritable: async (path) => void (await workspace.resolve(path, "write")),
    staleFiles,
    recover: async () => [], // nothing outlives the process
    history: async () => records.toReversed(),
    async look(path, left) {
      const unreadable = { bytes: new Uint8Array(), size: 0, mode: 0, isAsLeft: false };
      const now = await fileIn(workspace, path).catch((): FileSeen => unreadable);
      return now && { isAsLeft: sha256Of(now.bytes) === left, ...now };
    },
    async stamp(path) {
      const now = await fileIn(workspace, path);
      return now && { size: now.size, sha256: sha256Of(now.bytes), mode: now.mode };
    },
  };

  async function write(
    planned: readonly PlannedChange[],
    owner: ApplyOwner,
    session: ChangeSession,
  ): Promise<AppliedChanges> {
    const { label, sourceToolName, by, reason, undoes, kind, pendingId, run = session.run } = owner;
    const steps: Step[] = [];
    for (const change of planned) if (!isOnlySeen(change)) steps.push(...(await stepsOf(workspace, change)));
    const hardlinkBroken = await carryOut(workspace, steps, planned.length);
    const txid = await nextTxid();
    const settles = settledBy(owner);
    const changeId = changeIdOf(txid);
    keep({
      type: "change",
      version: 1,
      txid,
      at: clock.now(),
      label,
      sourceToolName,
      by,
      reason,
      owner: { session: session.owner, ...settles },
      undoes,
      kind,
      run,
      files: steps.map(undoFileOf),
    });
    if (pendingId) await session.recordApplied(settles, { changeId, by, reason });
    return { changeId, hardlinkBroken };
  }
}

/** One file that is modified, created or deleted. */
interface Step {
  readonly path: string;
  readonly shownPath: string;
  /** Null where there is no file. */
  readonly before: { readonly bytes: Uint8Array; readonly mode: number; readonly mtimeMs: number } | null;
  /** Null where the file is deleted. */
  readonly after: Uint8Array | null;
  readonly mode?: number | undefined;
}

/** A rename is a creation and a deletion. */
async function stepsOf(workspace: Workspace, change: PlannedChange): Promise<Step[]> {
  const { kind, path, to, stamp, before: bytes, after, mode } = change;
  const found = kind === "create" ? undefined : await workspace.resolve(path, "read");
  const stat = found && (await workspace.stat(found));
  const before = stat ? { bytes, mode: stat.mode, mtimeMs: stat.modifiedMs } : null;
  const here = { path, shownPath: stamp.path, before };
  if (kind === "delete") return [{ ...here, after: null }];
  if (kind !== "rename" || to === undefined) return [{ ...here, after, mode }];
  const { displayPath } = await workspace.resolve(to, "write");
  return [
    { path: to, shownPath: displayPath, before: null, after, mode: mode ?? stat?.mode },
    { ...here, after: null },
  ];
}

/** All steps or none. Returns the shown paths of files whose other hard links keep the old bytes. */
async function carryOut(workspace: Workspace, steps: readonly Step[], total: number): Promise<string[]> {
  const hardlinkBroken: string[] = [];
  for (const [index, step] of steps.entries()) {
    try {
      if (await replace(workspace, step)) hardlinkBroken.push(step.shownPath);
    } catch (error) {
      const left = await rollBack(workspace, steps.slice(0, index + 1));
      throw failure(error, { left, step, total });
    }
  }
  return hardlinkBroken;
}

/** The workspace compares the file once more. Returns whether other hard links keep the old bytes. */
async function replace(workspace: Workspace, { path, before, after, mode }: Step): Promise<boolean> {
  const target = await workspace.resolve(path, "write");
  const expected = before ? sha256Of(before.bytes) : "absent";
  if (after) {
    const request = { bytes: after, expected, mode };
    return (await workspace.writeFile(target, request)).hardlinkBroken ?? false;
  }
  await workspace.removeFile(target, { expected });
  return false;
}

/**
 * Reverts the newest step first. Returns the shown paths that could not be restored. The last step failed, so its file may
 * be old or new; a file that is neither was written by another program, and is left alone.
 */
async function rollBack(workspace: Workspace, steps: readonly Step[]): Promise<string[]> {
  const left: string[] = [];
  for (const step of steps.toReversed()) {
    const { path, shownPath, before, after, mode } = step;
    try {
      const now = await fileIn(workspace, path);
      if (isContent(now?.bytes, before?.bytes)) continue;
      if (step === steps.at(-1) && !isContent(now?.bytes, after ?? undefined)) continue;
      const was = after && { bytes: after, mode: mode ?? now?.mode ?? 0, mtimeMs: 0 };
      await replace(workspace, { path, shownPath, before: was, after: before?.bytes ?? null, mode: before?.mode });
    } catch {
      left.push(shownPath); // reported with the failure of the apply
    }
  }
  return left;
}

function isContent(now: Uint8Array | undefined, expected: Uint8Array | undefined): boolean {
  return now && expected ? Buffer.compare(now, expected) === 0 : now === expected;
}

function failure(error: unknown, about: { left: readonly string[]; step: Step; total: number }): GalleyError {
  const { left, step, total } = about;
  if (left.length === 0 && GalleyError.is(error, "file_changed")) return staleError([step.shownPath], total);
  const rest =
    left.length === 0
      ? "All files were restored."
      : `These files could not be restored: ${left.join(", ")}. The workspace of this session has no journal.`;
  const reason = messageOf(error).replace(/\.$/, "");
  return new GalleyError("apply_failed", `Apply failed: ${reason}. ${rest}`, { cause: error });
}

function undoFileOf({ path, shownPath, before, after }: Step): UndoFile {
  const kind = before ? (after ? "modify" : "delete") : "create";
  return { kind, path, shownPath, before, afterHash: after && sha256Of(after) };
}

async function isAsSeen(workspace: Workspace, { path, stamp }: SeenFile): Promise<boolean> {
  try {
    const now = await fileIn(workspace, path);
    return now ? stamp.exists && sha256Of(now.bytes) === stamp.sha256 : !stamp.exists;
  } catch {
    return false; // something is there that cannot be compared
  }
}

/** The whole file, of any length; undefined if there is none. Throws if it may not be read. */
async function fileIn(workspace: Workspace, path: string): Promise<Omit<FileSeen, "isAsLeft"> | undefined> {
  try {
    const target = await workspace.resolve(path, "read");
    const { sizeBytes, mode } = await workspace.stat(target);
    const { bytes, isTruncated } = await workspace.readFile(target, { maxBytes: sizeBytes + 1 });
    if (isTruncated) throw new GalleyError("file_changed", `${target.displayPath} grew while it was read.`);
    return { bytes, size: bytes.length, mode };
  } catch (error) {
    if (GalleyError.is(error, "not_found")) return undefined;
    throw error;
  }
}

/** The newest `keep` records, as long as the bytes that they hold fit into `maxBytes`. */
function retained(records: UndoRecord[], { keep, maxBytes }: { keep: number; maxBytes: number }): UndoRecord[] {
  const kept: UndoRecord[] = [];
  let bytes = 0;
  for (const record of records.toReversed()) {
    bytes += record.files.reduce((sum, { before }) => sum + (before?.bytes.length ?? 0), 0);
    if (kept.length >= keep || bytes > maxBytes) break;
    kept.unshift(record);
  }
  return kept;
}

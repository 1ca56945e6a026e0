// The journal as a ChangeWriter: plans are checked against the workspace rules once more, applied all or nothing, and
// settled in the session that owns them, even if another process has to finish the apply.

import { dirname } from "node:path";
import { holdFiles } from "../files/disk/hold-files.js";
import { type FileNow, fileNow, isPlain } from "../files/file-now.js";
import { mayExist } from "../files/paths/find-roots.js";
import type { Workspace } from "../files/workspace.js";
import { changeIdOf } from "../plans/change-id.js";
import type {
  AppliedActions,
  AppliedChanges,
  ApplyOwner,
  ChangeMade,
  ChangeOutcome,
  ChangeOwner,
  ChangeSession,
  ChangeWriter,
} from "../plans/change-writer.js";
import { isOnlySeen, type PlannedChange, type SeenFile } from "../plans/plan.js";
import type { ChangesOptions } from "./changes.js";
import { createChanges } from "./changes.js";
import { checkStillAllowed, opOf } from "./ops/planned-ops.js";

export interface ChangeWriterDeps extends Required<ChangesOptions> {
  readonly workspace: Workspace;
  /** Crash recovery only: the outcome belongs to another session. False while that session is open in another process. */
  settleElsewhere(owner: ChangeOwner, change: ChangeMade): Promise<boolean>;
}

const fromCommand = true as const;

/** Together with the 256 MiB that undo keeps at most, this still fits into one JavaScript string. */
const maxSeenBytes = 120 * 1024 * 1024;

export function createChangeWriter(deps: ChangeWriterDeps): ChangeWriter {
  const { workspace } = deps;
  const changes = createChanges(deps);

  return {
    async apply(planned, owner, session, there = workspace) {
      const apply = async () => {
        await checkStillAllowed(there, planned, owner).catch(async (error: unknown) => {
          // The rules may refuse what replaced a file. That the file changed is the better error.
          await refuseStale(planned, planned.length);
          throw error;
        });
        await refuseStale(planned.filter(isOnlySeen), planned.length);
        const written = planned.filter((change) => !isOnlySeen(change));
        return write(written, owner, session);
      };
      if (owner.holdsFiles) return apply();
      const files = planned.flatMap(({ path, to }) => [{ path }, ...(to === undefined ? [] : [{ path: to }])]);
      return holdFiles(there, files, apply);
    },
    note: (change, session) =>
      changes.note({ ...change, owner: { session: session.owner, pendingId: "" }, run: session.run }),
    checkWritable: async (path) => void (await workspace.resolve(path, "write")),
    staleFiles,
    recover: (session) => changes.recover((outcome) => settle(outcome, session)),
    history: async () => (await changes.list()).records,
    damagedHistory: async () => (await changes.list()).damaged,
    claimId(above) {
      try {
        return `pa_${changes.claim(above)}`;
      } catch {
        return undefined; // the agent directory cannot be written: the session counts by itself
      }
    },
    async look(path, left) {
      const unreadable = { hash: "", sizeBytes: 0, mode: 0 }; // the write reports why it cannot be read
      const now = await fileNow(path, maxSeenBytes).catch((): FileNow => unreadable);
      if (!now && mayExist(path) && (await isPlain(dirname(path))))
        return { bytes: new Uint8Array(), size: 0, mode: 0, isAsLeft: false, isOther: true };
      if (!now) return undefined;
      const isAsLeft = now.hash === left;
      const type = now.type ? { type: now.type } : {};
      if (now.type && !isAsLeft)
        return { bytes: new Uint8Array(), size: 0, mode: now.mode, isAsLeft, ...type, isOther: true };
      const bytes = isAsLeft ? now.bytes : await readAllowed(workspace, path);
      return { bytes: bytes ?? new Uint8Array(), size: now.sizeBytes, mode: now.mode, isAsLeft, ...type };
    },
    async stamp(path) {
      const now = await fileNow(path, 0);
      return now && { size: now.sizeBytes, sha256: now.hash, mode: now.mode, ...(now.type ? { type: now.type } : {}) };
    },
  };

  async function refuseStale(seen: readonly SeenFile[], total: number): Promise<void> {
    const stale = seen.length === 0 ? [] : await staleFiles(seen);
    if (stale.length === 0) return;
    const { staleError } = await import("./apply-failures.js");
    throw staleError(stale, total);
  }

  function staleFiles(seen: readonly SeenFile[]): Promise<string[]> {
    return changes.staleFiles(
      seen.map(({ path, stamp: { path: shownPath, exists, sha256: hash } }) => ({
        path,
        shownPath,
        ...(exists ? { hash } : {}),
      })),
    );
  }

  async function write(
    planned: readonly PlannedChange[],
    applying: ApplyOwner,
    session: ChangeSession,
  ): Promise<AppliedChanges> {
    const { label, sourceToolName, by, reason, undoes, kind, run = session.run } = applying;
    const settles = settledBy(applying);
    const owner = { session: session.owner, ...settles };
    const ops = planned.map((change) => opOf(change, { isFromCommand: applying.fromCommand?.has(change.path) }));
    const more = { undoes, kind, ...(applying.fromCommand?.size ? { fromCommand } : {}) };
    const set = { label, sourceToolName, by, reason, owner, ...more, run, ops };
    const { txid, hardlinkBroken } = await changes.apply(set, (outcome) => settle(outcome, session, set));
    return { changeId: changeIdOf(txid), hardlinkBroken };
  }

  /** `ours`: the change being applied. Other outcomes come from the recovery that runs before it. */
  async function settle(
    { txid, result, owner }: ChangeOutcome,
    session: ChangeSession,
    ours?: Omit<ChangeMade, "changeId"> & { readonly owner: ChangeOwner },
  ): Promise<boolean> {
    if (result === "reverted" || !owner?.pendingId) return true; // still pending, or never was
    const { by, reason } = owner === ours?.owner ? ours : await decisionOf(txid);
    const change = { changeId: changeIdOf(txid), by, reason };
    if (session.owner !== owner.session) return deps.settleElsewhere(owner, change);
    await session.recordApplied(owner, change);
    return true;
  }

  /** The undo record holds who decided. */
  async function decisionOf(txid: string): Promise<Omit<ChangeMade, "changeId">> {
    const record = await changes.read(txid);
    return { by: (record?.by as ChangeMade["by"]) ?? "runtime", reason: record?.reason ?? "Finished after a crash." };
  }
}

/** What a change settles, without what else is known of it. */
export function settledBy({ pendingId, alsoApplied, isPart, parts }: AppliedActions): AppliedActions {
  return {
    pendingId,
    ...(alsoApplied ? { alsoApplied } : {}),
    ...(isPart ? { isPart } : {}),
    ...(parts ? { parts } : {}),
  };
}

/** Undefined if the file may not be read or is too long to be shown. */
async function readAllowed(workspace: Workspace, path: string): Promise<Uint8Array | undefined> {
  try {
    const { bytes, isTruncated } = await workspace.readFile(await workspace.resolve(path, "read"));
    return isTruncated ? undefined : bytes;
  } catch {
    return undefined; // not for showing
  }
}

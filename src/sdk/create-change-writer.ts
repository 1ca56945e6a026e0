// Plans on their way to the disk: checked once more against the rules, written by the journal, settled in the session
// that asked, also when another process has to finish the work.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { Settings } from "../config/settings/settings.js";
import { holdFiles } from "../files/disk/hold-files.js";
import { type FileNow, fileNow } from "../files/file-now.js";
import type { Workspace } from "../files/workspace.js";
import { type ChangeOp, type ChangeOutcome, createChanges } from "../journal/changes.js";
import { appliedEntries, foldPending } from "../pending/pending-entries.js";
import type { AppliedActions, PlanHands, PlanSession } from "../preview/change-writer.js";
import { isOnlySeen, type PlannedChange, type SeenFile } from "../preview/plan.js";
import type { AppliedChanges, ApplyOwner, Decision } from "../preview/settle.js";
import { SessionManager, type SessionManagerOptions } from "../record/record.js";

export interface PlanHandsParts {
  readonly root: string;
  readonly agentDir: string;
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessions: SessionManagerOptions;
}

/** With the 256 MiB that undo keeps at most, still a plan that can be written down as one text. */
const maxSeenBytes = 120 * 1024 * 1024;

type Settled = Pick<Decision, "by" | "reason">;

export function createPlanHands(parts: PlanHandsParts): PlanHands {
  const { workspace, settings } = parts;
  let own: PlanSession | undefined;
  const applying = new Set<ApplyOwner & { session: string }>();
  const changes = createChanges({
    ...parts,
    retention: () => undoRetention(settings),
    settle: async (outcome) => settle(outcome),
  });

  return {
    attach(session) {
      own = session;
    },
    async apply(planned, owner, there = workspace) {
      const apply = async () => {
        await checkStillAllowed(there, planned).catch(async (error: unknown) => {
          // What took the place of a file has rules of its own; that the file is gone is what there is to say.
          await refuseStale(planned, planned.length);
          throw error;
        });
        await refuseStale(planned.filter(isOnlySeen), planned.length);
        return write(
          planned.filter((change) => !isOnlySeen(change)),
          owner,
        );
      };
      if (owner.holdsFiles) return apply();
      const places = planned.flatMap(({ path, to }) => [{ path }, ...(to === undefined ? [] : [{ path: to }])]);
      return holdFiles(there, places, apply);
    },
    note: (change) => changes.note({ ...change, owner: { session: own?.owner() ?? "", pendingId: "" } }),
    staleFiles,
    recover: () => changes.recover(),
    history: () => changes.list(),
    async look(path, left) {
      const unreadable = { hash: "", sizeBytes: 0, mode: 0 }; // there, and whoever tries to write it hears why
      const now = await fileNow(path, maxSeenBytes).catch((): FileNow => unreadable);
      if (!now) return undefined;
      const isAsLeft = now.hash === left;
      const bytes = isAsLeft ? now.bytes : await readAllowed(workspace, path);
      return { bytes: bytes ?? new Uint8Array(), size: now.sizeBytes, mode: now.mode, isAsLeft };
    },
    async stamp(path) {
      const now = await fileNow(path, 0);
      return now && { size: now.sizeBytes, sha256: now.hash, mode: now.mode };
    },
  };

  async function refuseStale(seen: readonly SeenFile[], total: number): Promise<void> {
    const stale = seen.length === 0 ? [] : await staleFiles(seen);
    if (stale.length === 0) return;
    const { staleError } = await import("../journal/failures.js");
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

  async function write(planned: readonly PlannedChange[], owner: ApplyOwner): Promise<AppliedChanges> {
    const { label, sourceToolName, by, reason, undoes, pendingId, alsoApplied, isPart } = owner;
    const session = own?.owner() ?? "";
    const ours = { ...owner, session };
    applying.add(ours);
    try {
      const { txid, hardlinkBroken } = await changes.apply({
        label,
        sourceToolName,
        by,
        reason,
        owner: {
          session,
          pendingId,
          ...(alsoApplied ? { alsoApplied } : {}),
          ...(isPart ? { isPart } : {}),
        },
        ...(undoes === undefined ? {} : { undoes }),
        ops: planned.map(opOf),
      });
      return { changeId: `ch_${txid.slice(0, 8)}`, hardlinkBroken };
    } finally {
      applying.delete(ours);
    }
  }

  async function settle({ txid, result, owner }: ChangeOutcome): Promise<boolean> {
    if (result === "reverted" || !owner?.pendingId) return true; // still pending, or never was
    // What another one left behind is brought to its end on the way, and may have the same id.
    const ours = [...applying].find(
      ({ pendingId, session }) => pendingId === owner.pendingId && session === owner.session,
    );
    const decision = ours ?? (await decisionOf(txid));
    if (own?.owner() === owner.session) {
      await own.recordApplied(owner, decision);
      return true;
    }
    return settleElsewhere(parts.sessions, { ...owner, decision });
  }

  /** Who decided is kept with what was replaced. */
  async function decisionOf(txid: string): Promise<Settled> {
    const record = await changes.read(txid);
    return { by: (record?.by as Settled["by"]) ?? "runtime", reason: record?.reason ?? "Finished after a crash." };
  }
}

export function undoRetention(settings: Settings): { keep: number; maxBytes: number } {
  return { keep: settings.get("undo.keep"), maxBytes: settings.get("undo.maxBytes") };
}

/** In the file of another session, unless it is there. False while somebody has that session open. */
async function settleElsewhere(
  options: SessionManagerOptions,
  { session, decision, ...applied }: AppliedActions & { session: string; decision: Settled },
): Promise<boolean> {
  const manager = await SessionManager.open(session, options).catch(() => undefined);
  if (!manager) return true; // gone, or never was a file: nobody is left to tell
  try {
    if (manager.readOnlyReason !== undefined) return false;
    if (applied.isPart) await manager.artifacts.promoteRest(applied.pendingId);
    const entries = appliedEntries(foldPending(manager.tree.entries, manager.sessionId).open, applied, decision);
    for (const { entry } of entries) manager.append(entry);
    await manager.sync();
    return manager.persistError === undefined;
  } finally {
    await manager.close();
  }
}

/** What was staged may have become protected, or led elsewhere, since then. */
export async function checkStillAllowed(workspace: Workspace, planned: readonly PlannedChange[]): Promise<void> {
  const places = planned.flatMap(({ path, to, stamp }) =>
    [path, ...(to === undefined ? [] : [to])].map((place) => ({ place, shown: stamp.path })),
  );
  const targets = await workspace.resolveAll(
    places.map(({ place }) => place),
    "write",
  );
  for (const [index, { place, shown }] of places.entries())
    if (targets[index]?.path !== place)
      throw new GalleyError(
        "apply_failed",
        `Apply failed: ${shown}: it leads somewhere else now. Nothing was written.`,
      );
}

/** Undefined where it may not be read, or is too long to be shown. */
async function readAllowed(workspace: Workspace, path: string): Promise<Uint8Array | undefined> {
  try {
    const { bytes, isTruncated } = await workspace.readFile(await workspace.resolve(path, "read"));
    return isTruncated ? undefined : bytes;
  } catch {
    return undefined; // not for showing
  }
}

function opOf({ kind, path, to, stamp, before, after, mode, mtimeMs }: PlannedChange): ChangeOp {
  const seen = { path, shownPath: stamp.path, beforeHash: stamp.sha256, beforeBytes: before };
  const content = {
    bytes: after,
    ...(mode === undefined ? {} : { mode }),
    ...(mtimeMs === undefined ? {} : { mtimeMs }),
  };
  if (kind === "create") return { kind, path, shownPath: stamp.path, ...content };
  if (kind === "delete") return { kind, ...seen };
  if (kind === "modify") return { kind, ...seen, ...content };
  return { kind, ...seen, ...content, to: to ?? path, shownTo: to ?? path };
}

// Plans on their way to the disk: checked once more against the rules, written by the journal, settled in the session
// that asked, also when another process has to finish the work.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { PlannedChange } from "../preview/plan.js";
import type { ApplyOwner, Decision } from "../preview/settle.js";
import { appliedEntries, foldPending } from "../session/pending/pending-entries.js";
import type { AppliedActions, PlanHands, PlanSession } from "../session/pending/plan-hands.js";
import { SessionManager, type SessionManagerOptions } from "../session/session-manager.js";
import { type ChangeOp, type ChangeOutcome, createChanges } from "../workspace/changes.js";
import type { Workspace } from "../workspace/workspace.js";
import type { Settings } from "./settings/settings.js";

export interface PlanHandsParts {
  readonly root: string;
  readonly agentDir: string;
  readonly workspace: Workspace;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessions: SessionManagerOptions;
}

type Settled = Pick<Decision, "by" | "reason">;

export function createPlanHands(parts: PlanHandsParts): PlanHands {
  const { workspace, settings } = parts;
  let own: PlanSession | undefined;
  let applying: (ApplyOwner & { session: string }) | undefined;
  const changes = createChanges({
    ...parts,
    retention: () => ({ keep: settings.get("undo.keep"), maxBytes: settings.get("undo.maxBytes") }),
    settle: async (outcome) => settle(outcome),
  });

  return {
    attach(session) {
      own = session;
    },
    async apply(planned, owner, there = workspace) {
      await checkStillAllowed(there, planned);
      const { label, sourceToolName, by, reason, undoes, pendingId, alsoApplied, isPart } = owner;
      const session = own?.owner() ?? "";
      applying = { ...owner, session };
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
        applying = undefined;
      }
    },
    note: (change) => changes.note({ ...change, owner: { session: own?.owner() ?? "", pendingId: "" } }),
    staleFiles: (seen) =>
      changes.staleFiles(
        seen.map(({ path, stamp: { path: shownPath, exists, sha256: hash } }) => ({
          path,
          shownPath,
          ...(exists ? { hash } : {}),
        })),
      ),
    recover: () => changes.recover(),
    history: () => changes.list(),
    look: (path) => look(workspace, path),
  };

  async function settle({ txid, result, owner }: ChangeOutcome): Promise<boolean> {
    if (result === "reverted" || !owner?.pendingId) return true; // still pending, or never was
    // What another one left behind is brought to its end on the way, and may have the same id.
    const isOurs = applying?.pendingId === owner.pendingId && applying.session === owner.session;
    const decision = applying && isOurs ? applying : await decisionOf(txid);
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
async function checkStillAllowed(workspace: Workspace, planned: readonly PlannedChange[]): Promise<void> {
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

async function look(workspace: Workspace, path: string): Promise<{ bytes: Uint8Array; mode: number } | undefined> {
  try {
    const target = await workspace.resolve(path, "read");
    if (target.kind !== "file") return undefined;
    const [{ bytes }, { mode }] = [await workspace.readFile(target), await workspace.stat(target)];
    return { bytes, mode };
  } catch (error) {
    if (GalleyError.is(error, "not_found")) return undefined;
    throw error;
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

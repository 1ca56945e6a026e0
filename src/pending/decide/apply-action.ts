// Applies a pending action, or a part of it, with what it rests on: one change set, all or nothing. A failed apply leaves
// every action as it was and says why. A plan is written as it was shown or not at all, through the `ChangeWriter`.

import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { AppliedChanges, ApplyOwner } from "../../plans/change-writer.js";
import { combinePlans, type Plan, type PlannedChange } from "../../plans/plan.js";
import { protectedError, protectedIn } from "../../plans/protected-changes.js";
import type { RefreshedPlan, StoredAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import type { Along, Outcome } from "../outcome.js";
import { type ActionBelow, actionsBelow, dependentsOf, planOf } from "../store/stack.js";
import { resultOf } from "./callback-result.js";
import type { DecideContext, Decision } from "./decision.js";
import { editedText, editedWithout } from "./edited-text.js";
import { attemptsAt, refused } from "./refuse-decision.js";
import { type Share, sharesBelow, takenWith, wholeShare } from "./shares.js";
import { missingText, neededBy, staleText, writtenMembers } from "./words.js";

export async function applyAction(context: DecideContext, stored: StoredAction, decision: Decision): Promise<Outcome> {
  const { store } = context;
  const { action, work } = stored;
  const { id } = action;
  const { reason, extra, by } = decision;
  try {
    let written: AppliedChanges | undefined;
    let also: readonly Along[] = [];
    let returned: ToolResult;
    const edits = await editedText(stored);
    if (work.kind === "closure") returned = resultOf(await work.apply(reason, extra, { id, by })) ?? { content: [] };
    else {
      ({ written, also } = await applyShare(context, { share: wholeShare(stored, work.plan), decision }));
      returned = await afterPlan(stored, decision, writtenResult(work.plan, written));
    }
    store.remove(id, { outcome: "applied", by, reason }, work);
    return { kind: "applied", id, action, decision, also, edits, returned, ...written };
  } catch (error) {
    return applyFailed(context, stored, decision, error);
  }
}

/**
 * Writes a share of a plan in one change set with what it rests on, as far as the same files are concerned. Those lower
 * actions are held meanwhile; they are settled with it, whole or in part, or stay as they were.
 */
export async function applyShare(
  context: DecideContext,
  { share, decision }: { share: Share; decision: Decision },
): Promise<{ written: AppliedChanges; also: readonly Along[] }> {
  const { store, changes, session } = context;
  const { by, reason } = decision;
  const { id: pendingId, sourceToolName } = share.stored.action;
  const { undoes, kind } = planOf(share.stored) ?? {};
  const held: ActionBelow[] = [];
  try {
    for (const lower of actionsBelow(
      store,
      share.stored,
      share.changes.map(({ path }) => path),
    )) {
      const { id } = lower.stored.action;
      if (lower.stored.misfit !== undefined) throw new GalleyError("tool_failed", lower.stored.misfit);
      if (!store.take(id)) throw new GalleyError("tool_failed", missingText(store, id));
      held.push(lower);
    }
    const below = await sharesBelow(store, held, pendingId);
    const also = await Promise.all(below.map(alongWith));
    const combined = combinePlans([...below, share]);
    const allowsProtected = await isAgreed(context, combined, { share, decision });
    const written = await changes.apply(
      combined,
      {
        ...takenWith(share, below),
        ...(allowsProtected ? { allowsProtected } : {}),
        ...commandPaths([...below, share]),
        label: share.label,
        sourceToolName,
        by,
        reason,
        undoes,
        kind,
        run: share.stored.run,
      },
      session,
    );
    for (const { stored, part, rest, files } of below) {
      const { id } = stored.action;
      if (!part || !rest) store.remove(id, { outcome: "applied", by, reason: neededBy(pendingId) });
      else {
        const taken = store.get(id) as StoredAction;
        const step = { event: "part", action: "apply", by, changeId: written.changeId, ...part } as const;
        store.changePlan(taken, {
          plan: rest,
          step,
          label: part.rest.label,
          files,
          ...editedWithout(taken, part.settled),
        });
      }
    }
    return { written, also };
  } catch (error) {
    for (const { stored } of held) store.putBack(stored.action.id, stored.action.status);
    throw error;
  }
}

async function alongWith({ stored, part }: Share): Promise<Along> {
  const { id, label } = stored.action;
  return { id, label, part: part?.settled, edits: await editedText(stored) };
}

/** Throws `protected` without the user's word; false where nothing needs it. */
async function isAgreed(
  { confirmProtected }: DecideContext,
  changes: readonly PlannedChange[],
  { share, decision }: { share: Share; decision: Decision },
): Promise<boolean> {
  const guarded = protectedIn(changes);
  if (guarded.length === 0) return false;
  if (decision.protected === true && decision.by !== "model") return true;
  const question = { label: share.label, files: guarded.map(({ stamp }) => stamp.path) };
  const answer = await confirmProtected?.(question, decision.signal).catch(() => false); // a failed answer is not a yes
  if (answer !== true) throw protectedError(guarded);
  return true;
}

/** What commands did among the files of these shares. */
function commandPaths(shares: readonly Share[]): Pick<ApplyOwner, "fromCommand"> {
  const own = shares.filter(({ stored }) => planOf(stored)?.fromCommand);
  if (own.length === 0) return {};
  return { fromCommand: new Set(own.flatMap(({ changes }) => changes.map(({ path }) => path))) };
}

function writtenResult({ applied: { text, details } }: Plan, written: AppliedChanges): ToolResult {
  return { content: [{ type: "text", text }], details: { ...(details as object), ...writtenMembers(written) } };
}

/** The files are written: whatever fails now, the action is applied and the change keeps its id. */
async function afterPlan(
  { action: { id }, work }: StoredAction,
  { reason, extra, by }: Decision,
  written: ToolResult,
): Promise<ToolResult> {
  if (work.kind !== "plan" || !work.afterApply) return written;
  try {
    const told = resultOf(await work.afterApply(reason, extra, { id, by }));
    if (!told) return written;
    const { details } = told;
    const own = isObject(details) || details === undefined ? details : { details };
    return { ...told, details: { ...own, ...(written.details as object) } };
  } catch (error) {
    const text = `Applied, but the follow-up step failed: ${messageOf(error)}`;
    return { ...written, content: [...written.content, { type: "text", text }] };
  }
}

export async function applyFailed(
  context: DecideContext,
  stored: StoredAction,
  decision: Decision,
  thrown: unknown,
): Promise<Outcome> {
  const { store } = context;
  const { action } = stored;
  const { id, files = [] } = action;
  const { by, reason, extra } = decision;
  if (GalleyError.is(thrown, "protected")) {
    store.putBack(id); // it was not tried
    const { files: guarded = [] } = (thrown.details ?? {}) as { files?: string[] };
    return refused(store, stored, { decision, why: { kind: "protected", files: guarded } });
  }
  if (!GalleyError.is(thrown, "stale_preview")) {
    const error = isToolError(thrown) ? messageOf(thrown) : `Apply failed: ${messageOf(thrown)}`;
    store.release(stored, { outcome: "failed", by, reason, error });
    const code = thrown instanceof GalleyError ? thrown.code : undefined;
    return { kind: "failed", id, action, decision, error, code, attempt: attemptsAt(store, action) };
  }
  if (extra?.refresh === true && stored.work.kind === "plan" && stored.work.refresh)
    return refresh(context, stored, decision, stored.work.refresh);
  const { files: changed = [], total = files.length } = (thrown.details ?? {}) as { files?: string[]; total?: number };
  const isChanged = new Set(changed);
  const stamps = files.filter(({ path }) => isChanged.has(path));
  const stale = { kind: "stale", id, action, decision, files: changed, total } as const;
  store.release(stored, { outcome: "stale", by, reason, error: staleText(stale), files: stamps });
  return { ...stale, attempt: attemptsAt(store, action) };
}

/** The same search on the files as they are now, under the same id. Writes nothing: the new preview has to be seen first. */
async function refresh(
  context: DecideContext,
  stored: StoredAction,
  decision: Decision,
  again: (signal: AbortSignal | undefined) => Promise<RefreshedPlan>,
): Promise<Outcome> {
  try {
    const { plan, result, ...fresh } = await again(decision.signal);
    const { store } = context;
    const { action } = stored;
    const { id } = action;
    const revision = store.nextRevision(id);
    store.changePlan(stored, { plan, ...fresh, step: { event: "renewed", id, revision } });
    // What was staged on top was made for what the old plan would have left.
    for (const above of dependentsOf(store, stored)) store.markStale(above.action.id, above.action.files ?? []);
    return { kind: "refreshed", id, action, decision, revision, returned: result };
  } catch (error) {
    return applyFailed(context, stored, { ...decision, extra: undefined }, error);
  }
}

/** Our own errors, and those that tools of extensions throw as a message for the model. */
function isToolError(thrown: unknown): boolean {
  return thrown instanceof GalleyError || (thrown instanceof Error && thrown.name === "ToolError");
}

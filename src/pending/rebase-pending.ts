// Makes the change of a stale plan on the files as they are now. Writes nothing: the result is a new preview under the
// same id, which has to be decided about.

import { GalleyError } from "../base/errors.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import { amountOf, labelOfPart } from "../plans/label-figures.js";
import { isMadeFor, type Plan, type PlannedChange, typeMember } from "../plans/plan.js";
import { type PresentFile, type RebasedChange, rebaseChange } from "../plans/rebase-change.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { PendingAction, PendingActionView } from "../protocol/pending.js";
import { refuseOtherRevision } from "./decide/refuse-decision.js";
import { missingText } from "./decide/words.js";
import type { PendingActions } from "./pending-actions.js";
import { rebasedFrom, replaceChanges } from "./replay-steps.js";
import type { ReviseRequest } from "./revise-pending.js";
import { actionsBelow, changeAt, dependentsOf, planOf } from "./store/stack.js";
import { viewPending } from "./view-pending.js";

export interface RebaseRequest
  extends Pick<ReviseRequest, "pendingId" | "by">,
    Partial<Pick<ReviseRequest, "revision">> {
  /** Leave out what does not fit; default: then nothing changes. */
  readonly partial?: boolean | undefined;
}

export interface RebaseDeps {
  readonly pending: PendingActions;
  readonly changes: Pick<ChangeWriter, "look" | "staleFiles">;
}

export interface Rebased {
  readonly action: PendingActionView;
  readonly left: { path: string; hunks: number[] }[];
}

export async function rebasePending(deps: RebaseDeps, request: RebaseRequest): Promise<Rebased> {
  const { pending } = deps;
  const { store } = pending;
  const { pendingId } = request;
  const asked = store.get(pendingId);
  if (!asked) throw new GalleyError("not_found", missingText(store, pendingId));
  refuseOtherRevision(asked, request.revision);
  const plan = planOf(asked);
  if (!plan)
    throw new GalleyError("invalid_argument", `Pending action ${pendingId} cannot be rebased: it has no plan.`);
  if (asked.misfit !== undefined) throw new GalleyError("stale_preview", asked.misfit);
  const taken = store.take(pendingId);
  if (!taken) throw new GalleyError("not_found", missingText(store, pendingId));
  let left: Rebased["left"];
  try {
    left = await rebase(deps, { taken, plan, status: asked.action.status }, request);
  } finally {
    store.putBack(pendingId, asked.action.status);
  }
  await pending.flush();
  const [action] = await viewPending(store, { ids: [pendingId] });
  if (!action) throw new GalleyError("not_found", missingText(store, pendingId));
  return { action, left };
}

async function rebase(
  deps: RebaseDeps,
  { taken, plan, status }: { taken: StoredAction; plan: Plan; status: PendingAction["status"] },
  { partial = false, by }: RebaseRequest,
): Promise<Rebased["left"]> {
  const { store } = deps.pending;
  const { id, label } = taken.action;
  const stale = await staleChanges(deps, taken, plan);
  if (stale.length === 0) {
    store.putBack(id, status);
    store.markFresh(id);
    return [];
  }
  const made = stale.map(({ change, rebased }) => ({ path: change.stamp.path, ...rebased }));
  const left = made.flatMap(({ path, left: hunks }) => (hunks.length === 0 ? [] : [{ path, hunks: [...hunks] }]));
  const changes = made.flatMap(({ change }) => change ?? []);
  const dropped = made.filter(({ change }) => !change).map(({ path }) => path);
  const replaced = replaceChanges(plan, changes, new Set(dropped));
  if (left.length > 0 && (!partial || replaced.length === 0)) {
    store.putBack(id, status);
    store.markStale(
      id,
      stale.map(({ change }) => change.stamp),
    );
    if (!partial) return left;
    throw new GalleyError("stale_preview", `Nothing of ${id} finds its lines any more. Discard it and preview again.`, {
      details: { files: left.map(({ path }) => path) },
    });
  }
  const amount = await amountOf({ changes: replaced });
  const told = left.length === 0 ? label : labelOfPart(label, { whole: plan, part: replaced, amount });
  const step = {
    event: "rebased" as const,
    id,
    revision: store.nextRevision(id),
    by,
    dropped,
    left,
    rest: { ...amount, label: told },
    changes,
  };
  const paths = stale.map(({ change }) => change.path);
  store.changePlan(taken, {
    ...(await rebasedFrom({ plan, edited: taken.edited }, step)),
    step,
    label: told,
    files: stale.map(({ change, rebased }) => (rebased.change ?? change).stamp),
  });
  // What was staged on top was made for what the old plan would have left.
  for (const { action } of dependentsOf(store, taken, paths)) {
    const isConcerned = new Set(stale.map(({ change }) => change.stamp.path));
    store.markStale(
      action.id,
      (action.files ?? []).filter(({ path }) => isConcerned.has(path)),
    );
  }
  return left;
}

interface StaleChange {
  readonly change: PlannedChange;
  readonly rebased: RebasedChange;
}

/** The files that are not as they were seen, on the disk or in what lies below, and what becomes of their changes. */
async function staleChanges(
  { pending, changes }: RebaseDeps,
  stored: StoredAction,
  plan: Plan,
): Promise<StaleChange[]> {
  const onDisk: PlannedChange[] = [];
  const found = new Map<PlannedChange, PresentFile>();
  for (const change of plan.changes) {
    const lower = actionsBelow(pending.store, stored, [change.path]).findLast(({ paths }) =>
      paths.has(change.path),
    )?.stored;
    const below = lower && changeAt(lower, change.path);
    if (!lower || !below) onDisk.push(change);
    else if (lower.action.status !== "pending")
      throw new GalleyError(
        "stale_preview",
        `It rests on ${lower.action.id}, which is ${lower.action.status}. Rebase that first.`,
      );
    else if (!isMadeFor(change, below))
      found.set(change, below.kind === "delete" ? undefined : presentIn(below, change));
  }
  const stale = new Set(onDisk.length === 0 ? [] : await changes.staleFiles(onDisk));
  for (const change of onDisk) if (stale.has(change.stamp.path)) found.set(change, await presentFile(changes, change));
  const rebased: StaleChange[] = [];
  for (const [change, present] of found) rebased.push({ change, rebased: await rebaseChange(change, present) });
  return rebased;
}

/** What lies below leaves it so. */
function presentIn({ after, type }: PlannedChange, { stamp }: PlannedChange): PresentFile {
  return { bytes: after, mode: stamp.mode, ...typeMember(type) };
}

/** Undefined also for what may not be shown: then nothing of it fits. */
async function presentFile({ look }: RebaseDeps["changes"], { path, kind }: PlannedChange): Promise<PresentFile> {
  const now = await look(path, null);
  if (!now) return undefined;
  const isShown = now.bytes.length === now.size;
  const type = now.type ? { type: now.type } : {};
  return isShown || kind === "create" ? { bytes: now.bytes, mode: now.mode, ...type } : undefined;
}

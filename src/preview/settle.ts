// Settles a pending action: applies or discards it. A failed apply leaves the action as it was and says why; a discard
// always ends it. A plan is written as it was shown or not at all.

import { throwIfAborted } from "../base/abort.js";
import { type ErrorCode, GalleyError, messageOf } from "../base/errors.js";
import { isObject } from "../base/json.js";
import type { ToolResult } from "../protocol/events.js";
import type { Decider, PendingOutcome } from "../protocol/pending.js";
import { blocksOf, resultOf } from "./callback-result.js";
import type { AppliedChanges, ApplyOwner, ChangeSession, ChangeWriter } from "./change-writer.js";
import type { PendingActionStore, RefreshedPlan, StoredAction } from "./pending-action-store.js";
import { combinePlans, type Plan } from "./plan.js";
import { dependenciesOf, dependentsOf, planOf } from "./stack.js";

export interface Decision {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: Record<string, unknown> | undefined;
  readonly by: Decider;
  /** Stops it until the work begins; work that has begun runs to its end. */
  readonly signal?: AbortSignal | undefined;
}

export interface SettleSettings {
  readonly maxAttempts: number;
  readonly decider: "model" | "user" | "both";
  /** With `both`, if the user cannot be asked: refuse instead of accepting the model's decision. */
  readonly requireUser: boolean;
}

export interface SettleContext {
  readonly store: PendingActionStore;
  settings(): SettleSettings;
  readonly changes: Pick<ChangeWriter, "apply">;
  /** The session that the changes are made for. */
  readonly session: ChangeSession;
  /** What is left once a part is applied lasts before that begins: a crash must not cost it. */
  keepRest?(id: string, rest: Plan): Promise<void>;
  /** Undefined: the user cannot be asked. Ends, with anything but true, when the signal fires. */
  confirm?(stored: StoredAction, signal: AbortSignal | undefined): Promise<boolean | undefined>;
}

export interface Settled {
  readonly outcome: PendingOutcome | "refused";
  readonly result: ToolResult;
  /** Actions that were settled with it, in the same way: those that it depends on, or that depend on it. */
  readonly also?: readonly StoredAction[];
  /** The failure of an apply, for a caller that has to throw it again. */
  readonly code?: ErrorCode | undefined;
}

/** The id must be there and free: `missingText` says why not. */
export async function settleAction(context: SettleContext, id: string, decision: Decision): Promise<Settled> {
  const { store } = context;
  const asked = store.get(id);
  const refusal = asked && refusalOf(context, asked, decision);
  if (refusal !== undefined) return refused(context, asked as StoredAction, decision, refusal);
  const stored = store.take(id);
  if (!stored) throw new GalleyError("tool_failed", missingText(store, id));
  const agreed = await agreement(context, stored, decision);
  if (decision.action === "apply" && (decision.signal?.aborted || agreed === "unavailable")) {
    store.putBack(id, asked?.action.status);
    throwIfAborted(decision.signal);
    return refused(context, stored, decision, cannotAskText);
  }
  if (!store.get(id)) throw new GalleyError("tool_failed", missingText(store, id)); // it went with another one meanwhile
  if (agreed === "no") return discard(context, stored, declined(decision));
  return decision.action === "discard" ? discard(context, stored, decision) : apply(context, stored, decision);
}

export const nothingPendingText = "No pending action to resolve. Nothing to apply or discard.";
export const forReviewText = "Staged for review: the user decides.";
const cannotAskText = "The user has to agree, but cannot be asked here. Nothing was written; the action stays pending.";

/** The reason for settling an action that another one depends on. */
export function neededBy(id: string): string {
  return `Needed by ${id}.`;
}

/** Why an id cannot be settled: it ended, or there never was one. */
export function missingText(store: PendingActionStore, id: string): string {
  const outcome = store.endOf(id);
  if (outcome === "expired") return `Pending action ${id} expired. Preview again.`;
  if (outcome === "applied" || outcome === "discarded") return `Pending action ${id} was already ${outcome}.`;
  if (store.get(id)) return `Pending action ${id} is being applied.`;
  const pending = store.list().map(({ action }) => action.id);
  return `No pending action with id "${id}". Pending: ${pending.join(", ") || "none"}.`;
}

/** Why it may not be tried at all. */
export function refusalOf({ settings }: SettleContext, { action, isForReview }: StoredAction, decision: Decision) {
  if (decision.action === "discard") return undefined;
  const { maxAttempts, decider } = settings();
  if (decision.by === "model" && (isForReview || decider === "user")) return forReviewText;
  if (action.attempts < maxAttempts) return undefined;
  const { id, attempts, lastError } = action;
  return `Pending action ${id} failed ${attempts} times; discard it and preview again. Last error: ${lastError}`;
}

/** With `both`, the user is asked before an action is applied that the model wants to apply. */
async function agreement(
  context: SettleContext,
  stored: StoredAction,
  { action, by, signal }: Decision,
): Promise<"yes" | "no" | "unavailable"> {
  const { decider, requireUser } = context.settings();
  if (action === "discard" || by !== "model" || decider !== "both") return "yes";
  try {
    const answer = await context.confirm?.(stored, signal);
    if (answer !== undefined) return answer === true ? "yes" : "no";
    return requireUser ? "unavailable" : "yes";
  } catch {
    return "no"; // a failed answer is not consent
  }
}

function declined(decision: Decision): Decision {
  return { ...decision, action: "discard", by: "user", reason: `User declined: ${decision.reason}` };
}

async function apply(context: SettleContext, stored: StoredAction, decision: Decision): Promise<Settled> {
  const { store } = context;
  const { id } = stored.action;
  const { reason, extra, by } = decision;
  const { work } = stored;
  const below = dependenciesOf(store, stored);
  try {
    const result =
      work.kind === "closure"
        ? (resultOf(await work.apply(reason, extra, { id, by })) ?? { content: [] })
        : await applyOn(context, below, { stored, decision }, async (owner) => {
            const written = await context.changes.apply(
              combinePlans([...plansOf(below), work.plan]),
              owner,
              context.session,
            );
            return afterPlan(stored, decision, writtenResult(work.plan, written));
          });
    store.remove(id, { outcome: "applied", by, reason }, work);
    return {
      outcome: "applied",
      result: settledResult(store, stored, decision, { result, note: withIt(below, "apply") }),
      also: below,
    };
  } catch (error) {
    return applyFailed(context, stored, decision, error);
  }
}

/** Runs the work while it holds the actions below; they are settled with it, or stay as they were. */
export async function applyOn<T>(
  { store }: SettleContext,
  below: readonly StoredAction[],
  { stored, decision: { by, reason } }: { stored: StoredAction; decision: Decision },
  work: (owner: ApplyOwner) => Promise<T>,
): Promise<T> {
  const { id: pendingId, label, sourceToolName } = stored.action;
  const alsoApplied = below.map(({ action }) => action.id);
  const undoes = planOf(stored)?.undoes;
  const held: StoredAction[] = [];
  try {
    for (const other of below) {
      if (!store.take(other.action.id)) throw new GalleyError("tool_failed", missingText(store, other.action.id));
      held.push(other);
    }
    const also = alsoApplied.length === 0 ? {} : { alsoApplied };
    const about = { label, sourceToolName, by, reason, ...(undoes === undefined ? {} : { undoes }), run: stored.run };
    const done = await work({ pendingId, ...also, ...about });
    for (const id of alsoApplied) store.remove(id, { outcome: "applied", by, reason: neededBy(pendingId) });
    return done;
  } catch (error) {
    for (const { action } of held) store.putBack(action.id, action.status);
    throw error;
  }
}

export function plansOf(chain: readonly StoredAction[]): Plan[] {
  return chain.map(planOf).filter((plan) => plan !== undefined);
}

/** Names what was settled with an action; undefined where nothing was. */
export function withIt(others: readonly StoredAction[], action: Decision["action"]): string | undefined {
  if (others.length === 0) return undefined;
  const names = others.map(({ action: { id, label } }) => `${id} ${label}`);
  return `${action === "apply" ? "Applied" : "Discarded"} with it: ${names.join("; ")}`;
}

function writtenResult({ applied: { text, details } }: Plan, written: AppliedChanges): ToolResult {
  return { content: [{ type: "text", text }], details: { ...(details as object), ...writtenDetails(written) } };
}

export function writtenDetails({ changeId, hardlinkBroken }: AppliedChanges): AppliedChanges {
  return { changeId, ...(hardlinkBroken?.length ? { hardlinkBroken } : {}) };
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
  context: SettleContext,
  stored: StoredAction,
  decision: Decision,
  thrown: unknown,
): Promise<Settled> {
  const { store } = context;
  const { sourceToolName, files = [] } = stored.action;
  const { by, reason, extra } = decision;
  if (!GalleyError.is(thrown, "stale_preview")) {
    const error = isToolError(thrown) ? messageOf(thrown) : `Apply failed: ${messageOf(thrown)}`;
    store.release(stored, { outcome: "failed", by, reason, error });
    const code = thrown instanceof GalleyError ? thrown.code : undefined;
    return { outcome: "failed", result: failedResult(store, stored, decision, error), code };
  }
  if (extra?.refresh === true && stored.work.kind === "plan" && stored.work.refresh)
    return refresh(context, stored, decision, stored.work.refresh);
  const { files: changed = [], total = files.length } = thrown.details as { files?: string[]; total?: number };
  const error = staleText(changed, total, sourceToolName);
  const stamps = files.filter(({ path }) => changed.includes(path));
  store.release(stored, { outcome: "stale", by, reason, error, files: stamps });
  return { outcome: "stale", result: failedResult(store, stored, decision, error), code: thrown.code };
}

/** The same search on the files as they are now, under the same id. Writes nothing: the new preview has to be seen first. */
async function refresh(
  context: SettleContext,
  stored: StoredAction,
  decision: Decision,
  again: (signal: AbortSignal | undefined) => Promise<RefreshedPlan>,
): Promise<Settled> {
  try {
    const { plan, result, ...fresh } = await again(decision.signal);
    context.store.changePlan(stored, plan, fresh);
    // What was staged on top was made for what the old plan would have left.
    for (const { action } of dependentsOf(context.store, stored))
      context.store.markStale(action.id, action.files ?? []);
    return { outcome: "refused", result: { ...result, details: { ...(result.details as object), refreshed: true } } };
  } catch (error) {
    return applyFailed(context, stored, { ...decision, extra: undefined }, error);
  }
}

async function discard(context: SettleContext, stored: StoredAction, decision: Decision): Promise<Settled> {
  const { store } = context;
  const { id, label } = stored.action;
  const { reason, extra, by } = decision;
  const above = dependentsOf(store, stored);
  let result: ToolResult | undefined;
  let error: string | undefined;
  try {
    result = resultOf(await stored.work.reject?.(reason, extra, { id, by }));
  } catch (thrown) {
    error = messageOf(thrown);
  }
  store.remove(id, { outcome: "discarded", by, reason, ...(error === undefined ? {} : { error }) }, stored.work);
  discardAll(store, above, { id, by });
  if (error !== undefined) {
    const text = `Discarded: ${label}, but cleanup failed: ${error}`;
    return { outcome: "discarded", result: failedResult(store, stored, decision, text), also: above };
  }
  const note = withIt(above, "discard");
  const standard: ToolResult = { content: [{ type: "text", text: `Discarded: ${label}. Reason: ${reason}` }] };
  const settled = settledResult(store, stored, decision, { result: result ?? standard, note });
  return { outcome: "discarded", result: settled, also: above };
}

/** Discards the actions that were made for the result of a discarded one. */
export function discardAll(
  store: PendingActionStore,
  above: readonly StoredAction[],
  { id, by }: { id: string; by: Decider },
): void {
  for (const { action } of above) store.remove(action.id, { outcome: "discarded", by, reason: `Depends on ${id}.` });
}

export function refused({ store }: SettleContext, stored: StoredAction, decision: Decision, text: string): Settled {
  return { outcome: "refused", result: failedResult(store, stored, decision, text) };
}

function settledResult(
  store: PendingActionStore,
  stored: StoredAction,
  decision: Decision,
  { result, note }: { result: ToolResult; note: string | undefined },
): ToolResult {
  const details = result.details === undefined ? {} : { sourceResultDetails: result.details };
  const still = stillPendingText(store);
  const blocks = [note, still].filter((text) => text !== undefined);
  return {
    content: [...blocksOf(result), ...blocks.map((text) => ({ type: "text" as const, text }))],
    details: { ...metadata(store, stored, decision), ...details },
    ...(result.isError === true ? { isError: true } : {}),
  };
}

function failedResult(store: PendingActionStore, stored: StoredAction, decision: Decision, error: string): ToolResult {
  const attempt = store.get(stored.action.id)?.action.attempts ?? stored.action.attempts;
  return {
    content: [{ type: "text", text: error }],
    details: { ...metadata(store, stored, decision), error, attempt },
    isError: true,
  };
}

/** The first four keys are part of the published contract, in this form. */
export function metadata(
  store: PendingActionStore,
  { action }: StoredAction,
  { action: decided, reason, extra }: Decision,
) {
  const { id, label, sourceToolName, details } = action;
  return {
    action: decided,
    reason,
    sourceToolName,
    label,
    id,
    remaining: store.size,
    ...(extra === undefined ? {} : { extra }),
    ...(details === undefined ? {} : { sourceDetails: details }),
  };
}

const maxNamed = 5;

function stillPendingText(store: PendingActionStore): string | undefined {
  const names = store.list().map(({ action }) => `${action.id} ${action.label}`);
  if (names.length === 0) return undefined;
  const more = names.length > maxNamed ? [`+${names.length - maxNamed} more`] : [];
  return `Still pending: ${[...names.slice(0, maxNamed), ...more].join("; ")}`;
}

function staleText(changed: readonly string[], total: number, sourceToolName: string): string {
  const paths = changed.slice(0, maxNamed).join(", ");
  return `Preview is stale: ${changed.length} of ${total} files changed since the preview (${paths}). Nothing was written. Run ${sourceToolName} again or discard.`;
}

/** Our own errors, and those that tools of extensions throw as a message for the model. */
function isToolError(thrown: unknown): boolean {
  return thrown instanceof GalleyError || (thrown instanceof Error && thrown.name === "ToolError");
}

// What follows a run of a prompt: nothing, or another run. Decided before `agent_end`, because that event announces
// it; carried out after it. The first reason that applies wins.

import type { MessageQueues } from "../loop/message-queues.js";
import type { RunEnd } from "../loop/run.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { ContinueReason, SessionEvent } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ProviderModel } from "../provider/provider.js";
import { billedUsageType } from "../record/billing.js";
import type { SessionRecord } from "../record/record.js";
import type { EntryFields } from "../record/record-options.js";
import type { Budget } from "./budget/budget.js";
import { type CompactionController, continueText, type OverflowDecision } from "./compaction/compaction-controller.js";
import type { RetryController } from "./retry.js";
import type { PlannedFallback, RetryFallback } from "./retry-fallback.js";
import type { RulesController } from "./rules/rules-controller.js";
import type { SessionSettings } from "./session-settings.js";
import type { TodoTracker } from "./todos/todo-tracker.js";

export type Continuation =
  | { readonly reason: "ttsr" }
  /** With another model, where one is named for it. */
  | { readonly reason: "retry"; readonly fallback: PlannedFallback | undefined }
  | { readonly reason: "overflow"; readonly decision: OverflowDecision }
  /** Compacts; with `autoContinue` the agent is asked to go on afterwards. */
  | { readonly reason: "auto_continue" }
  /** `isFull`: the context is compacted first. */
  | { readonly reason: "queued" | "todo"; readonly isFull: boolean };

/** `closing`: no further run, but something is still to be done and told. */
export type Verdict = { readonly next: Continuation } | { readonly closing?: OverflowDecision | "compact" };

export interface ContinuationContext {
  /** Undefined where no stream rules are. */
  readonly ttsr: RulesController | undefined;
  readonly retry: RetryController;
  readonly fallback: RetryFallback;
  readonly budget: Pick<Budget, "isUsedUp">;
  readonly compaction: CompactionController;
  readonly queues: MessageQueues;
  readonly todos: TodoTracker;
  /** The last turn used a tool because the user forced it to. */
  isUserForced(): boolean;
  emit(event: SessionEvent): void;
  readonly record: SessionRecord;
  settings(): SessionSettings;
  now(): number;
}

export interface EndedRun extends RunEnd {
  /** The run's own: another one may have been chosen meanwhile. */
  readonly model: ProviderModel;
  /** The run was stopped from outside, so nothing of it continues by itself. */
  readonly isAborted: boolean;
}

export function decideContinuation(context: ContinuationContext, end: EndedRun): Verdict {
  const { compaction, queues, ttsr, todos } = context;
  const isFailed = end.stopReason === "error" || end.stopReason === "aborted";
  // A notice waits for the next reply: a failed one is first asked for again.
  const isRuleDue = ttsr?.pending === "interrupt" || (ttsr?.pending === "follow_up" && !isFailed);
  if (!end.isAborted && isRuleDue) return { next: { reason: "ttsr" } };
  const retry = isFailed ? decideRetry(context, end) : undefined;
  if (retry) return { next: retry };
  const overflow = canBeAskedAgain(end) ? compaction.decideOverflow(end.model) : undefined;
  if (overflow?.kind === "recover") return { next: { reason: "overflow", decision: overflow } };
  if (overflow) return { closing: overflow };
  if (isFailed) return {};
  const isFull = compaction.decideThreshold();
  if (isFull && context.settings().compaction.autoContinue) return { next: { reason: "auto_continue" } };
  if (queues.hasWork) return { next: { reason: "queued", isFull } };
  if (context.budget.isUsedUp) return {}; // a reminder would only turn a good answer into a failure
  if (todos.isReminderDue(end.message, { isUserForced: context.isUserForced() }))
    return { next: { reason: "todo", isFull } };
  return isFull ? { closing: "compact" } : {};
}

function decideRetry({ retry, fallback }: ContinuationContext, end: EndedRun): Continuation | undefined {
  const planned = end.stopReason === "error" ? fallback.plan(end.model) : undefined;
  const decision = retry.onFailure(end.message, planned !== undefined);
  if (decision.kind !== "retry" || end.stopReason !== "error") return undefined;
  fallback.noteFailure(end.model, end.message);
  return { reason: "retry", fallback: planned };
}

/** Not what was stopped on purpose; nor a reply whose tools have run, since they would run twice. */
function canBeAskedAgain({ stopReason, message }: RunEnd): boolean {
  if (stopReason === "error") return true;
  return stopReason !== "aborted" && !message.content.some(({ type }) => type === "toolCall");
}

/** What `agent_end` says of it. */
export function announced(
  verdict: Verdict,
): { isTerminal: true } | { isTerminal: false; continueReason: ContinueReason } {
  return "next" in verdict ? { isTerminal: false, continueReason: verdict.next.reason } : { isTerminal: true };
}

interface Decided {
  readonly verdict: Verdict;
  readonly end: RunEnd;
  readonly signal: AbortSignal;
}

/** Carries the verdict out. Returns the messages the next run starts with, or undefined when there is none. */
export async function carryOut(context: ContinuationContext, decided: Decided): Promise<AgentMessage[] | undefined> {
  const messages = await nextMessages(context, decided);
  if (!messages) context.retry.close(); // no retry series outlives its prompt
  return messages;
}

async function nextMessages(
  context: ContinuationContext,
  { verdict, end, signal }: Decided,
): Promise<AgentMessage[] | undefined> {
  const { retry, compaction } = context;
  if (!("next" in verdict)) {
    retry.close();
    if (verdict.closing === "compact") await compaction.compactAtThreshold(signal);
    else if (verdict.closing) await compaction.recover(verdict.closing, signal);
    return undefined;
  }
  switch (verdict.next.reason) {
    case "ttsr":
      return signal.aborted ? undefined : inject(context, end);
    case "retry":
      if ((await retry.wait(signal)) !== "due") return undefined;
      takeBack(context.record, end);
      if (verdict.next.fallback) context.fallback.apply(verdict.next.fallback);
      return [];
    case "overflow": {
      retry.close();
      const { record } = context;
      const failedLeaf = record.tree.leafId;
      takeBack(record, end);
      const { length } = record.context.path;
      if (await compaction.recover(verdict.next.decision, signal)) return [];
      const since = record.context.path.slice(length);
      record.moveLeaf(failedLeaf); // nothing changed, so the reply stands
      carryOver(record, since);
      return undefined;
    }
    case "auto_continue":
      if (!(await compaction.compactAtThreshold(signal)) || signal.aborted) return undefined;
      if (context.budget.isUsedUp) return undefined; // by the summary
      return [
        {
          role: "developer",
          content: [{ type: "text", text: continueText }],
          attribution: "agent",
          timestamp: context.now(),
        },
      ];
    case "queued":
    case "todo":
      // In any case: waiting messages are not held up by a summary that failed.
      if (verdict.next.isFull) await compaction.compactAtThreshold(signal);
      if (signal.aborted) return undefined;
      return verdict.next.reason === "queued" ? takeQueued(context.queues) : remind(context);
  }
}

/** The rule text that the broken reply was missing; the reply itself goes unless the user wants to keep it. */
function inject(context: ContinuationContext, end: RunEnd): AgentMessage[] | undefined {
  const { ttsr, record } = context;
  const wasStopped = ttsr?.pending === "interrupt";
  const injection = ttsr?.takeInjection(context.now());
  if (!injection) return undefined;
  if (wasStopped && context.settings().ttsr.contextMode === "discard") takeBack(record, end);
  record.append({ type: "ttsr_injection", injectedRules: injection.injectedRules });
  return [injection.message];
}

/** The failed reply and its made-up results leave the path; they stay in the record. What else came since then holds. */
function takeBack(record: SessionRecord, { message }: RunEnd): void {
  const { messages, entryIds } = record.context;
  const entryId = entryIds[messages.lastIndexOf(message)];
  const path = record.tree.pathTo();
  const index = path.findIndex(({ id }) => id === entryId);
  if (index === -1) return;
  record.moveLeaf(path[index]?.parentId ?? null);
  const isResult = (entry: SessionEntry) => entry.type === "message" && entry.message.role === "toolResult";
  carryOver(
    record,
    path.slice(index + 1).filter((entry) => !isResult(entry)),
  );
}

/** Entries that just left the path, and were not taken back, return to it; except bills, which count anywhere. */
function carryOver(record: SessionRecord, entries: readonly SessionEntry[]): void {
  for (const { id: _id, parentId: _parent, timestamp: _time, ...fields } of entries)
    if (fields.type !== "custom" || fields.customType !== billedUsageType) record.append(fields as EntryFields);
}

function remind({ todos, budget, emit }: ContinuationContext): AgentMessage[] | undefined {
  const reminder = budget.isUsedUp ? undefined : todos.takeReminder();
  if (!reminder) return undefined;
  emit(reminder.event);
  return [reminder.message];
}

function takeQueued(queues: MessageQueues): AgentMessage[] | undefined {
  const steering = queues.takeSteering();
  const taken = steering.length > 0 ? steering : queues.takeFollowUps();
  return taken.length > 0 ? taken.map((item) => item.message) : undefined;
}

// Makes the model decide about a preview: one directive that forces `resolve`, one reminder at the next turn. Both
// follow the store's next action. They never start more turns than the allowed reminders, and they never block the
// session: a model that ignores them, or a service that rejects them, is left alone after a few attempts.

import type { RejectReason, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { ToolResult } from "../protocol/events.js";
import type { AssistantMessage, CustomMessage } from "../protocol/messages.js";
import { capabilitiesOf, type ProviderModel } from "../provider/provider.js";
import type { Decision } from "./decide/decision.js";
import type { PendingSettings } from "./pending-settings.js";
import type { PendingActionStore } from "./store/pending-action-store.js";

export const resolveToolName = "resolve";
export const reminderType = "resolve-reminder";

/** What the model may ask of `resolve`. */
export interface ResolveParams {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: Record<string, unknown>;
  readonly id?: string;
  readonly all?: boolean;
}

export interface ResolveForceDeps {
  readonly store: PendingActionStore;
  readonly toolChoice: ToolChoiceQueue;
  settings(): PendingSettings;
  model(): ProviderModel | undefined;
  /** The service refuses a forced choice while the model thinks: then it is only reminded. */
  forbidsForcedChoice(): boolean;
  /** Of the run under way. */
  signal(): AbortSignal | undefined;
  now(): number;
  warn(message: string): void;
  decide(id: string, decision: Decision): Promise<ToolResult>;
}

/** What happened so far to get one action decided. */
interface Effort {
  reminders: number;
  /** Turns that were forced, or reminded, and did not decide. */
  ignored: number;
  wantsReminder: boolean;
}

export class ResolveForce {
  readonly #deps: ResolveForceDeps;
  readonly #efforts = new Map<string, Effort>();
  /** Models whose service has rejected a forced choice. */
  readonly #unforceable = new Set<string>();
  #hasWarned = false;
  #directive: { actionId: string; label: string } | undefined;

  constructor(deps: ResolveForceDeps) {
    this.#deps = deps;
  }

  /** The store changed. `isNews`: the model has to be told about this action, which is new or failed. */
  changed(actionId: string, isNews: boolean): void {
    const { store } = this.#deps;
    if (!store.get(actionId)) this.#efforts.delete(actionId);
    else if (isNews) this.#effort(actionId).wantsReminder = true;
    this.#alignDirective();
  }

  /** After a turn's tools, before the next request: at most one reminder, however many previews there are. */
  turnBoundary(): readonly CustomMessage[] {
    const next = this.#eligible();
    if (!next || this.#deps.settings().forcing === "off") return [];
    const effort = this.#effort(next.action.id);
    // A forced turn reports by itself that it was ignored; one that was only reminded is judged here.
    if (!this.#directive && effort.reminders > 0 && !effort.wantsReminder) effort.ignored++;
    const isDue = effort.wantsReminder || effort.reminders < this.#deps.settings().reminders;
    const reminders = isDue ? [this.#remind(next)] : [];
    this.#alignDirective();
    return reminders;
  }

  /** Before the first request of a run: what the model must be told, if it is new or was lost since the last one. */
  runStart(): readonly CustomMessage[] {
    const next = this.#eligible();
    const isDue = next && this.#deps.settings().forcing !== "off" && this.#effort(next.action.id).wantsReminder;
    return isDue ? [this.#remind(next)] : [];
  }

  /** A compaction removed previews from the model's context. */
  remindAgain(isLost: (stored: StoredAction) => boolean): void {
    for (const stored of this.#deps.store.list())
      if (isLost(stored)) this.#effort(stored.action.id).wantsReminder = true;
  }

  /** A service that answers a forced choice with "bad request" is not asked that way again. */
  replied(message: AssistantMessage): void {
    if (!this.#directive || message.stopReason !== "error" || message.error?.kind !== "invalid_request") return;
    this.#unforceable.add(`${message.provider}/${message.model}`);
  }

  clear(): void {
    this.#efforts.clear();
    this.#dropDirective();
  }

  #alignDirective(): void {
    const next = this.#forced();
    if (this.#directive?.actionId === next?.action.id) return;
    this.#dropDirective();
    if (next) this.#pushDirective(next);
  }

  #pushDirective({ action: { id, sourceToolName } }: StoredAction): void {
    const label = `pending-action:${sourceToolName}`;
    this.#directive = { actionId: id, label };
    this.#deps.toolChoice.pushOnce(
      { type: "tool", name: resolveToolName },
      {
        label,
        now: true,
        maxRequeues: Number.POSITIVE_INFINITY, // we count ourselves
        onInvoked: (params) => this.#invoke(id, params),
        onResolved: () => {
          this.#directive = undefined;
          this.#alignDirective();
        },
        onRejected: (reason) => this.#rejected(id, reason),
      },
    );
  }

  #rejected(actionId: string, reason: RejectReason): "requeue" | undefined {
    if (reason === "not_invoked") this.#effort(actionId).ignored++;
    if (reason !== "removed" && reason !== "cleared" && this.#forced()?.action.id === actionId) return "requeue";
    this.#directive = undefined;
    return undefined;
  }

  #invoke(id: string, params: Record<string, unknown>): Promise<ToolResult> {
    const { action, reason, extra } = params as { action: "apply"; reason: string; extra?: Record<string, unknown> };
    const signal = this.#deps.signal();
    return this.#deps.decide(id, { action, reason, by: "model", signal, extra });
  }

  #dropDirective(): void {
    const directive = this.#directive;
    this.#directive = undefined;
    if (directive) this.#deps.toolChoice.removeByLabel(directive.label);
  }

  /** The action that the next request is to be forced for. */
  #forced(): StoredAction | undefined {
    const next = this.#eligible();
    if (!next || !this.#canForce()) return undefined;
    const { forcing, maxAttempts } = this.#deps.settings();
    const { ignored } = this.#effort(next.action.id);
    if (forcing === "off" || ignored >= maxAttempts || (forcing === "remind" && ignored === 0)) return undefined;
    return next;
  }

  /** The next action that is the model's to decide: what waits for the user does not hold up what cannot wait. */
  #eligible(): StoredAction | undefined {
    const { store, settings } = this.#deps;
    if (settings().decider === "user") return undefined;
    return store.list().find(({ isForReview }) => !isForReview);
  }

  #canForce(): boolean {
    const model = this.#deps.model();
    if (!model || this.#deps.forbidsForcedChoice()) return false;
    const name = `${model.provider}/${model.id}`;
    const isPossible = model.compat?.supportsToolChoice !== false && !this.#unforceable.has(name);
    // The built-in planner is like this by design; for any other model the user should know.
    if (!isPossible && !this.#hasWarned && capabilitiesOf(model).isLanguageModel) {
      this.#hasWarned = true;
      this.#deps.warn(`${name} cannot be made to call a tool: it is only reminded of pending previews`);
    }
    return isPossible;
  }

  #effort(actionId: string): Effort {
    let effort = this.#efforts.get(actionId);
    if (!effort) {
      effort = { reminders: 0, ignored: 0, wantsReminder: false };
      this.#efforts.set(actionId, effort);
    }
    return effort;
  }

  #remind(next: StoredAction): CustomMessage {
    const { store, now } = this.#deps;
    // The reminder names all of them, so it counts for each.
    for (const { action } of store.list()) {
      const told = this.#effort(action.id);
      told.reminders++;
      told.wantsReminder = false;
    }
    const all = store
      .list()
      .map(({ action }) => withoutTag(`- ${action.id} ${action.label} (${action.sourceToolName})`));
    const lines = [
      "<system-reminder>",
      "This is a preview. Call the `resolve` tool to apply or discard these changes.",
      ...(all.length > 1 ? all : []),
      "</system-reminder>",
    ];
    return {
      role: "custom",
      customType: reminderType,
      content: lines.join("\n"),
      display: false,
      details: { toolName: next.action.sourceToolName },
      attribution: "agent",
      timestamp: now(),
    };
  }
}

/** Names may contain any text, and must not close the element of the reminder that lists them. */
function withoutTag(line: string): string {
  return line.replace(/<(?=[\s/]*system-reminder)/gi, "&lt;");
}

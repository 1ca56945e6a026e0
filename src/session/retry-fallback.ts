// Another model for a retry, where the user named one for the case that a service is overloaded. Promises: the
// session's own model stays the user's choice, on record too; a choice by the user ends every replacement at once.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import type { SessionEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";
import type { ProviderModel } from "../provider/provider.js";
import type { ModelControl } from "./models/model-control.js";
import type { ModelChoice } from "./models/model-source.js";
import { levelSuffix } from "./models/thinking.js";
import type { RetrySettings } from "./retry.js";

export type FallbackEvent = Extract<SessionEvent, { type: `retry_fallback_${string}` }>;

export interface FallbackDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly models: ModelControl;
  settings(): RetrySettings;
  emit(event: FallbackEvent): void;
}

/** Decided, and not applied before the wait is over. */
export interface PlannedFallback {
  readonly choice: ModelChoice;
  readonly from: string;
  readonly role: string;
  /** The user's choice that it was made for. */
  readonly chosen: number;
}

/** For a service that does not say when it may be asked again. */
const cooldownMs = 60_000;

/**
 * The order of calls: `startPrompt`; after a failure `plan`, and `noteFailure` if it is to be retried; `apply` when the
 * wait is over; `onSuccess` at the end of every good assistant message, behind that of the retry.
 */
export class RetryFallback {
  readonly #deps: FallbackDeps;
  /** Of this prompt. */
  readonly #failed = new Set<string>();
  readonly #warned = new Set<string>();
  #untilMs = 0;
  /** Applied, and not yet answered well. */
  #untested: PlannedFallback | undefined;
  /** The one that answered last, for the prompts to come. */
  #proven: PlannedFallback | undefined;

  constructor(deps: FallbackDeps) {
    this.#deps = deps;
  }

  /** The model to begin with in place of the session's own, if there is reason to. */
  startPrompt(): ProviderModel | undefined {
    const { models, clock } = this.#deps;
    this.#failed.clear();
    this.#untested = undefined;
    const isInForce =
      this.#proven?.chosen === models.choices &&
      (this.#deps.settings().fallbackRevertPolicy === "never" || clock.now() < this.#untilMs);
    if (!isInForce) this.#proven = undefined;
    models.standIn(this.#proven?.choice);
    return this.#proven?.choice.model;
  }

  /** The model to ask after this one failed; undefined when none is left. Changes nothing. */
  plan(failed: ProviderModel): PlannedFallback | undefined {
    const { models } = this.#deps;
    if (!models.active || nameOf(models.active) !== nameOf(failed)) return undefined; // the user has chosen another
    const role = this.#role();
    const names = this.#deps.settings().fallbackChains[role] ?? [];
    for (const name of names) {
      const choice = this.#usable(name, role);
      if (!choice || this.#failed.has(nameOf(choice.model)) || nameOf(choice.model) === nameOf(failed)) continue;
      const from = nameOf(failed) + levelSuffix(failed, models.activeThinkingLevel);
      return { choice, from, role, chosen: models.choices };
    }
    return undefined;
  }

  /** It is not asked again for this prompt while there are others, and not asked first during its cooldown. */
  noteFailure(model: ProviderModel, { error }: Pick<AssistantMessage, "error">): void {
    const { models, clock } = this.#deps;
    this.#failed.add(nameOf(model));
    if (models.model && nameOf(models.model) === nameOf(model))
      this.#untilMs = clock.now() + (error?.retryAfterMs ?? cooldownMs);
  }

  /** Unless the user has chosen another model meanwhile. */
  apply(planned: PlannedFallback): void {
    const { models, emit } = this.#deps;
    if (planned.chosen !== models.choices) return;
    models.standIn(planned.choice);
    this.#untested = planned;
    emit({ type: "retry_fallback_applied", from: planned.from, to: this.#fullName(planned), role: planned.role });
  }

  onSuccess(): void {
    const planned = this.#untested;
    if (!planned) return;
    this.#untested = undefined;
    this.#proven = planned;
    this.#deps.emit({ type: "retry_fallback_succeeded", model: this.#fullName(planned), role: planned.role });
  }

  /** The one that the session's own model was named for, where it has a chain; else the conversation's. */
  #role(): string {
    const { models } = this.#deps;
    const { fallbackChains } = this.#deps.settings();
    const own = models.model && nameOf(models.model);
    const named = [...models.roles].find(
      ([role, { model }]) => nameOf(model) === own && Object.hasOwn(fallbackChains, role),
    );
    return named?.[0] ?? "default";
  }

  #usable(name: string, role: string): ModelChoice | undefined {
    const choice = this.#deps.models.choiceOf(name);
    if (!choice && !this.#warned.has(name)) {
      this.#warned.add(name);
      this.#deps.log.warn(`retry.fallbackChains.${role}: ${name} cannot be used now`);
    }
    return choice;
  }

  #fullName({ choice: { model, thinkingLevel } }: PlannedFallback): string {
    return nameOf(model) + levelSuffix(model, thinkingLevel ?? this.#deps.models.thinkingLevel);
  }
}

function nameOf({ provider, id }: ProviderModel): string {
  return `${provider}/${id}`;
}

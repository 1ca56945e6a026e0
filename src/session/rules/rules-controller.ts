// Stream rules in a session: which rules count now, when a match stops the reply, what is injected, and when a rule
// may fire again. It does not know the session; the run driver feeds it events and carries out its answers.
//
// The order for one turn: turnStart, messageUpdate for every event, messageEnd, turnEnd, and then, if `pending` says
// so, takeInjection.

import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { AssistantMessageEvent, TriggeredRule } from "../../protocol/events.js";
import type { AssistantMessage, CustomMessage } from "../../protocol/messages.js";
import { RuleMatcher, type SourceKey } from "./matcher.js";
import type { StreamRule, TtsrInterruptMode } from "./rule.js";

export interface TtsrSettings {
  readonly enabled: boolean;
  readonly contextMode: "discard" | "keep";
  readonly interruptMode: TtsrInterruptMode;
  readonly repeatMode: "once" | "after-gap";
  /** In completed turns. */
  readonly repeatGap: number;
}

export const defaultTtsrSettings: TtsrSettings = {
  enabled: true,
  contextMode: "discard",
  interruptMode: "always",
  repeatMode: "once",
  repeatGap: 10,
};

/** Stop the reply now, announce these rules, and continue with the injection when the turn is closed. */
export interface TtsrInterrupt {
  readonly rules: TriggeredRule[];
  /** What becomes of the stopped reply. */
  readonly contextMode: "discard" | "keep";
}

export interface TtsrInjection {
  readonly message: CustomMessage;
  /** For the `ttsr_injection` entry. */
  readonly injectedRules: string[];
}

export interface TtsrControllerOptions {
  readonly rules: readonly StreamRule[];
  readonly cwd: string;
  readonly log: Log;
  /** Asked at every turn, so that a change counts from the next one on. */
  settings(): TtsrSettings;
}

/** For each user prompt: a model that cannot keep to a rule must come to an end all the same. */
const maxInterrupts = 3;
const maxFollowUps = 3;

export class RulesController {
  readonly #options: TtsrControllerOptions;
  readonly #matcher: RuleMatcher;
  #settings: TtsrSettings = defaultTtsrSettings;
  /** Completed ones on the session's path. */
  #turns = 0;
  /** By name, because that is what session files hold. */
  #injectedAt = new Map<string, number>();
  /** Broken in this turn or an earlier one, and not told to the model yet. */
  #broken: StreamRule[] = [];
  /** How many of them were broken before this turn. */
  #brokenBefore = 0;
  #isInterrupted = false;
  #interrupts = 0;
  #followUps = 0;

  constructor(options: TtsrControllerOptions) {
    this.#options = options;
    this.#matcher = new RuleMatcher(options);
  }

  /** The user speaks: what was left of the last prompt, for example after an abort, is forgotten. */
  promptStart(): void {
    this.#forget();
    this.#interrupts = 0;
    this.#followUps = 0;
  }

  turnStart(): void {
    this.#settings = this.#options.settings();
    this.#brokenBefore = this.#broken.length;
    this.#matcher.reset(this.#settings.enabled ? this.#options.rules.filter((rule) => this.#counts(rule)) : []);
  }

  /** Answers at most once a turn. */
  messageUpdate(event: AssistantMessageEvent): TtsrInterrupt | undefined {
    if (this.#isInterrupted || this.#matcher.isIdle) return undefined;
    const source = sourceOf(event);
    if (source === undefined) return undefined;
    const broken = this.#feed(source, event);
    this.#broken.push(...broken);
    if (this.#interrupts >= maxInterrupts || !broken.some((rule) => this.#stops(rule, source))) return undefined;
    this.#interrupts++;
    this.#isInterrupted = true;
    return { rules: this.#broken.map(announced), contextMode: this.#settings.contextMode };
  }

  /** A reply that failed or was aborted from outside is not held against the model; those before it still are. */
  messageEnd(message: AssistantMessage): void {
    if (!this.#isInterrupted && !isComplete(message)) this.#broken.length = this.#brokenBefore;
  }

  turnEnd(message: AssistantMessage): void {
    if (isComplete(message)) this.#turns++;
  }

  /** `interrupt`: the reply was stopped and must be continued. `follow_up`: there is something to say after it. */
  get pending(): "interrupt" | "follow_up" | undefined {
    if (this.#isInterrupted) return "interrupt";
    return this.#broken.length > 0 && this.#followUps < maxFollowUps ? "follow_up" : undefined;
  }

  /** What to tell the model, which then counts as told. Undefined when nothing is pending. */
  takeInjection(timestamp: number): TtsrInjection | undefined {
    const { pending } = this;
    if (pending === undefined) return undefined;
    if (pending === "follow_up") this.#followUps++;
    const rules = this.#broken;
    this.#forget();
    const injectedRules = rules.map(({ name }) => name);
    for (const name of injectedRules) this.#injectedAt.set(name, this.#turns);
    const message = injectionMessage(rules, pending === "interrupt" ? "interrupted" : "noticed", timestamp);
    return { message, injectedRules };
  }

  /** The session is another one now, or at another entry: `path` runs from the root to the leaf. */
  restore(path: Iterable<{ readonly type: string }>): void {
    this.promptStart();
    this.#turns = 0;
    this.#injectedAt = new Map();
    for (const entry of path) {
      if (entry.type === "message" && "message" in entry && isCompleteReply(entry.message)) this.#turns++;
      if (entry.type === "ttsr_injection" && "injectedRules" in entry && Array.isArray(entry.injectedRules))
        for (const name of entry.injectedRules) this.#injectedAt.set(String(name), this.#turns);
    }
  }

  #counts(rule: StreamRule): boolean {
    if (this.#broken.includes(rule)) return false;
    const injectedAt = this.#injectedAt.get(rule.name);
    if (injectedAt === undefined) return true;
    const { repeatMode, repeatGap } = this.#settings;
    return repeatMode === "after-gap" && this.#turns - injectedAt >= repeatGap;
  }

  #feed(source: SourceKey, event: AssistantMessageEvent): StreamRule[] {
    switch (event.type) {
      case "toolcall_start": {
        // The one place that wants the message so far: nothing else names the tool.
        const call = event.partial.content[event.contentIndex];
        if (call?.type === "toolCall") this.#matcher.openToolCall(event.contentIndex, call.name);
        return [];
      }
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta":
        return this.#matcher.append(source, event.delta);
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        return this.#matcher.end(source);
      default:
        return [];
    }
  }

  #stops(rule: StreamRule, source: SourceKey): boolean {
    const mode = rule.interruptMode ?? this.#settings.interruptMode;
    return mode === "always" || mode === (typeof source === "number" ? "tool-only" : "prose-only");
  }

  #forget(): void {
    this.#broken = [];
    this.#isInterrupted = false;
  }
}

function sourceOf(event: AssistantMessageEvent): SourceKey | undefined {
  if (event.type.startsWith("text_")) return "text";
  if (event.type.startsWith("thinking_")) return "thinking";
  return "contentIndex" in event ? event.contentIndex : undefined;
}

function announced({ name, path, content, condition, scope }: StreamRule): TriggeredRule {
  return { name, path, content, condition: [...condition], scope: [...scope] };
}

function isComplete({ stopReason }: { readonly stopReason: unknown }): boolean {
  return stopReason !== "error" && stopReason !== "aborted";
}

/** Other programs write session files too: nothing is taken for granted. */
function isCompleteReply(message: unknown): boolean {
  return isObject(message) && message.role === "assistant" && isComplete({ stopReason: message.stopReason });
}

/** Hidden from the person, not from the model. One element for each rule. */
function injectionMessage(
  rules: readonly StreamRule[],
  how: "interrupted" | "noticed",
  timestamp: number,
): CustomMessage {
  return {
    role: "custom",
    customType: "ttsr-injection",
    content: rules.map((rule) => element(rule, how)).join("\n\n"),
    display: false,
    details: { rules: rules.map(({ name }) => name) },
    attribution: "agent",
    timestamp,
  };
}

const sentences = {
  interrupted:
    "Your reply was stopped because it broke the rule below, which is part of your instructions. Begin again and keep to the rule.",
  noticed:
    "Your last reply broke the rule below, which is part of your instructions. Put right what you can and keep to the rule from now on.",
};

function element({ name, path, content }: StreamRule, how: "interrupted" | "noticed"): string {
  // A rule cannot end its own element and speak outside of it.
  const body = content.replace(/<(?=\/system-interrupt)/gi, "&lt;");
  const opening = `<system-interrupt reason="rule_violation" rule="${escapeAttribute(name)}" path="${escapeAttribute(path)}">`;
  return `${opening}\n${sentences[how]}\n\n${body}\n</system-interrupt>`;
}

function escapeAttribute(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// How the answers of several handlers become one outcome. Pure: which handlers are called, in which order and for how
// long is up to the runner. An unusable answer becomes a sentence, which counts as a failure of that handler.

import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../base/json.js";
import type { ImageContent, InputContent } from "../../protocol/content.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { checkMessage } from "../../record/check-message.js";
import { type CustomMessageInput, customMessage } from "../../session/session-messages.js";
import { complaint } from "../api/custom-tool-failure.js";
import type {
  BranchNote,
  DecidingHook,
  FoundPath,
  HookEvent,
  HookOutcomes,
  UserBashOperations,
  UserBashResult,
} from "./hooks.js";

export interface HookRule<Event = never, Outcome = unknown> {
  start(event: Event): Outcome;
  /** The event as the next handler is to see it; default: as it is. */
  view?(event: Event, outcome: Outcome): Event;
  /** `answer` is empty where the handler returned nothing usable; `shown` is the event it was given. */
  take(outcome: Outcome, answer: JsonObject, shown: Event, from: Answering): Outcome;
  /** What a handler that fails does to the outcome; default: nothing. */
  fail?(outcome: Outcome, sentence: string): Outcome;
  /** No further handler is called. */
  isDecided?(outcome: Outcome): boolean;
}

/** The extension that answers. */
export interface Answering {
  readonly needsTrust: boolean;
  /** Runs its code. */
  call<Result>(work: () => Result): Result;
}

type Rules = { readonly [Name in DecidingHook]: HookRule<HookEvent<Name>, HookOutcomes[Name]> };

const isCancelled = ({ cancel }: { readonly cancel: boolean }) => cancel;

/** What the model is told about a call that an extension refused without a reason. */
const blockedText = "Tool execution was blocked by an extension";

const rules: Rules = {
  session_before_switch: {
    start: () => ({ cancel: false }),
    take: (_outcome, { cancel }) => ({ cancel: Boolean(cancel) }),
    isDecided: isCancelled,
  },
  session_before_branch: {
    start: () => ({ cancel: false, skipConversationRestore: false }),
    take: (outcome, { cancel, skipConversationRestore }) => ({
      cancel: Boolean(cancel),
      skipConversationRestore: outcome.skipConversationRestore || Boolean(skipConversationRestore),
    }),
    isDecided: isCancelled,
  },
  session_before_tree: {
    start: () => ({ cancel: false }),
    take: (outcome, { cancel, summary }) => ({
      ...outcome,
      cancel: Boolean(cancel),
      ...(summary === undefined ? {} : { summary: asNote(summary) }),
    }),
    isDecided: isCancelled,
  },
  session_before_compact: {
    start: () => ({ cancel: false }),
    take: (outcome, { cancel, compaction }) => ({
      ...outcome,
      cancel: Boolean(cancel),
      ...(compaction === undefined ? {} : { compaction: asCompaction(compaction) }),
    }),
    isDecided: isCancelled,
  },
  "session.compacting": {
    start: () => ({}),
    take(outcome, { context, prompt, preserveData }) {
      const answer = {
        ...(context === undefined ? {} : { context: asTexts(context) }),
        ...(prompt === undefined ? {} : { prompt: asText("prompt", prompt) }),
        ...(preserveData === undefined ? {} : { preserveData: asData("preserveData", preserveData) }),
      };
      return Object.keys(answer).length === 0 ? outcome : answer;
    },
  },
  input: {
    start: ({ text, images }) => ({ handled: false, text, ...(images ? { images } : {}) }),
    view: (event, { text, images }) => ({ ...event, text, ...(images ? { images } : {}) }),
    take(outcome, { handled, action, text, images }) {
      if (handled || action === "handled") return { ...outcome, handled: true };
      if (action === "continue") return outcome;
      return {
        ...outcome,
        ...(text === undefined ? {} : { text: asText("text", text) }),
        ...(images === undefined ? {} : { images: asImages(images) }),
      };
    },
    isDecided: ({ handled }) => handled,
  },
  before_agent_start: {
    start: ({ systemPrompt }) => ({ messages: [], systemPrompt }),
    view: (event, { systemPrompt }) => ({ ...event, systemPrompt }),
    take: ({ messages, systemPrompt: before }, { message, systemPrompt }) => ({
      messages: message === undefined ? messages : [...messages, asCustom(message)],
      systemPrompt: systemPrompt === undefined ? before : asText("systemPrompt", systemPrompt),
    }),
  },
  context: {
    start: ({ messages }) => ({ messages }),
    view: (event, { messages }) => ({ ...event, messages }),
    take: (outcome, { messages }) => (messages === undefined ? outcome : { messages: asMessages(messages) }),
  },
  tool_call: {
    start: ({ input }) => ({ input, isRevised: false }),
    view: (event, { input }) => ({ ...event, input }),
    take(outcome, { block, reason, input }, shown) {
      if (block) return { ...outcome, block: typeof reason === "string" && reason !== "" ? reason : blockedText };
      // A copy: what the handler does to its object later must not reach the call.
      const revised = structuredClone(asData("input", input ?? shown.input));
      return { ...outcome, input: revised, isRevised: outcome.isRevised || !isDeepStrictEqual(revised, outcome.input) };
    },
    fail: (outcome, sentence) => ({ ...outcome, block: sentence }),
    isDecided: ({ block }) => block !== undefined,
  },
  tool_result: {
    start: ({ content, details, isError }) => ({ content, details, isError }),
    view: (event, outcome) => ({ ...event, ...outcome }),
    take: (outcome, { content, details, isError }) => ({
      content: content === undefined ? outcome.content : asContent(content),
      details: details === undefined ? outcome.details : details,
      isError: typeof isError === "boolean" ? isError : outcome.isError,
    }),
    // It may have been about to remove something: a result that it did not finish is not shown.
    fail: ({ details }, sentence) => ({ content: [{ type: "text", text: sentence }], details, isError: true }),
  },
  user_bash: {
    start: () => ({}),
    take(outcome, { result, operations }, _shown, from) {
      if (result !== undefined) return { result: asBashResult(result) };
      return operations === undefined ? outcome : { operations: asOperations(operations, from) };
    },
    isDecided: ({ result, operations }) => (result ?? operations) !== undefined,
  },
  before_provider_request: {
    start: ({ payload }) => ({ payload }),
    view: (event, { payload }) => ({ ...event, payload }),
    take: (_outcome, answer, { payload }) => ({ payload: Object.keys(answer).length > 0 ? answer : payload }),
  },
  resources_discover: {
    start: () => ({ skills: [], prompts: [], themes: [] }),
    take: ({ skills, prompts, themes }, { skillPaths, promptPaths, themePaths }, _shown, { needsTrust }) => ({
      skills: [...skills, ...asPaths("skillPaths", skillPaths, needsTrust)],
      prompts: [...prompts, ...asPaths("promptPaths", promptPaths, needsTrust)],
      themes: [...themes, ...asPaths("themePaths", themePaths, needsTrust)],
    }),
  },
  project_trust: {
    start: () => ({ trusted: "undecided", remember: false }),
    take(outcome, { trusted, remember }) {
      if (trusted === undefined) return outcome;
      if (trusted !== "yes" && trusted !== "no" && trusted !== "undecided")
        throw complaint('trusted must be "yes", "no" or "undecided"');
      return { trusted, remember: Boolean(remember) };
    },
    isDecided: ({ trusted }) => trusted !== "undecided",
  },
};

/** Undefined for an event without an answer. */
export function ruleFor(type: string): HookRule<HookEvent, unknown> | undefined {
  if (!Object.hasOwn(rules, type)) return undefined;
  // The table pairs each name with its own event; by the name alone the compiler cannot tell which.
  return rules[type as DecidingHook] as unknown as HookRule<HookEvent, unknown>;
}

function asText(name: string, value: unknown): string {
  if (typeof value !== "string") throw complaint(`${name} must be a string`);
  return value;
}

function asPaths(name: string, value: unknown = [], needsTrust: boolean): FoundPath[] {
  if (!Array.isArray(value) || !value.every((path) => typeof path === "string" && path !== ""))
    throw complaint(`${name} must be a list of paths`);
  return value.map((path: string) => ({ path, needsTrust }));
}

function asOperations(value: unknown, { call }: Answering): UserBashOperations {
  const { exec } = asData("operations", value);
  if (typeof exec !== "function") throw complaint("operations must have a function exec");
  return { exec: (...args) => call(() => exec.apply(value, args)) };
}

function asTexts(value: unknown): string[] {
  if (!Array.isArray(value)) throw complaint("context must be a list of strings");
  return value.map((text) => asText("context", text));
}

function asData(name: string, value: unknown): JsonObject {
  if (!isObject(value)) throw complaint(`${name} must be an object`);
  return value;
}

function asNote(value: unknown): BranchNote {
  const { summary, details } = asData("summary", value);
  return { summary: asText("summary.summary", summary), details };
}

function asCompaction(value: unknown): CompactionResult {
  const { summary, shortSummary, firstKeptEntryId, tokensBefore, details, preserveData } = asData("compaction", value);
  if (typeof tokensBefore !== "number") throw complaint("compaction.tokensBefore must be a number");
  return {
    summary: asText("compaction.summary", summary),
    ...(typeof shortSummary === "string" ? { shortSummary } : {}),
    firstKeptEntryId: asText("compaction.firstKeptEntryId", firstKeptEntryId),
    tokensBefore,
    ...(details === undefined ? {} : { details }),
    ...(preserveData === undefined ? {} : { preserveData }),
  };
}

function asCustom(value: unknown): CustomMessageInput {
  const message = asData("message", value) as unknown as CustomMessageInput;
  const { role: _role, timestamp: _timestamp, ...input } = customMessage(message, 0);
  return input;
}

function asMessages(value: unknown): AgentMessage[] {
  if (!Array.isArray(value)) throw complaint("messages must be a list");
  return value.map((message, index) => {
    const checked = checkMessage(message, 0);
    if (!checked) throw complaint(`messages[${index}] is not a message`);
    return checked;
  });
}

function asContent(value: unknown): InputContent[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value) || !value.every((block) => isText(block) || isImage(block)))
    throw complaint("content must be a list of texts and images");
  return value;
}

function asImages(value: unknown): ImageContent[] {
  if (!Array.isArray(value) || !value.every(isImage)) throw complaint("images must be a list of images");
  return value;
}

function asBashResult(value: unknown): UserBashResult {
  const { output, exitCode, cancelled, truncated } = asData("result", value);
  return {
    output: asText("result.output", output),
    ...(Number.isInteger(exitCode) ? { exitCode: exitCode as number } : {}),
    cancelled: Boolean(cancelled),
    truncated: Boolean(truncated),
  };
}

function isText(block: unknown): boolean {
  return isObject(block) && block.type === "text" && typeof block.text === "string";
}

function isImage(block: unknown): boolean {
  return (
    isObject(block) && block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string"
  );
}

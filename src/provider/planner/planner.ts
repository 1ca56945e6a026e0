// The model galley/planner: a pure function of the request. The last thing the user said is a sentence; it becomes tool
// calls, and once their results are there, an answer. It ignores reminders and forced tool choices.

import type { ToolCall } from "../../protocol/content.js";
import type { UserMessage } from "../../protocol/messages.js";
import {
  type ModelContext,
  type ModelMessage,
  type StreamEvent,
  type StreamFunction,
  type StreamRequest,
  zeroUsage,
} from "../provider.js";
import { answerTo, helpAnswer, type Outcome, onlyTheUser, textOf } from "./answer.js";
import { parseSentence, type Sentence } from "./sentence.js";

export const streamPlanner: StreamFunction = async function* ({ context, options }: StreamRequest) {
  if (options.signal.aborted) {
    yield { type: "error", reason: "aborted", errorMessage: "Request was aborted" };
    return;
  }
  const step = nextStep(context);
  if ("error" in step) {
    // A retry would fail again, and this kind of error says so.
    yield { type: "error", reason: "error", errorMessage: step.error, failure: { kind: "invalid_request" } };
    return;
  }
  yield { type: "start" };
  if ("text" in step) yield* textEvents(step.text);
  else yield* step.calls.flatMap((call, index) => callEvents(call, index, context.messages));
  yield { type: "done", reason: "text" in step ? "stop" : "toolUse", usage: zeroUsage };
};

interface PlannedCall {
  tool: string;
  arguments: Record<string, unknown>;
}

type Step = { text: string } | { calls: PlannedCall[] } | { error: string };

function nextStep({ messages, tools }: ModelContext): Step {
  const isActive = (name: string) => tools.some((tool) => tool.name === name);
  const index = messages.findLastIndex(isFromUser);
  const message = messages[index];
  const text = message?.role === "user" ? userText(message) : "";
  const sentence = parseSentence(text);
  if (sentence === undefined || sentence.verb === "help") return { text: helpAnswer(isActive) };
  if (sentence.verb === "unclear") return { text: sentence.answer };

  const outcomes = outcomesAfter(messages.slice(index + 1));
  const failed = outcomes.find(({ result }) => result.isError)?.result;
  if (failed?.toolName === "resolve" && textOf(failed).startsWith("Staged for review:"))
    return { text: onlyTheUser("id" in sentence ? (sentence.id ?? "ID") : "ID") };
  if (failed) return { error: `${failed.toolName} failed: ${textOf(failed)}` };
  if (outcomes.length > 0) return { text: answerTo(sentence, outcomes) };

  const calls = callsFor(sentence, text);
  const missing = calls.find(({ tool }) => !isActive(tool))?.tool;
  return missing === undefined ? { calls } : { text: `The ${missing} tool is not active in this session.` };
}

type Doable = Exclude<Sentence, { verb: "help" | "unclear" }>;

/** A tool that takes one path is called once for each. */
function callsFor(sentence: Doable, text: string): PlannedCall[] {
  switch (sentence.verb) {
    case "replace":
    case "rename": {
      const { pattern, replacement, paths } = sentence;
      return [{ tool: "ast_edit", arguments: { ops: [{ pat: pattern, out: replacement }], paths } }];
    }
    case "find": {
      const { pattern, paths } = sentence;
      if (hasMetavariable(pattern))
        return paths.map((path) => ({ tool: "ast_grep", arguments: { pat: [pattern], path } }));
      return paths.map((path) => ({ tool: "grep", arguments: { pattern, literal: true, path } }));
    }
    case "show":
      return sentence.paths.map((path) => ({ tool: "read", arguments: { path } }));
    case "run":
      return [{ tool: "bash", arguments: { command: sentence.command } }];
    case "undo":
      return [{ tool: "undo", arguments: idOf(sentence) }];
    case "apply":
    case "discard":
      return [{ tool: "resolve", arguments: { action: sentence.verb, reason: text.trim(), ...idOf(sentence) } }];
  }
}

function hasMetavariable(pattern: string): boolean {
  return /(?<![\w$])(?:\$\$\$|\$(?=[A-Z_]))[A-Z0-9_]*(?![\w$])/.test(pattern);
}

function idOf({ id }: { id?: string }): { id?: string } {
  return id === undefined ? {} : { id };
}

/** Reminders and other generated user messages are not sentences. */
export function isFromUser(message: ModelMessage): boolean {
  return message.role === "user" && !message.synthetic && message.attribution !== "agent";
}

export function userText({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function outcomesAfter(messages: readonly ModelMessage[]): Outcome[] {
  const calls = toolCalls(messages);
  return messages.flatMap((message) =>
    message.role === "toolResult" ? [{ call: calls.find(({ id }) => id === message.toolCallId), result: message }] : [],
  );
}

function toolCalls(messages: readonly ModelMessage[]): ToolCall[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [],
  );
}

function* textEvents(text: string): Generator<StreamEvent> {
  yield { type: "text_start", contentIndex: 0 };
  yield { type: "text_delta", contentIndex: 0, delta: text };
  yield { type: "text_end", contentIndex: 0 };
}

/** Ids count the calls of the conversation, so that none comes twice. */
function callEvents(call: PlannedCall, contentIndex: number, messages: readonly ModelMessage[]): StreamEvent[] {
  const id = `plan_${toolCalls(messages).length + contentIndex + 1}`;
  return [
    { type: "toolcall_start", contentIndex, id, name: call.tool },
    { type: "toolcall_delta", contentIndex, delta: JSON.stringify(call.arguments) },
    { type: "toolcall_end", contentIndex },
  ];
}

// A message as it stands in a file, made fit for use. Files come from other programs and from damaged disks, and every
// reader of a context trusts its types: what fits passes as it is, small gaps are filled, the rest is left out.

import { isObject, type JsonObject } from "../base/json.js";
import type { AgentMessage, Usage } from "../protocol/messages.js";

/** Undefined when it is no message that we know. `timestamp` stands in for a missing one. */
export function checkMessage(value: unknown, timestamp: number): AgentMessage | undefined {
  if (!isObject(value)) return undefined;
  const repairs = checkByRole.get(value.role)?.(value);
  if (!repairs) return undefined;
  const hasTime = isTime(value.timestamp);
  if (repairs === nothing && hasTime) return value as JsonObject as AgentMessage;
  return { ...value, ...repairs, ...(hasTime ? {} : { timestamp }) } as JsonObject as AgentMessage;
}

/** What has to change, or undefined when the message cannot be used. */
type Check = (message: JsonObject) => Readonly<JsonObject> | undefined;

/** Nearly every message fits as it is; one shared object says so, since a long session has thousands of them. */
const nothing: Readonly<JsonObject> = Object.freeze({});

const checks: Record<AgentMessage["role"], Check> = {
  user: ({ content }) => repairInput(content),
  developer: ({ content }) => repairInput(content),
  custom: checkCustom,
  hookMessage: checkCustom,
  assistant: checkAssistant,
  toolResult(message) {
    if (typeof message.toolCallId !== "string") return undefined;
    const blocks = repairBlocks(message.content, isInputBlock);
    const isWhole = typeof message.toolName === "string" && typeof message.isError === "boolean";
    if (!blocks || isWhole) return blocks;
    const repairs = { ...blocks };
    if (typeof message.toolName !== "string") repairs.toolName = "";
    if (typeof message.isError !== "boolean") repairs.isError = false;
    return repairs;
  },
  bashExecution: (message) => (typeof message.command === "string" ? repairExecution(message) : undefined),
  pythonExecution: (message) => (typeof message.code === "string" ? repairExecution(message) : undefined),
  compactionSummary({ summary, tokensBefore }) {
    if (typeof summary !== "string") return undefined;
    return typeof tokensBefore === "number" ? nothing : { tokensBefore: 0 };
  },
  branchSummary({ summary, fromId }) {
    if (typeof summary !== "string") return undefined;
    return typeof fromId === "string" ? nothing : { fromId: "root" };
  },
  fileMention({ files }) {
    if (!Array.isArray(files)) return undefined;
    if (files.every(isFile)) return nothing;
    // Other programs leave the text of a picture out.
    const filled = files.map((file) =>
      isObject(file) && file.content === undefined ? { ...file, content: "" } : file,
    );
    return { files: filled.filter(isFile) };
  },
};

/** A Map: a lookup there is faster than an own-property check on an object. */
const checkByRole = new Map<unknown, Check>(Object.entries(checks));

function checkCustom(message: JsonObject): Readonly<JsonObject> | undefined {
  const input = repairInput(message.content);
  const isWhole = typeof message.customType === "string" && typeof message.display === "boolean";
  if (!input || isWhole) return input;
  const repairs = { ...input };
  if (typeof message.customType !== "string") repairs.customType = "";
  if (typeof message.display !== "boolean") repairs.display = true;
  return repairs;
}

const stopReasons = new Set<unknown>(["stop", "length", "toolUse", "error", "aborted"]);

function checkAssistant(message: JsonObject): Readonly<JsonObject> | undefined {
  const blocks = repairBlocks(message.content, isAssistantBlock, mendThought);
  if (!blocks || isWholeReply(message)) return blocks;
  const repairs = { ...blocks };
  if (typeof message.api !== "string") repairs.api = "";
  if (typeof message.provider !== "string") repairs.provider = "";
  if (typeof message.model !== "string") repairs.model = "";
  if (!stopReasons.has(message.stopReason)) repairs.stopReason = "stop";
  if (!isUsage(message.usage)) repairs.usage = repairUsage(message.usage);
  return repairs;
}

function isWholeReply({ api, provider, model, stopReason, usage }: JsonObject): boolean {
  const isNamed = typeof api === "string" && typeof provider === "string" && typeof model === "string";
  return isNamed && stopReasons.has(stopReason) && isUsage(usage);
}

function repairExecution(message: JsonObject): Readonly<JsonObject> {
  const repairs: JsonObject = {};
  if (typeof message.output !== "string") repairs.output = "";
  if (typeof message.cancelled !== "boolean") repairs.cancelled = false;
  if (typeof message.truncated !== "boolean") repairs.truncated = false;
  return Object.keys(repairs).length === 0 ? nothing : repairs;
}

function repairInput(content: unknown): Readonly<JsonObject> | undefined {
  return typeof content === "string" ? nothing : repairBlocks(content, isInputBlock);
}

function repairBlocks(
  content: unknown,
  isBlock: (block: unknown) => boolean,
  mend: (block: unknown) => unknown = asItIs,
): Readonly<JsonObject> | undefined {
  if (typeof content === "string") return { content: [{ type: "text", text: content }] };
  if (!Array.isArray(content)) return undefined;
  return content.every(isBlock) ? nothing : { content: content.map(mend).filter(isBlock) };
}

function asItIs(block: unknown): unknown {
  return block;
}

/** Other programs keep a hidden thought as the signature of a placeholder, and give an unsigned one an empty signature. */
function mendThought(block: unknown): unknown {
  if (!isObject(block) || block.type !== "thinking") return block;
  const { thinkingSignature, ...unsigned } = block;
  const isSigned = isSignature(thinkingSignature);
  if (block.redacted === true) return isSigned ? { type: "redactedThinking", data: thinkingSignature } : undefined;
  return isSigned ? block : unsigned;
}

function isInputBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

function isAssistantBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  switch (block.type) {
    case "text":
      return typeof block.text === "string";
    case "thinking": {
      const { thinking, thinkingSignature, redacted } = block;
      const isMarked = thinkingSignature === undefined || isSignature(thinkingSignature);
      return typeof thinking === "string" && isMarked && redacted !== true;
    }
    case "redactedThinking":
      return typeof block.data === "string";
    case "toolCall":
      return typeof block.id === "string" && typeof block.name === "string" && isObject(block.arguments);
    default:
      return false;
  }
}

function isSignature(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isFile(file: unknown): boolean {
  return isObject(file) && typeof file.path === "string" && typeof file.content === "string";
}

const tokenKinds = ["input", "output", "cacheRead", "cacheWrite"] as const;

function isUsage(usage: unknown): usage is Usage {
  if (!isObject(usage) || typeof usage.totalTokens !== "number" || !isObject(usage.cost)) return false;
  if (usage.reasoning !== undefined && typeof usage.reasoning !== "number") return false;
  return typeof usage.cost.total === "number" && hasFigures(usage) && hasFigures(usage.cost);
}

/** Without a call for each figure: this is asked of every reply of a session that is opened, and at first cold. */
function hasFigures({ input, output, cacheRead, cacheWrite }: JsonObject): boolean {
  const isUsed = typeof input === "number" && typeof output === "number";
  return isUsed && typeof cacheRead === "number" && typeof cacheWrite === "number";
}

/** Keeps every figure there is: this is the record of what was paid. */
function repairUsage(usage: unknown): JsonObject {
  const { reasoning, ...source }: JsonObject = isObject(usage) ? usage : {};
  const costs = isObject(source.cost) ? source.cost : {};
  const figures = (from: JsonObject) =>
    tokenKinds.map((kind) => [kind, isNumber(from[kind]) ? from[kind] : 0] as const);
  const sum = (from: JsonObject) => figures(from).reduce((total, [, figure]) => total + (figure as number), 0);
  const total = (given: unknown, from: JsonObject) => (isNumber(given) ? given : sum(from));
  return {
    ...source,
    ...Object.fromEntries(figures(source)),
    totalTokens: total(source.totalTokens, source),
    ...(isNumber(reasoning) ? { reasoning } : {}),
    cost: { ...costs, ...Object.fromEntries(figures(costs)), total: total(costs.total, costs) },
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

export function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value);
}

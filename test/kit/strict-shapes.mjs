// What messages, models, todos and pending actions look like to a strict host: the shapes that the tables of frames and
// answers are made of. By hand, as those.

import {
  anything,
  count,
  either,
  flag,
  integer,
  list,
  members,
  nothing,
  number,
  oneOf,
  record,
  tagged,
  text,
} from "./shapes.mjs";

export const textOrNull = either(text, nothing);
export const numberOrNull = either(number, nothing);
export const integerOrNull = either(integer, nothing);
export const texts = list(text);
export const requestId = either(text, integer);

const textBlock = { text, "textSignature?": text };
const image = { data: text, mimeType: text };
const toolCallFields = { id: text, name: text, arguments: record, "thoughtSignature?": text, "intent?": text };
export const toolCall = members({ type: oneOf("toolCall"), ...toolCallFields });
export const input = tagged("type", { text: textBlock, image });
const spoken = tagged("type", {
  text: textBlock,
  thinking: { thinking: text, "thinkingSignature?": text },
  redactedThinking: { data: text },
  toolCall: toolCallFields,
});

const prices = { input: number, output: number, cacheRead: number, cacheWrite: number };
const usage = members({
  ...prices,
  totalTokens: number,
  "reasoning?": number,
  "premiumRequests?": number,
  cost: members({ ...prices, total: number }),
});
const attribution = oneOf("user", "agent");
const said = {
  content: either(text, list(input)),
  timestamp: number,
  "attribution?": attribution,
  "providerPayload?": anything,
};
const assistantFields = {
  content: list(spoken),
  api: text,
  provider: text,
  model: text,
  usage,
  stopReason: oneOf("stop", "length", "toolUse", "error", "aborted"),
  timestamp: number,
  "errorMessage?": text,
  "error?": members({ kind: text, "status?": integer, "code?": text, "retryAfterMs?": number }),
  "responseId?": text,
  "duration?": number,
  "ttft?": number,
  "providerPayload?": anything,
};
const toolResultFields = {
  toolCallId: text,
  toolName: text,
  content: list(input),
  isError: flag,
  timestamp: number,
  "details?": anything,
  "isWarning?": flag,
  "attribution?": attribution,
  "prunedAt?": number,
};
const execution = {
  output: text,
  cancelled: flag,
  truncated: flag,
  timestamp: number,
  "exitCode?": integerOrNull,
  "meta?": anything,
  "excludeFromContext?": flag,
};
const custom = { ...said, customType: text, display: flag, "details?": anything };

export const assistant = tagged("role", { assistant: assistantFields });
export const toolResultMessage = tagged("role", { toolResult: toolResultFields });
export const message = tagged("role", {
  user: { ...said, "synthetic?": flag },
  developer: said,
  assistant: assistantFields,
  toolResult: toolResultFields,
  bashExecution: { command: text, ...execution },
  pythonExecution: { code: text, ...execution },
  custom,
  hookMessage: custom,
  compactionSummary: {
    summary: text,
    tokensBefore: number,
    timestamp: number,
    "shortSummary?": text,
    "providerPayload?": anything,
  },
  branchSummary: { summary: text, fromId: text, timestamp: number },
  fileMention: {
    files: list(
      members({
        path: text,
        content: text,
        "lineCount?": count,
        "byteSize?": count,
        "skippedReason?": oneOf("tooLarge"),
        "image?": tagged("type", { image }),
      }),
    ),
    timestamp: number,
  },
});

const effort = oneOf("minimal", "low", "medium", "high", "xhigh");
export const thinkingLevel = oneOf("off", "minimal", "low", "medium", "high", "xhigh");
/** Headers can hold a resolved key. */
export const model = members(
  {
    id: text,
    name: text,
    api: text,
    provider: text,
    baseUrl: text,
    reasoning: flag,
    input: list(oneOf("text", "image")),
    cost: members(prices),
    contextWindow: integer,
    maxTokens: integer,
    "thinking?": members({
      minLevel: effort,
      maxLevel: effort,
      mode: oneOf("effort", "budget", "google-level", "anthropic-adaptive", "anthropic-budget-effort"),
    }),
    "premiumMultiplier?": number,
    "preferWebsockets?": flag,
    "contextPromotionTarget?": text,
    "priority?": number,
    "compat?": record,
  },
  { never: ["headers"] },
);

export const todoStatus = oneOf("pending", "in_progress", "completed", "abandoned");
export const todoPhases = list(
  members({
    id: text,
    name: text,
    tasks: list(members({ id: text, content: text, status: todoStatus, "notes?": text, "details?": text })),
  }),
);

export const compactionResult = members({
  summary: text,
  firstKeptEntryId: text,
  tokensBefore: number,
  "shortSummary?": text,
  "details?": anything,
  "preserveData?": anything,
  "fromExtension?": flag,
});

export const fileType = oneOf("file", "symlink", "directory");
export const stampFields = {
  ...{ path: text, exists: flag, size: count, sha256: text, mode: integer },
  "type?": fileType,
};
const pendingFields = {
  id: text,
  label: text,
  sourceToolName: text,
  kind: oneOf("plan", "closure"),
  createdAt: number,
  status: oneOf("pending", "applying", "stale"),
  revision: integer,
  attempts: count,
  "toolCallId?": text,
  "details?": anything,
  "preview?": members({ "text?": text, "diff?": text }),
  "expiresAt?": number,
  "entryId?": text,
  "lastError?": text,
  "dependsOn?": texts,
};
export const pendingAction = members({ ...pendingFields, "files?": list(members(stampFields)) });
const changeKind = oneOf("modify", "create", "delete", "rename");
export const pendingView = members({
  ...pendingFields,
  "files?": list(
    members({
      ...stampFields,
      "kind?": changeKind,
      "newType?": fileType,
      "newMode?": integer,
      "target?": text,
      "protected?": oneOf(true),
      "renamedFrom?": text,
      "isGitData?": oneOf(true),
      "to?": text,
      "added?": count,
      "removed?": count,
      "hunks?": count,
      "diff?": text,
      "stale?": oneOf(true),
      "editedBy?": oneOf("user", "host"),
    }),
  ),
  "diffTruncated?": oneOf(true),
  "restsOn?": list(members({ id: text, files: texts })),
  "git?": text,
});
export const outcome = oneOf("applied", "discarded", "failed", "stale", "expired", "orphaned");
export const decider = oneOf("model", "user", "host", "runtime");
export const change = members({
  id: text,
  label: text,
  sourceToolName: text,
  by: decider,
  reason: text,
  at: number,
  files: list(
    members({
      ...{ path: text, kind: changeKind, "type?": fileType, "isGitData?": oneOf(true) },
      ...{ "added?": count, "removed?": count, "diff?": text },
    }),
  ),
  state: oneOf("applied", "undone"),
  undoable: flag,
  "git?": text,
  "pendingId?": text,
});
export const resolveDetails = either(
  members({
    action: oneOf("apply", "discard"),
    reason: text,
    sourceToolName: text,
    label: text,
    id: text,
    remaining: count,
    "extra?": record,
    "sourceDetails?": anything,
    "sourceResultDetails?": anything,
    "partial?": oneOf(true),
    "settled?": list(members({ path: text, "hunks?": list(integer) })),
  }),
  members({
    action: oneOf("apply", "discard"),
    reason: text,
    results: list(
      members({ id: text, outcome, label: text, "error?": text, "changeId?": text, "hardlinkBroken?": texts }),
    ),
  }),
);

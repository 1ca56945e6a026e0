// The path of a session as articles: what was said, done and changed, in order. One piece at a time, so that a long
// session is never in memory as a whole page.

import { isObject } from "../base/json.js";
import { pendingData } from "../pending/pending-entries.js";
import { type StateOnRecord, statesOnRecord } from "../pending/states-on-record.js";
import type { ToolCall } from "../protocol/content.js";
import type { CompactionEntry, ModelChangeEntry, SessionEntry } from "../protocol/entries.js";
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  FileMentionMessage,
  PythonExecutionMessage,
  ToolResultMessage,
} from "../protocol/messages.js";
import { messageOfEntry, timeOf } from "../record/entry-message.js";
import { renderContent } from "./render-content.js";
import { asText, type Renderer } from "./renderer.js";
import { renderTime } from "./time.js";
import { renderLoneResult, renderStates, renderToolCall } from "./tool-call.js";

export interface Conversation {
  readonly path: readonly SessionEntry[];
  readonly labels: ReadonlyMap<string, string>;
  readonly session: string;
}

/** The anchor of a user's message, by its index on the path: an id out of a file is never part of the markup. */
export function anchorOf(index: number): string {
  return `e${index + 1}`;
}

export async function* renderConversation(
  { path, labels, session }: Conversation,
  renderer: Renderer,
): AsyncGenerator<string> {
  const answers = pairResults(path);
  const states = statesOnRecord(path, session);
  let isReplying = false;
  for (const [index, entry] of path.entries()) {
    const message = messageOfEntry(entry);
    const label = labels.get(entry.id);
    if (message?.role === "user") yield `<span id="${anchorOf(index)}"></span>`;
    if (label !== undefined) yield `<p class="label">${renderer.line(label, 80)}</p>`;
    if (message?.role === "assistant") {
      yield* renderReply({ message, entry, isFirst: !isReplying, resultOf: answers.resultOf, states }, renderer);
      isReplying = true;
    } else if (message?.role === "toolResult") {
      if (!answers.paired.has(entry)) yield await renderLoneResult(message, renderer);
    } else {
      const article = message
        ? await renderMessage(message, entry, renderer)
        : renderNote(entry, renderer, states.get(entry.id));
      if (article !== "") isReplying = false;
      yield article;
    }
  }
}

interface Answers {
  resultOf(call: ToolCall): ToolResultMessage | undefined;
  /** The entries of results that are shown with their calls. */
  readonly paired: ReadonlySet<SessionEntry>;
}

/** A result belongs to the last call before it that has its id and no result yet. */
function pairResults(path: readonly SessionEntry[]): Answers {
  const waiting = new Map<string, ToolCall>();
  const results = new Map<ToolCall, ToolResultMessage>();
  const paired = new Set<SessionEntry>();
  for (const entry of path) {
    const message = messageOfEntry(entry);
    for (const call of callsOf(message)) waiting.set(call.id, call);
    if (message?.role !== "toolResult") continue;
    const call = waiting.get(message.toolCallId);
    if (!call) continue;
    waiting.delete(message.toolCallId);
    results.set(call, message);
    paired.add(entry);
  }
  return { resultOf: (call) => results.get(call), paired };
}

function callsOf(message: AgentMessage | undefined): ToolCall[] {
  return message?.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];
}

interface Reply {
  readonly message: AssistantMessage;
  readonly entry: SessionEntry;
  /** Of several in a row only the first has a heading. */
  readonly isFirst: boolean;
  resultOf(call: ToolCall): ToolResultMessage | undefined;
  /** What became of what a call staged. */
  readonly states: ReadonlyMap<string, readonly StateOnRecord[]>;
}

async function* renderReply(
  { message, entry, isFirst, resultOf, states }: Reply,
  renderer: Renderer,
): AsyncGenerator<string> {
  const model = message.model === "" ? "" : ` <span class="model">${renderer.line(message.model, 80)}</span>`;
  const heading = isFirst ? `<h2>Assistant${model}${renderTime(timeOf(entry))}</h2>` : "";
  yield `<article class="assistant">${heading}`;
  for (const block of message.content) {
    if (block.type === "toolCall") {
      const call = { call: block, result: resultOf(block), staged: states.get(block.id) };
      yield await renderToolCall(call, renderer);
    } else if (block.type === "text") {
      if (block.text.trim() !== "") yield `<div class="prose" dir="auto">${renderer.markdown(block.text)}</div>\n`;
    } else if (renderer.includeThinking) yield renderThinking(block, renderer);
  }
  yield `${renderStop(message, renderer)}</article>\n`;
}

function renderThinking(
  block: Extract<AssistantMessage["content"][number], { type: "thinking" | "redactedThinking" }>,
  renderer: Renderer,
): string {
  if (block.type === "redactedThinking") return '<p class="note thinking">Thinking that the provider keeps hidden</p>';
  if (block.thinking.trim() === "") return "";
  const body = `<div class="prose" dir="auto">${renderer.markdown(block.thinking)}</div>`;
  return `<details class="thinking"><summary>Thinking</summary>${body}</details>\n`;
}

function renderStop({ stopReason, errorMessage }: AssistantMessage, renderer: Renderer): string {
  switch (stopReason) {
    case "error":
      return `<p class="problem">${renderer.text(errorMessage) || "The model call failed."}</p>`;
    case "aborted":
      return '<p class="note">Stopped before the end.</p>';
    case "length":
      return '<p class="note">Cut off at the length limit.</p>';
    default:
      return "";
  }
}

/** Entries that are no messages. What changes nothing for a reader is left out. */
function renderNote(entry: SessionEntry, renderer: Renderer, states: readonly StateOnRecord[] = []): string {
  switch (entry.type) {
    case "model_change":
      return `<p class="note">Model: ${renderer.line(modelOf(entry))}</p>\n`;
    case "thinking_level_change":
      return `<p class="note">Thinking: ${renderer.line(entry.thinkingLevel ?? "default")}</p>\n`;
    case "compaction":
      return renderCompaction(entry, renderer);
    case "custom":
      if (states.length === 0) return "";
      return `<p class="note">Staged: ${renderer.line(pendingData(entry)?.label)}${renderStates(states, renderer)}</p>\n`;
    case "message":
      return '<p class="note">An entry that cannot be shown.</p>\n';
    default:
      return "";
  }
}

function modelOf(entry: ModelChangeEntry): string {
  return "modelId" in entry ? `${asText(entry.provider)}/${asText(entry.modelId)}` : entry.model;
}

function renderCompaction(entry: CompactionEntry, renderer: Renderer): string {
  const tokens = typeof entry.tokensBefore === "number" && entry.tokensBefore > 0 ? entry.tokensBefore : undefined;
  const size = tokens === undefined ? "" : ` of ${tokens.toLocaleString("en-US")} tokens`;
  return `<details class="summary"><summary>Context${size} summarized here</summary><div class="prose" dir="auto">${renderer.markdown(entry.summary)}</div></details>\n`;
}

// One message that is neither a model's reply nor a tool's answer, as an article.

/** Empty for a message that is not for people. */
async function renderMessage(
  message: Exclude<AgentMessage, { role: "assistant" | "toolResult" }>,
  entry: SessionEntry,
  renderer: Renderer,
): Promise<string> {
  const time = renderTime(timeOf(entry));
  switch (message.role) {
    case "user": {
      const heading = message.synthetic === true || message.attribution === "agent" ? "Automatic message" : "User";
      const content = await renderContent(message.content, renderer, renderer.plain);
      return article("user", `${heading}${time}`, content);
    }
    case "developer":
      return folded("Instructions", await renderContent(message.content, renderer, renderer.plain));
    case "custom":
    case "hookMessage": {
      if (!message.display) return "";
      const heading = renderer.line(message.customType, 60) || "Message";
      return article("custom", `${heading}${time}`, await renderContent(message.content, renderer, renderer.plain));
    }
    case "bashExecution":
    case "pythonExecution":
      return renderExecution(message, time, renderer);
    case "compactionSummary":
      return folded("Summary of what came before", `<div class="prose">${renderer.markdown(message.summary)}</div>`);
    case "branchSummary":
      return folded("Summary of another branch", `<div class="prose">${renderer.markdown(message.summary)}</div>`);
    case "fileMention":
      return renderFiles(message, renderer);
  }
}

function article(kind: "user" | "custom" | "execution", heading: string, body: string): string {
  return `<article class="${kind}"><h2>${heading}</h2><div dir="auto">${body}</div></article>\n`;
}

function folded(summary: string, body: string): string {
  return `<details class="summary"><summary>${summary}</summary>${body}</details>\n`;
}

function renderExecution(
  message: BashExecutionMessage | PythonExecutionMessage,
  time: string,
  renderer: Renderer,
): string {
  const isShell = message.role === "bashExecution";
  const command = `<pre class="command">${isShell ? "$ " : ""}${renderer.text(isShell ? message.command : message.code)}</pre>`;
  const output = renderer.includeToolOutput && message.output !== "" ? renderer.plain(message.output) : "";
  const marks = [
    message.cancelled ? "stopped" : "",
    message.exitCode ? `exit code ${renderer.line(message.exitCode, 12)}` : "",
    message.truncated ? "output shortened" : "",
    message.excludeFromContext === true ? "not shown to the model" : "",
  ].filter((mark) => mark !== "");
  const note = marks.length === 0 ? "" : `<p class="note">${marks.join(" · ")}</p>`;
  return article("execution", `${isShell ? "Command" : "Python"}${time}`, `${command}${output}${note}`);
}

async function renderFiles({ files }: FileMentionMessage, renderer: Renderer): Promise<string> {
  let html = "";
  for (const { path, content, image } of files) {
    const shown = isObject(image) ? await renderer.image(image) : renderer.plain(content);
    html += folded(`File <code>${renderer.line(path)}</code>`, renderer.includeToolOutput ? shown : "");
  }
  return html;
}

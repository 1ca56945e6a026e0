// A tool call with its result: one line that says what was done, and behind it the arguments, the output and the diff.

import { isObject } from "../base/json.js";
import type { StateOnRecord } from "../pending/states-on-record.js";
import type { ToolCall } from "../protocol/content.js";
import type { ToolResultMessage } from "../protocol/messages.js";
import { stateSigns } from "../render/look.js";
import { renderContent } from "./render-content.js";
import type { Renderer } from "./renderer.js";

/** With what became of what the call staged. */
export interface ShownCall {
  readonly call: ToolCall;
  readonly result: ToolResultMessage | undefined;
  readonly staged?: readonly StateOnRecord[] | undefined;
}

export async function renderToolCall({ call, result, staged = [] }: ShownCall, renderer: Renderer): Promise<string> {
  const diff = renderer.includeToolOutput ? renderDetails(result, renderer) : "";
  const summary = `${nameOf(call.name, renderer)} ${subjectOf(call, renderer)}${markOf(result)}${renderStates(staged, renderer)}`;
  const body = `${diff}${renderArguments(call.arguments, renderer)}${await renderResult(result, renderer)}`;
  return block({ summary, body, isOpen: diff !== "" || result?.isError === true, isError: result?.isError === true });
}

/** A result whose call is not on the path. */
export async function renderLoneResult(result: ToolResultMessage, renderer: Renderer): Promise<string> {
  const body = `${await renderResult(result, renderer)}${renderer.includeToolOutput ? renderDetails(result, renderer) : ""}`;
  const summary = `${nameOf(result.toolName, renderer)} result${markOf(result)}`;
  return block({ summary, body, isOpen: false, isError: result.isError });
}

interface Block {
  readonly summary: string;
  readonly body: string;
  readonly isOpen: boolean;
  readonly isError: boolean;
}

function block({ summary, body, isOpen, isError }: Block): string {
  const kind = isError ? "tool error" : "tool";
  return `<details class="${kind}"${isOpen ? " open" : ""}><summary>${summary}</summary>${body}</details>\n`;
}

function nameOf(name: string, renderer: Renderer): string {
  return `<b>${renderer.line(name, 60) || "tool"}</b>`;
}

/** What the call is about, by the usual argument names. */
const subjects = ["command", "pattern", "query", "url", "path", "file_path", "code", "action"];

function subjectOf({ arguments: given, intent }: ToolCall, renderer: Renderer): string {
  if (typeof intent === "string" && intent !== "") return renderer.line(intent);
  const name = subjects.find((subject) => Object.hasOwn(given, subject) && typeof given[subject] === "string");
  return name === undefined ? "" : `<code>${renderer.line(given[name])}</code>`;
}

function markOf(result: ToolResultMessage | undefined): string {
  if (!result) return ' <span class="mark">no result</span>';
  if (result.isError) return ' <span class="mark bad">failed</span>';
  return result.isWarning === true ? ' <span class="mark">warning</span>' : "";
}

export function renderStates(states: readonly StateOnRecord[], renderer: Renderer): string {
  return states.map((each) => renderState(each, renderer)).join("");
}

function renderState({ id, state, isPart }: StateOnRecord, renderer: Renderer): string {
  const sign = Object.entries(stateSigns).find(([name]) => name === state)?.[1] ?? "";
  const words = `${state}${isPart ? " in part" : ""} ${sign}`.trimEnd();
  return ` <span class="mark state">${renderer.line(`${id} ${words}`, 80)}</span>`;
}

function renderArguments(given: Readonly<Record<string, unknown>>, renderer: Renderer): string {
  const rows = Object.entries(given).map(([name, value]) => {
    const isBlock =
      typeof value === "string" ? value.length > 200 || value.includes("\n") : isObject(value) || Array.isArray(value);
    const shown = isBlock ? renderer.plain(value) : `<code>${renderer.text(value)}</code>`;
    return `<dt>${renderer.line(name, 60)}</dt><dd>${shown}</dd>`;
  });
  return rows.length === 0 ? "" : `<dl>${rows.join("")}</dl>`;
}

async function renderResult(result: ToolResultMessage | undefined, renderer: Renderer): Promise<string> {
  if (!result) return "";
  if (!renderer.includeToolOutput) return '<p class="note">The output is left out of this page.</p>';
  const content = await renderContent(result.content, renderer, renderer.plain);
  return content === "" ? "" : `<div class="output">${content}</div>`;
}

function renderDetails(result: ToolResultMessage | undefined, renderer: Renderer): string {
  const details = isObject(result?.details) ? result.details : {};
  const diff = details.patch ?? details.diff; // that of pi is one for display
  return typeof diff === "string" && diff.trim() !== "" ? renderDiff(diff, renderer.text) : "";
}

type Kind = "add" | "del" | "hunk" | "file" | "same";

/** A longer one stays plain: colours would be most of the page. */
const maxColouredLength = 500_000;

/** `write` makes text safe. */
function renderDiff(diff: string, write: (text: string) => string): string {
  if (diff.length > maxColouredLength) return `<pre class="diff">${write(diff)}</pre>`;
  let html = "";
  let group: string[] = [];
  let groupKind: Kind = "same";
  const flush = () => {
    const text = group.map((line) => `${line}\n`).join("");
    if (group.length > 0) html += `<span class="${groupKind}">${write(text)}</span>`;
    group = [];
  };
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const kind = kindOf(line);
    if (kind !== groupKind) flush();
    groupKind = kind;
    group.push(line);
  }
  flush();
  return `<pre class="diff">${html}</pre>`;
}

function kindOf(line: string): Kind {
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("--- ") || line.startsWith("+++ ")) return "file";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : "same";
}

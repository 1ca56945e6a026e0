// One message that is neither a model's reply nor a tool's answer, as an article.

import { isObject } from "../base/json.js";
import type { SessionEntry } from "../protocol/entries.js";
import type {
  AgentMessage,
  BashExecutionMessage,
  FileMentionMessage,
  PythonExecutionMessage,
} from "../protocol/messages.js";
import { timeOf } from "../record/entry-message.js";
import { renderContent } from "./render-content.js";
import type { Renderer } from "./renderer.js";
import { renderTime } from "./time.js";

/** Empty for a message that is not for people. */
export async function renderMessage(
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

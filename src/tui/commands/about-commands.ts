// Commands that tell something, and those about the program itself.

import { GalleyError } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import { keyLines } from "../key-lines.js";
import type { TerminalApp } from "../terminal-app.js";
import type { SlashCommands } from "./slash-command.js";

export const aboutCommands: SlashCommands = {
  keys: { usage: "", help: "what the keys do", run: async (app) => app.notice("info", keyLines(app.keys).join("\n")) },
  stats: { usage: "", help: "messages, tokens and cost of this session", isReplaceable: true, run: stats },
  export: { usage: "[FILE]", help: "write this session as a web page", run: exportPage },
  copy: { usage: "", help: "copy the last answer", run: copy },
  reload: { usage: "", help: "load extensions, templates and skills again", run: reload },
  tools: { usage: "", help: "the tools that the model has", isReplaceable: true, run: tools },
  todos: { usage: "", help: "the todo list", isReplaceable: true, run: todos },
  quit: { usage: "", help: "leave", run: async (app) => app.leave({ code: 0 }) },
};

async function stats(app: TerminalApp): Promise<void> {
  const { sessionFile, sessionId, userMessages, assistantMessages, toolCalls, tokens, cost } =
    app.session.getSessionStats();
  const figure = (value: number) => value.toLocaleString("en");
  const usage = app.session.getContextUsage();
  app.notice(
    "info",
    [
      `Session ${sessionId}${sessionFile === undefined ? " (in memory)" : ""}`,
      `${userMessages} prompts, ${assistantMessages} answers, ${toolCalls} tool calls`,
      `${figure(tokens.input)} tokens in, ${figure(tokens.output)} out, ${figure(tokens.cacheRead)} from the cache, $${cost.toFixed(3)}`,
      ...(usage?.tokens == null
        ? []
        : [`${figure(usage.tokens)} of ${figure(usage.contextWindow)} tokens of the context`]),
      ...(sessionFile === undefined ? [] : [oneLine(sessionFile, 300)]),
    ].join("\n"),
  );
}

async function exportPage(app: TerminalApp, argument: string): Promise<void> {
  const path = await app.session.exportToHtml(argument === "" ? undefined : argument);
  app.notice("info", `Written to ${path}`);
}

async function copy(app: TerminalApp): Promise<void> {
  const text = app.session.getLastAssistantText();
  if (text === null) throw new GalleyError("not_found", "There is no answer to copy yet.");
  app.copy(text);
  app.notice("info", `Copied the last answer (${text.length.toLocaleString("en")} characters).`);
}

async function reload(app: TerminalApp): Promise<void> {
  await app.session.reloadModules();
  await app.session.whenLoaded();
  app.notice("info", "Extensions, templates and skills were loaded again.");
}

async function tools(app: TerminalApp): Promise<void> {
  const active = new Set(app.session.getActiveToolNames());
  const rows = app.session.allTools.map(({ name, description }) => {
    const first = oneLine(description.split(/(?<=\.)\s/)[0] ?? "", 56);
    return `${active.has(name) ? "●" : "○"} ${oneLine(name, 40).padEnd(14)} ${first}`;
  });
  app.notice("info", rows.length === 0 ? "The model has no tools." : rows.join("\n"));
}

async function todos(app: TerminalApp): Promise<void> {
  const signs = { pending: "☐", in_progress: "◐", completed: "☑", abandoned: "✗" };
  const lines = app.session
    .getTodoPhases()
    .flatMap(({ name, tasks }) => [
      oneLine(name, 100),
      ...tasks.map(({ status, content }) => `  ${signs[status]} ${oneLine(content, 200)}`),
    ]);
  app.notice("info", lines.length === 0 ? "No todos. The model keeps the list for longer work." : lines.join("\n"));
}

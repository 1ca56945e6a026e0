// Commands about the session: another one, a new one, its name, its tree, copies of it, its summary.

import { GalleyError } from "../../base/errors.js";
import { oneLine } from "../../base/sanitize.js";
import { openSessions } from "../pickers/sessions.js";
import { openTree } from "../pickers/tree.js";
import type { TerminalApp } from "../terminal-app.js";
import type { SlashCommands } from "./slash-command.js";

export const sessionCommands: SlashCommands = {
  resume: { usage: "", help: "choose a session", run: async (app) => openSessions(app) },
  new: { usage: "", help: "begin a new session", run: begin },
  name: { usage: "[NAME]", help: "name this session", run: name },
  tree: { usage: "", help: "go to another point of this session", run: async (app) => openTree(app) },
  branch: {
    usage: "",
    help: "a new session from an earlier message",
    run: async (app) => openTree(app, { isBranch: true }),
  },
  fork: { usage: "", help: "go on in a copy of this session", run: fork },
  compact: { usage: "[TEXT]", help: "summarize the older part, with a focus", run: compact },
  queue: { usage: "TEXT", help: "send after the run", run: queue },
};

async function begin(app: TerminalApp): Promise<void> {
  if (await app.session.newSession()) app.restart("A new session. Files are as they are.");
}

async function name(app: TerminalApp, argument: string): Promise<void> {
  const { session } = app;
  if (argument === "") {
    const text =
      session.sessionName === undefined ? "It has no name." : `It is called ${oneLine(session.sessionName, 80)}.`;
    return app.notice("info", `${text} /name NAME gives it one.`);
  }
  session.setSessionName(argument);
  app.notice("info", `This session is called ${oneLine(argument, 80)} now.`);
}

async function fork(app: TerminalApp): Promise<void> {
  if (app.session.sessionFile === undefined)
    throw new GalleyError("unsupported", "This session is in memory only and cannot be copied.");
  if (await app.session.fork())
    app.notice("info", "Here a copy of the session goes on. /resume leads back to the first.");
}

async function compact(app: TerminalApp, argument: string): Promise<void> {
  app.draw();
  const ticker = setInterval(() => app.draw(), 100);
  try {
    const { tokensBefore } = await app.session.compact(argument === "" ? undefined : argument);
    app.notice(
      "info",
      `The older part of the conversation was summarized (it had ${tokensBefore.toLocaleString("en")} tokens).`,
    );
  } finally {
    clearInterval(ticker);
  }
}

async function queue(app: TerminalApp, argument: string): Promise<void> {
  if (argument === "") throw new GalleyError("usage", "Use  /queue TEXT.  It is sent after the run.");
  app.send(` ${argument}`, "followUp");
}

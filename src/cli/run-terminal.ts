// Interactive mode: a session for the user at this terminal, and the way back to the shell.

import { GalleyError } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { logTo } from "../base/log.js";
import { createAgentSession } from "../sdk/index.js";
import type { CommandLine } from "./arguments.js";
import { refuseForeign } from "./arguments.js";
import { sessionOptions } from "./session-options.js";

export async function runTerminal(line: CommandLine): Promise<void> {
  refuseForeign(line);
  if (!process.stdout.isTTY) throw new GalleyError("usage", "Standard output is not a terminal. Use  galley -p '…'.");
  if (!process.env.TERM || process.env.TERM === "dumb")
    throw new GalleyError("usage", "This terminal cannot draw (TERM=dumb). Use  galley --plain  or  galley -p '…'.");
  const log = logTo(() => {});
  const { runTui, TerminalUI } = await import("../tui/run-tui.js");
  const ui = new TerminalUI({ log });
  const { session } = await createAgentSession({
    ...sessionOptions(line, { log, lenient: false, hasUI: true }),
    ...{ ui: ui.session, askCall: ui.askCall, askTrust: ui.askTrust, components: ui.components },
    ...{ mode: "interactive", access: "stage", approval: "unconfined", deferModules: true },
  });
  const home = homedir();
  const directory = session.cwd.startsWith(home) ? `~${session.cwd.slice(home.length)}` : session.cwd;
  const { code } = await runTui({
    session,
    ui,
    input: process.stdin,
    output: process.stdout,
    access: { directory, mode: () => "workspace" },
    env: process.env,
    log,
    ...(line.words.length > 0 ? { firstPrompt: line.words.join(" ") } : {}),
  });
  await session.dispose();
  process.exitCode = code;
  if (session.sessionFile !== undefined && session.messages.length > 0)
    process.stderr.write(`galley --resume ${session.sessionId}\n`);
}

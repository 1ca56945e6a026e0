// Interactive mode: a session for the user at this terminal, and the way back to the shell.

import { GalleyError } from "../base/errors.js";
import { homedir } from "../base/home.js";
import { logTo } from "../base/log.js";
import { agentDirectory } from "../config/agent-directory.js";
import { createAgentSession } from "../sdk/index.js";
import { projectRoot } from "../sdk/pending-sessions.js";
import { ApplyQuestions } from "../sdk/review/apply-questions.js";
import type { CommandLine } from "./arguments.js";
import { refuseForeign } from "./arguments.js";
import { externalEditor } from "./external-editor.js";
import { sessionOptions } from "./session-options.js";
import { createInputAccess } from "./terminal/input-access.js";

declare const GALLEY_VERSION: string;

export async function runTerminal(line: CommandLine): Promise<void> {
  refuseForeign(line);
  if (!process.stdout.isTTY) throw new GalleyError("usage", "Standard output is not a terminal. Use  galley -p '…'.");
  if (!process.env.TERM || process.env.TERM === "dumb")
    throw new GalleyError("usage", "This terminal cannot draw (TERM=dumb). Use  galley --plain  or  galley -p '…'.");
  const log = logTo(() => {});
  const { runTui, TerminalUI } = await import("../tui/run-tui.js");
  const ui = new TerminalUI({ log });
  const applyQuestions = new ApplyQuestions();
  const { session } = await createAgentSession({
    ...sessionOptions(withoutPicker(line), { log, lenient: false, hasUI: true }),
    ...{ ui: ui.session, askCall: ui.askCall, askTrust: ui.askTrust, components: ui.components },
    ...{
      mode: "interactive",
      access: line.options.has("auto") ? "workspace" : "stage",
      approval: "unconfined",
      deferModules: true,
    },
    confirmApply: applyQuestions.ask,
  });
  const home = homedir();
  const directory = session.cwd.startsWith(home) ? `~${session.cwd.slice(home.length)}` : session.cwd;
  const { code } = await runTui({
    session,
    ui,
    input: process.stdin,
    output: process.stdout,
    applyQuestions,
    access: { ...inputAccess(line, session.cwd), directory, mode: () => "workspace", ...externalEditor(session.cwd) },
    opensSessions: wantsPicker(line),
    env: process.env,
    log,
    ...(line.words.length > 0 ? { firstPrompt: line.words.join(" ") } : {}),
  });
  await session.dispose();
  process.exitCode = code;
  if (session.sessionFile !== undefined && session.messages.length > 0)
    process.stderr.write(`galley --resume ${session.sessionId}\n`);
}

/** `-r` without a value: the list of sessions comes first. */
function wantsPicker({ options }: CommandLine): boolean {
  return ["resume", "session"].some((name) => options.get(name)?.[0] === "");
}

/** Until one is chosen there, the session is a new one. */
function withoutPicker(line: CommandLine): CommandLine {
  if (!wantsPicker(line)) return line;
  const options = new Map([...line.options].filter(([name]) => name !== "resume" && name !== "session"));
  return { ...line, options };
}

function inputAccess({ options }: CommandLine, cwd: string) {
  return createInputAccess({
    cwd,
    agentDir: agentDirectory(process.env),
    sessionDir: options.get("session-dir")?.[0],
    env: process.env,
    version: GALLEY_VERSION,
    root: projectRoot({ cwd }),
  });
}

// Interactive mode: a session for the user at this terminal, and the way back to the shell.

import type { Writable } from "node:stream";
import { GalleyError } from "../base/errors.js";
import { type Log, logTo } from "../base/log.js";
import { sanitizeForTerminal } from "../base/sanitize.js";
import { isOn } from "../config/environment.js";
import { unusedConfigs, unusedText } from "../sdk/import/plan-import.js";
import { type AgentSession, createAgentSession } from "../sdk/index.js";
import { projectRoot } from "../sdk/pending-sessions.js";
import { ApplyQuestions } from "../sdk/review/apply-questions.js";
import { findSessionEnvironment } from "../sdk/session-environment.js";
import type { CommandLine } from "./arguments.js";
import { refuseForeign, refuseOneShot } from "./arguments.js";
import { createTerminalAccess } from "./create-terminal-access.js";
import { guardStdout } from "./guard-stdout.js";
import { closed, lastLines } from "./last-lines.js";
import { sessionOptions } from "./session-options.js";
import { type CapturedStderr, captureStderr } from "./terminal/captured-stderr.js";
import { createInputAccess } from "./terminal/create-input-access.js";
import { type ProcessEnds, watchProcessEnds } from "./terminal/process-ends.js";

declare const GALLEY_VERSION: string;

export async function runTerminal(line: CommandLine): Promise<void> {
  refuseForeign(line);
  refuseOneShot(line);
  const wanted = interactiveOptions(line);
  const environment = await findSessionEnvironment(wanted.options);
  const { settings } = environment;
  if (line.options.has("plain") || isOn(process.env, "GALLEY_PLAIN") || settings.get("terminal.plain"))
    return (await import("./run-plain.js")).runPlain(line, settings, environment.agentDir);
  refuseUnusable();
  // Before any module is loaded: the terminal is ours alone.
  const noise = captureStderr();
  const output = guardStdout();
  const ends = watchProcessEnds({ input: process.stdin, output });
  const { session, code } = await converse(line, { ...wanted, environment, noise, output, ends }).catch((error) => {
    noise?.release();
    throw error;
  });
  const rest = sanitizeForTerminal(noise?.release() ?? "");
  output.write(`${rest}${await lastLines(session)}`);
  await closed(session);
  output.write("", () => process.exit(code));
}

interface Start extends ReturnType<typeof interactiveOptions> {
  readonly environment: Awaited<ReturnType<typeof findSessionEnvironment>>;
  readonly noise: CapturedStderr | undefined;
  readonly output: Writable;
  readonly ends: ProcessEnds;
}

async function converse(line: CommandLine, start: Start) {
  const { options, log, onLine, environment, noise, output, ends } = start;
  const { settings, cwd, agentDir, env } = environment;
  for (const source of unusedConfigs(environment)) log.warn(`${unusedText(source)}: galley import ${source}`);
  let isUnconfigured = false;
  const { runTui, TerminalUI } = await import("../tui/run-tui.js");
  const ui = new TerminalUI({ log });
  const applyQuestions = new ApplyQuestions();
  const { session, modelFallbackMessage } = await createAgentSession({
    ...options,
    settings,
    ui: ui.session,
    askCall: ui.askCall,
    askTrust: ui.askTrust,
    components: ui.components,
    askEscalation: ui.askEscalation,
    askHost: ui.askHost,
    mode: "interactive",
    approval: "unconfined",
    deferModules: true,
    confirmApply: applyQuestions.ask,
    defaultAccess: "stage",
    onNoModel: (reason) => {
      isUnconfigured = reason.kind === "unconfigured";
      if (reason.kind !== "unconfigured") log.warn(reason.text);
    },
  });
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  ends.onForeignError((error) => told(log, session, error));
  const { code } = await runTui({
    session,
    ui,
    applyQuestions,
    input: process.stdin,
    output: output as NodeJS.WriteStream, // a terminal, as was asked before
    access: {
      ...inputAccess(line, { cwd, agentDir, mask: session.secrets.mask }),
      ...createTerminalAccess({ cwd, agentDir, env: process.env, settings, log, packages: options }),
    },
    env: process.env,
    log,
    ends,
    onNoise: joined(onLine, noise),
    hasTitle: settings.get("terminal.title") && !line.options.has("no-title"),
    hasMouse: settings.get("terminal.mouse"),
    isUnconfigured,
    opensSessions: [...picks].some((name) => line.options.get(name)?.[0] === ""),
    isTour: isOn(env, "GALLEY_TOUR"),
    ...(line.words.length > 0 ? { firstPrompt: line.words.join(" ") } : {}),
  });
  return { session, code };
}

/** The log of an interactive run becomes notices: lines wait until there is a screen for them. */
function interactiveOptions(line: CommandLine) {
  const waiting: string[] = [];
  let listener = (text: string): void => void waiting.push(text);
  const log = logTo((text) => listener(text.trimEnd()));
  for (const warning of line.warnings) log.warn(warning);
  return {
    options: sessionOptions(withoutPicker(line), { log, lenient: false, hasUI: true }),
    log,
    onLine(next: (text: string) => void) {
      listener = next;
      for (const text of waiting.splice(0)) next(text);
    },
  };
}

/** `-r` without a value chooses a session first. */
function withoutPicker(line: CommandLine): CommandLine {
  const options = new Map([...line.options].filter(([name, [value]]) => !(picks.has(name) && value === "")));
  return { ...line, options };
}

function inputAccess(
  { options }: CommandLine,
  { cwd, agentDir, mask }: { cwd: string; agentDir: string; mask: (text: string) => string },
) {
  return createInputAccess({
    cwd,
    agentDir,
    mask,
    env: process.env,
    version: GALLEY_VERSION,
    root: projectRoot({ cwd }),
    sessionDir: options.get("session-dir")?.[0],
  });
}

const picks: ReadonlySet<string> = new Set(["resume", "session"]);

function refuseUnusable(): void {
  if (!process.stdout.isTTY) throw new GalleyError("usage", "Standard output is not a terminal. Use  galley -p '…'.");
  if (!process.env.TERM || process.env.TERM === "dumb")
    throw new GalleyError("usage", "This terminal cannot draw (TERM=dumb). Use  galley --plain  or  galley -p '…'.");
}

/** An error that an extension left uncaught; others end the program. */
function told(log: Log, session: AgentSession, error: unknown): boolean {
  const path = session.blame(error);
  if (path !== undefined) log.warn(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  return path !== undefined;
}

function joined(onLine: (listener: (text: string) => void) => void, noise: CapturedStderr | undefined) {
  return (listener: (text: string) => void) => {
    onLine(listener);
    noise?.onLine(listener);
  };
}

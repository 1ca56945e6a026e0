// `galley --plain`: a session in whole lines, without control sequences. Works without a terminal too.

import { createInterface } from "node:readline";
import { homedir } from "../base/home.js";
import { logTo } from "../base/log.js";
import type { Settings } from "../config/settings/settings.js";
import { unusedConfigs, unusedText } from "../sdk/import/plan-import.js";
import { type AgentSession, createAgentSession } from "../sdk/index.js";
import { ApplyQuestions } from "../sdk/review/apply-questions.js";
import { askToApply } from "../tui/plain/plain-apply.js";
import { stopPlainly } from "../tui/plain/plain-commands.js";
import { LineReader, type PlainIO, saidLines } from "../tui/plain/plain-io.js";
import { runPlainMode } from "../tui/plain/plain-mode.js";
import { plainQuestions } from "../tui/plain/plain-questions.js";
import { plannerWelcome } from "../tui/welcome.js";
import type { CommandLine } from "./arguments.js";
import { asUserWrites, createTerminalAccess } from "./create-terminal-access.js";
import { signalCodes } from "./exit-codes.js";
import { guardStdout } from "./guard-stdout.js";
import { closed, lastLines } from "./last-lines.js";
import { sessionOptions } from "./session-options.js";

export async function runPlain(line: CommandLine, settings: Settings, agentDir: string): Promise<void> {
  const output = guardStdout();
  const isTyped = process.stdin.isTTY === true;
  let session: AgentSession | undefined;
  const say: PlainIO["say"] = (who, text) =>
    void output.write(`${saidLines(who, session?.secrets.mask(text) ?? text).join("\n")}\n`);
  const log = logTo((text) => say("galley", text.replace(/^galley: /, "")));
  const lines = new LineReader();
  const io: PlainIO = { say, ask: (signal) => lines.next(signal), isTyped, now: () => performance.now() };
  const options = sessionOptions(line, { log, lenient: false, hasUI: true });
  const { ui, askCall, askTrust, askHost, inTurn } = plainQuestions(io, asUserWrites(options.cwd ?? process.cwd()));
  const places = isTyped ? unusedConfigs({ home: homedir(), agentDir }) : [];
  for (const source of places) log.warn(`${unusedText(source)}: galley import ${source}`);
  const applyQuestions = new ApplyQuestions();
  const opened = await createAgentSession({
    ...options,
    settings,
    mode: "interactive",
    approval: "unconfined",
    ui,
    askCall,
    askTrust,
    askHost,
    confirmApply: applyQuestions.ask,
    defaultAccess: "stage",
    onNoModel: (reason) => say("galley", reason.kind === "unconfigured" ? plannerWelcome.join("\n") : reason.text),
  });
  const open = opened.session;
  session = open;
  applyQuestions.answerWith((question, signal) => inTurn(() => askToApply({ session: open, io }, question, signal)));
  readLines(lines, { isTyped, isRunning: () => open.isStreaming });
  const end = async (code: number) => {
    const last = await lastLines(open);
    if (last !== "") say("galley", last);
    await closed(open);
    output.write("", () => process.exit(code));
  };
  endBySignal(open, { end, stop: () => void stopPlainly(open, io) });
  const access = createTerminalAccess({ cwd: open.cwd, agentDir, env: process.env, settings, log });
  const code = await runPlainMode({
    session: open,
    io,
    lines,
    promptUser: () => isTyped && output.write("you: "),
    login: (provider) => access.runVerb("login", provider),
    ...(line.words.length > 0 ? { firstPrompt: line.words.join(" ") } : {}),
  });
  await end(code);
}

/** What comes through a pipe is read line by line, each after the answer to the one before. */
function readLines(lines: LineReader, { isTyped, isRunning }: { isTyped: boolean; isRunning(): boolean }): void {
  const reader = createInterface({ input: process.stdin, terminal: false });
  reader.on("line", (text) => lines.take(text, { isKept: !isTyped || !isRunning() }));
  reader.on("close", () => lines.end());
}

/** The first Ctrl-C stops a run; else a signal ends the program. */
function endBySignal(session: AgentSession, { end, stop }: { end(code: number): Promise<void>; stop(): void }): void {
  let isEnding = false;
  for (const [signal, code] of Object.entries(signalCodes))
    process.on(signal, () => {
      if (isEnding) process.exit(code);
      if (signal === "SIGINT" && session.isStreaming) return stop();
      isEnding = true;
      void end(code);
    });
}

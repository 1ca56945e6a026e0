// One-shot runs: the messages go in, the answer comes out. Text for people and scripts, JSON lines for programs; the
// exit code and the last JSON line say how it ended.

import type { Writable } from "node:stream";
import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import { logTo } from "../base/log.js";
import { encodeFrame } from "../base/ndjson.js";
import { sanitizeForTerminal } from "../base/sanitize.js";
import type { AssistantMessage } from "../protocol/messages.js";
import { type AgentSession, createAgentSession } from "../sdk/index.js";
import type { CommandLine } from "./arguments.js";
import { type ExitReason, exitCodes, signalCodes } from "./exit-codes.js";
import { resolveFlags as resolveForeign } from "./extension-flags.js";
import { firstMessage, type Prompt } from "./first-message.js";
import { guardStdout } from "./guard-stdout.js";
import { sessionOptions, unknownTools } from "./session-options.js";

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

interface Outcome {
  reason: ExitReason;
  message?: string;
}

export async function runPrint(line: CommandLine, mode: "text" | "json"): Promise<void> {
  const output = guardStdout();
  output.on("error", outputFailed);
  for (const warning of line.warnings) log.warn(warning);
  // A run that waits for nothing but a timer of ours must not look like a program that is done.
  setInterval(() => {}, 2 ** 30);
  const stop = new Stop();
  const ended = await run(line, mode, { output, stop }).catch(
    (error: unknown): Outcome => ({
      reason: GalleyError.is(error, "usage") ? "usage" : "startup",
      message: messageOf(error),
    }),
  );
  const { signal } = stop;
  const outcome: Outcome = signal === undefined ? ended : { reason: "failed", message: `Stopped by ${signal}` };
  const code = signal === undefined ? exitCodes[outcome.reason] : signalCodes[signal];
  if (signal === undefined && outcome.message !== undefined) log.error(outcome.message);
  if (mode === "json") output.write(encodeFrame({ type: "exit", code, ...outcome }));
  output.write("", (error) => {
    if (!error) process.exit(code);
    setImmediate(outputFailed, error); // after the stream's own event, which knows the first reason
  });
}

/** Whoever read us has gone: nothing left to say. Anything else is an answer that nobody got. */
function outputFailed(error: Error): void {
  if (systemCode(error) === "EPIPE") process.exit(exitCodes.done);
  log.error(`Cannot write the output: ${error.message}`);
  process.exit(exitCodes.failed);
}

async function run(
  line: CommandLine,
  mode: "text" | "json",
  { output, stop }: { output: Writable; stop: Stop },
): Promise<Outcome> {
  const options = sessionOptions(line, { log, lenient: false });
  const cwd = options.cwd ?? process.cwd();
  let { words } = line;
  let problem: string | undefined;
  // Which words are said is known only when it is known which are values of flags.
  const isLate = line.foreign.length > 0;
  const early = isLate ? [] : await firstMessage(words, cwd);
  const { session, modelFallbackMessage } = await createAgentSession({
    ...options,
    mode: mode === "json" ? "json" : "print",
    ...(isLate ? { resolveFlags } : {}),
  });
  function resolveFlags(flags: Parameters<typeof resolveForeign>[1]) {
    const resolved = resolveForeign(line, flags);
    words = resolved.words;
    problem = resolved.problems[0];
    return problem === undefined ? resolved.values : undefined;
  }
  problem ??= unknownTools(line, session.getAllToolNames());
  if (problem !== undefined) {
    await session.dispose();
    throw new GalleyError("usage", problem);
  }
  const prompts = isLate ? await firstMessage(words, cwd) : early;
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  stop.watch(session);
  if (mode === "json") {
    const { sessionId: id, cwd } = session;
    output.write(encodeFrame({ type: "session", version: 3, id, timestamp: new Date().toISOString(), cwd }));
    session.subscribe((event) => {
      if (output.write(encodeFrame(event)) || event.type !== "message_update") return;
      return new Promise<void>((resolve) => output.once("drain", resolve)); // a slow reader slows the model
    });
  }
  const failure = (await runPrompts(session, prompts, stop)) ?? (await decideRest(session, line));
  const left = await session.getPendingActions();
  await session.dispose();
  if (failure) return failure;
  if (mode === "text") output.write(`${sanitizeForTerminal(lastText(session))}\n`);
  const plans = left.filter(({ kind }) => kind === "plan");
  if (plans.length === 0) return { reason: "done" };
  return { reason: "pending", message: pendingText(plans) };
}

/** `--yes`: whatever is still pending is applied. */
async function decideRest(session: AgentSession, { options }: CommandLine): Promise<Outcome | undefined> {
  if (!options.has("yes") || session.pendingActionCount === 0) return undefined;
  const decision = { action: "apply", reason: "--yes", by: "user", all: true } as const;
  const { details, text } = await session.resolvePendingAction(decision);
  const isFailed = "results" in details && details.results.some(({ error }) => error !== undefined);
  return isFailed ? { reason: "failed", message: text } : undefined;
}

function pendingText(plans: readonly { id: string; label: string }[]): string {
  const lines = plans.map(({ id, label }) => `  ${id}  ${label}`);
  return `Still pending, nothing is written yet:\n${lines.join("\n")}\nSee them with galley show ID; decide with galley apply ID or galley discard ID.`;
}

async function runPrompts(session: AgentSession, prompts: readonly Prompt[], stop: Stop): Promise<Outcome | undefined> {
  for (const { text, images } of prompts) {
    if (stop.signal !== undefined) return { reason: "failed" };
    await session.prompt(text, { images });
    const failure = failureOf(session);
    if (failure) return failure;
  }
  return undefined;
}

function failureOf(session: AgentSession): Outcome | undefined {
  const last = session.messages.findLast((message) => message.role === "assistant") as AssistantMessage | undefined;
  if (last?.stopReason !== "error" && last?.stopReason !== "aborted") return undefined;
  const isProvider = last.error !== undefined && last.provider !== "galley";
  return { reason: isProvider ? "provider" : "failed", message: last.errorMessage ?? "The run failed" };
}

/** The last assistant message that says something, whatever came after it. */
function lastText(session: AgentSession): string {
  for (const message of session.messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (text.trim()) return text.trim();
  }
  return "";
}

type StopSignal = keyof typeof signalCodes;

/** The first signal stops the run, which then ends in order; the second does not wait, nor does one before the run. */
class Stop {
  signal: StopSignal | undefined;

  watch(session: AgentSession): void {
    for (const signal of Object.keys(signalCodes) as StopSignal[])
      process.on(signal, () => {
        if (this.signal !== undefined) process.exit(signalCodes[this.signal]);
        this.signal = signal;
        void session.abort();
      });
  }
}

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
import { guardStdout, ignoreBrokenStderr } from "./guard-stdout.js";
import { reportUncaught } from "./report-uncaught.js";
import { isNamedModule, sessionOptions, unknownTools } from "./session-options.js";
import { shellWord } from "./shell-word.js";

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

interface Outcome {
  reason: ExitReason;
  message?: string;
  /** The ids of the plans that wait for a decision. */
  pending?: string[];
}

/** From the moment it is known that the run ends early. */
const shutdownBudgetMs = 5000;
/** The part of it that extensions may take. */
const goodbyeMs = 1500;

export async function runPrint(line: CommandLine, mode: "text" | "json"): Promise<void> {
  ignoreBrokenStderr();
  const output = guardStdout();
  const stop = new Stop();
  output.on("error", (error) => stop.outputFailed(error));
  for (const warning of line.warnings) log.warn(warning);
  // A run that waits only for one of our timers must not look like a finished program.
  setInterval(() => {}, 2 ** 30);
  reportUncaught(log, (error) => stop.session?.blame(error));
  const ended = await run(line, mode, { output, stop }).catch(
    (error: unknown): Outcome => ({
      reason: GalleyError.is(error, "usage") ? "usage" : "startup",
      message: messageOf(error),
    }),
  );
  const { signal } = stop;
  const outcome: Outcome =
    signal === undefined ? ended : { ...ended, reason: "failed", message: `Stopped by ${signal}` };
  const code = stop.code ?? exitCodes[outcome.reason];
  if (stop.code === undefined && outcome.message !== undefined) log.error(outcome.message);
  if (!stop.hasReader) process.exit(code);
  if (mode === "json") output.write(encodeFrame({ type: "exit", code, ...outcome }));
  output.write("", (error) => {
    if (!error) process.exit(code);
    // After the stream's own event, which knows the first reason.
    setImmediate(() => {
      stop.outputFailed(error);
      process.exit(stop.code);
    });
  });
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
  const unloaded: string[] = [];
  // Which words are messages is known only when it is known which are values of flags.
  const isLate = line.foreign.length > 0;
  const early = isLate ? [] : await firstMessage(words, cwd);
  const { session, modelFallbackMessage } = await createAgentSession({
    ...options,
    mode: mode === "json" ? "json" : "print",
    onLoadError: ({ path }) => unloaded.push(path),
    ...(isLate ? { resolveFlags } : {}),
  });
  function resolveFlags(flags: Parameters<typeof resolveForeign>[1]) {
    const resolved = resolveForeign(line, flags);
    words = resolved.words;
    problem = resolved.problems[0];
    return problem === undefined ? resolved.values : undefined;
  }
  problem ??= unknownTools(line, session.getAllToolNames());
  // It may be a guard: nothing runs without a module that was named.
  const missed = unloaded.find((path) => isNamedModule(line, path, cwd));
  if (problem !== undefined || missed !== undefined) {
    await session.dispose();
    if (problem !== undefined) throw new GalleyError("usage", problem);
    throw new GalleyError("start_failed", `Nothing was run: ${missed} was named and cannot be used.`);
  }
  const prompts = isLate ? await firstMessage(words, cwd) : early;
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  stop.watch(session);
  if (mode === "json") {
    output.write(encodeFrame(session.sessionManager.header));
    session.subscribe((event) => {
      if (!stop.hasReader || output.write(encodeFrame(event)) || event.type !== "message_update") return;
      return hasRoom(output); // a slow reader slows the model
    });
  }
  const work = async () => {
    const failure = (await runPrompts(session, prompts, stop)) ?? (await decideRest(session, line, stop));
    const { isOnDisk, persistError } = session.sessionManager;
    return { failure, left: await session.getPendingActions(), isKept: isOnDisk, persistError };
  };
  const { failure, left, isKept, persistError } = await work().finally(() => session.dispose());
  const plans = left.filter(({ kind }) => kind === "plan");
  const pending = plans.length === 0 ? {} : { pending: plans.map(({ id }) => id) };
  // A truncated answer is still an answer.
  const text = sanitizeForTerminal(lastText(session));
  if (mode === "text" && text !== "" && (!failure || failure.reason === "limit")) output.write(`${text}\n`);
  if (failure) return { ...failure, ...pending };
  if (left.length === 0) return { reason: "done" };
  const sessionDir = line.options.get("session-dir")?.[0];
  const texts = plans.length === 0 ? [] : [pendingText(plans, { isKept, persistError, sessionDir })];
  const closures = left.filter(({ kind }) => kind === "closure");
  if (closures.length > 0) texts.push(`Discarded undecided, nothing was done:\n${listed(closures)}`);
  return { reason: "pending", message: texts.join("\n"), ...pending };
}

/** Also resolves when the reader has gone. */
function hasRoom(output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      output.off("drain", go).off("error", go);
      resolve();
    };
    output.on("drain", go).on("error", go);
  });
}

/** `--yes`: everything still pending is applied, up to the first that fails, and not after a signal. */
async function decideRest(session: AgentSession, { options }: CommandLine, stop: Stop): Promise<Outcome | undefined> {
  if (!options.has("yes")) return undefined;
  const told: string[] = [];
  for (const { id, label } of await session.getPendingActions()) {
    if (stop.code !== undefined) return { reason: "failed" };
    if (!session.pendingActions.some((action) => action.id === id)) continue; // it was applied with another one
    try {
      await session.resolvePendingAction({
        action: "apply",
        reason: "--yes",
        by: "user",
        pendingId: id,
        withDeps: true,
      });
      told.push(`${id} applied: ${label}`);
    } catch (error) {
      const reason = GalleyError.is(error, "file_refused") ? "denied" : "failed";
      return { reason, message: [...told, `${id} failed: ${label} – ${messageOf(error)}`].join("\n") };
    }
  }
  return undefined;
}

function pendingText(
  plans: readonly { id: string; label: string }[],
  kept: { isKept: boolean; persistError: string | undefined; sessionDir: string | undefined },
): string {
  const { isKept, persistError, sessionDir } = kept;
  const lines = listed(plans);
  const gone = `Not applied, nothing was written:\n${lines}\nThe run is over and its session`;
  if (!isKept && persistError !== undefined) return `${gone} could not be kept (${persistError}): they are gone.`;
  if (!isKept)
    return `${gone} is not kept: they are gone. Run it again with --yes, or without --no-session to decide later.`;
  const also = sessionDir === undefined ? "" : `, each with --session-dir ${shellWord(sessionDir)}`;
  return `Still pending, nothing is written yet:\n${lines}\nSee them with galley show ID; decide with galley apply ID or galley discard ID${also}.`;
}

function listed(actions: readonly { id: string; label: string }[]): string {
  return actions.map(({ id, label }) => `  ${id}  ${label}`).join("\n");
}

async function runPrompts(session: AgentSession, prompts: readonly Prompt[], stop: Stop): Promise<Outcome | undefined> {
  let reply: AssistantMessage | undefined;
  session.subscribe((event) => {
    if (event.type === "message_end" && event.message.role === "assistant") reply = event.message;
  });
  let broken: string | undefined;
  let command: string | undefined;
  session.onReport((report) => {
    if (report.type !== "extension_error" || report.event !== "command") return;
    if (report.extensionPath.replace(/^(?:custom-)?command:/, "") === command) broken = report.error;
  });
  for (const { text, images } of prompts) {
    await session.waitForIdle(); // an extension may have started a run
    if (stop.code !== undefined) return { reason: "failed" };
    reply = undefined; // only the last prompt's reply counts
    command = /^\/(\S+)/.exec(text)?.[1];
    await session.prompt(text, { images, streamingBehavior: "followUp" }); // if a run begins meanwhile
    await session.waitForIdle(); // for runs that a command, or an extension, has started
    if (stop.code !== undefined) return { reason: "failed" };
    if (broken !== undefined) return { reason: "failed", message: `/${command} failed: ${broken}` };
    const failure = failureOf(session, reply);
    if (failure) return failure;
  }
  return undefined;
}

/** Of the last prompt; without a reply it was a command, or ended before the model was called. */
function failureOf(session: AgentSession, reply: AssistantMessage | undefined): Outcome | undefined {
  const { status, error } = session.lastOutcome;
  if (reply?.stopReason === "length")
    return { reason: "limit", message: "The answer was cut off: it reached the model's output limit." };
  const isFailed = reply ? reply.stopReason === "error" || reply.stopReason === "aborted" : status !== "completed";
  if (!isFailed) return undefined;
  const message = reply?.errorMessage ?? error?.message ?? "The run failed";
  if (reply?.error !== undefined && reply.provider !== "galley") return { reason: "provider", message };
  return { reason: session.wasDenied ? "denied" : "failed", message };
}

/** The last assistant message with text, whatever came after it. */
function lastText(session: AgentSession): string {
  for (const message of session.messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (text.trim()) return text.trim();
  }
  return "";
}

type StopSignal = keyof typeof signalCodes;

/**
 * Ends a run early: after the first signal, or when the reader has gone, it is stopped and closed in order, within time
 * limits. A second signal does not wait, nor does one before the run.
 */
class Stop {
  /** The program's exit code; undefined as long as nothing stops it. */
  code: number | undefined;
  signal: StopSignal | undefined;
  session: AgentSession | undefined;
  hasReader = true;

  watch(session: AgentSession): void {
    this.session = session;
    for (const signal of Object.keys(signalCodes) as StopSignal[])
      process.on(signal, () => {
        if (this.signal !== undefined) process.exit(this.code);
        this.signal = signal;
        this.#end(signalCodes[signal]);
      });
  }

  /** The reader has gone: there is nothing left to say. Any other failure lost the answer. */
  outputFailed(error: Error): void {
    if (!this.hasReader) return;
    this.hasReader = false;
    const isGone = systemCode(error) === "EPIPE";
    if (!isGone) log.error(`Cannot write the output: ${error.message}`);
    this.#end(isGone ? exitCodes.done : exitCodes.failed);
  }

  #end(code: number): void {
    if (this.code !== undefined) return;
    this.code = code;
    setTimeout(() => process.exit(code), shutdownBudgetMs);
    this.session?.beginShutdown({ modulesMs: goodbyeMs });
    void this.session?.abort();
  }
}

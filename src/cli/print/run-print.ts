// One-shot runs: the prompts go in, the answer comes out. Text for people and scripts, JSON lines for programs; stderr
// tells what happens meanwhile and what happened, the exit code and the last JSON line how it ended.

import type { Writable } from "node:stream";
import { GalleyError } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { agentDirectory } from "../../config/agent-directory.js";
import type { PendingActionView } from "../../protocol/pending.js";
import { type AgentSession, createAgentSession } from "../../sdk/index.js";
import type { NoModelReason } from "../../sdk/no-model.js";
import { type RunReport, watchRun } from "../../sdk/run-report/watch-run.js";
import type { BudgetExceeded } from "../../sdk/turn-budget.js";
import type { CommandLine } from "../arguments.js";
import { resolveFlags as resolveForeign } from "../extension-flags.js";
import { guardStdout, ignoreBrokenStderr } from "../guard-stdout.js";
import { promptsOf } from "../prompts.js";
import { reportUncaught } from "../report-uncaught.js";
import { isNamedModule, sessionOptions, unknownTools } from "../session-options.js";
import { codeOf, type Outcome, outcomeOfError } from "./outcome.js";
import { answerOf, type Ended, exitLine, hasAnswer, resultDocument, writeAnswer, writeEvents } from "./output.js";
import { previewsText } from "./previews.js";
import { Progress } from "./progress.js";
import { applyRest, runPrompts } from "./run-prompts.js";
import { Stop } from "./stop.js";
import { type LeftPreviews, leftText, summaryText } from "./summary.js";

type Form = "text" | "lines" | "document";

interface Parts {
  readonly line: CommandLine;
  readonly form: Form;
  readonly output: Writable;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly log: ReturnType<typeof logTo>;
}

/** What is left to tell when the session is closed. */
interface Finished {
  readonly outcome: Outcome;
  readonly session?: AgentSession;
  readonly report?: RunReport;
  readonly left?: LeftPreviews;
}

export async function runPrint(line: CommandLine, mode: "text" | "json"): Promise<void> {
  ignoreBrokenStderr();
  const form: Form =
    mode === "text" ? "text" : line.options.get("output-format")?.[0] === "json" ? "document" : "lines";
  const isTerminal = process.stdout.isTTY === true;
  const output = guardStdout();
  const progress = createProgress(line, form === "lines" && isTerminal);
  // A broken models file is reported when it is read, and again as the reason why nothing was run.
  const told = new Set<string>();
  const log = logTo((text) => {
    if (!told.has(text)) progress.write(text);
    told.add(text);
  });
  const stop = new Stop(log);
  output.on("error", (error) => stop.outputFailed(error));
  for (const warning of line.warnings) log.warn(warning);
  // A run that waits only for one of our timers must not look like a finished program.
  setInterval(() => {}, 2 ** 30);
  reportUncaught(log, (error) => stop.session?.blame(error));
  const parts: Parts = { line, form, output, stop, progress, log };
  const finished = await run(parts).catch((error: unknown): Finished => ({ outcome: outcomeOfError(error) }));
  progress.end();
  await tell(parts, finished);
}

function createProgress({ options }: CommandLine, isStdoutShared: boolean): Progress {
  const [isQuiet, isVerbose] = [options.has("quiet"), options.has("verbose")];
  const { stderr } = process;
  const hasLine = stderr.isTTY === true && process.env.TERM !== "dumb" && !isStdoutShared;
  return new Progress({ stderr, hasLine, isVerbose, isQuiet, now: () => performance.now() });
}

async function run(parts: Parts): Promise<Finished> {
  const { line, form, output, stop, progress, log } = parts;
  if (line.options.has("quiet") && line.options.has("verbose"))
    throw new GalleyError("usage", "--quiet and --verbose exclude each other.");
  const options = sessionOptions(line, { log, lenient: false });
  const cwd = options.cwd ?? process.cwd();
  let { words } = line;
  let problem: string | undefined;
  let noModel: NoModelReason | undefined;
  let exceeded: BudgetExceeded | undefined;
  const unloaded: string[] = [];
  const read = (said: readonly string[]) => promptsOf(said, { cwd, further: line.options.get("then") ?? [] });
  // Which words are messages is known only when it is known which are values of flags.
  const isLate = line.foreign.length > 0;
  const early = isLate ? [] : await read(words);
  const watch = watchRun({ cwd, agentDir: agentDirectory(process.env) });
  const { session, modelFallbackMessage } = await createAgentSession({
    ...options,
    ...watch.options,
    mode: form === "text" ? "print" : "json",
    onLoadError: ({ path }) => unloaded.push(path),
    onNoModel: (reason) => {
      noModel = reason;
    },
    onBudgetExceeded: (limit) => {
      exceeded = limit;
    },
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
  const refusal =
    problem !== undefined
      ? new GalleyError("usage", problem)
      : missed !== undefined
        ? new GalleyError("start_failed", `Nothing was run: ${missed} was named and cannot be used.`)
        : errorOf(noModel);
  if (refusal) {
    await session.dispose();
    throw refusal;
  }
  const prompts = isLate ? await read(words) : early;
  if (modelFallbackMessage !== undefined) log.warn(modelFallbackMessage);
  stop.watch(session);
  watch.attach(session);
  if (form === "lines") writeEvents(session, { output, stop, hasSnapshots: line.options.has("json-snapshots") });
  progress.begin(watch.tally, session.model ? `${session.model.provider}/${session.model.id}` : "the model");
  session.subscribe((event) => progress.event(event));
  const work = async () => {
    const deps = { session, stop, exceeded: () => exceeded, beforeUntold: () => watch.beforeUntold() };
    const failed = await runPrompts(deps, prompts);
    const failure = failed ?? (line.options.has("yes") ? await applyRest(deps) : undefined);
    return { failure, left: await leftOf(session, parts) };
  };
  const { failure, left } = await work().finally(() => session.dispose());
  return { outcome: outcomeOf(failure, left), session, report: await watch.report(), left };
}

/** Something was set up and cannot be used: the planner must not pass for it. */
function errorOf(reason: NoModelReason | undefined): GalleyError | undefined {
  if (reason?.kind === "broken_file") return new GalleyError("start_failed", reason.text);
  return reason?.kind === "unusable" ? new GalleyError("no_model", reason.text) : undefined;
}

async function leftOf(session: AgentSession, { line, form }: Parts): Promise<LeftPreviews> {
  const { isOnDisk, persistError } = session.sessionManager;
  const left = await session.getPendingActions({ diff: form === "text" && !line.options.has("quiet") });
  const ofKind = (kind: PendingActionView["kind"]) => left.filter((action) => action.kind === kind);
  return {
    plans: ofKind("plan"),
    callbacks: ofKind("closure"),
    isKept: isOnDisk,
    persistError,
    sessionDir: line.options.get("session-dir")?.[0],
    isAuto: line.options.has("auto"),
  };
}

function outcomeOf(failure: Outcome | undefined, left: LeftPreviews): Outcome {
  const ids = (actions: readonly PendingActionView[]) => actions.map(({ id }) => id);
  const pending = left.isKept ? ids(left.plans) : [];
  const discarded = [...(left.isKept ? [] : ids(left.plans)), ...ids(left.callbacks)];
  const previews = { pending, ...(discarded.length === 0 ? {} : { discarded }) };
  if (failure) return { ...failure, ...previews };
  if (left.plans.length + left.callbacks.length === 0) return { reason: "done", ...previews };
  return { reason: "pending", message: leftText(left).trimEnd(), ...previews };
}

/** stdout first, then stderr, then the end of the program. */
async function tell(parts: Parts, finished: Finished): Promise<void> {
  const { form, output, stop, line, log } = parts;
  const { session, report } = finished;
  const { signal } = stop;
  const outcome: Outcome =
    signal === undefined
      ? finished.outcome
      : { ...finished.outcome, reason: "failed", message: `Stopped by ${signal}` };
  const code = stop.code ?? codeOf(outcome, { exitCode: line.options.has("exit-code") });
  if (!stop.hasReader) process.exit(code);
  const answer = session && hasAnswer(outcome.reason) ? answerOf(session) : "";
  const ended: Ended = { outcome, code, answer, sessionId: session?.sessionId, report };
  if (form === "text" && answer !== "") await writeAnswer(output, answer);
  if (stop.code === undefined && outcome.message !== undefined && outcome.reason !== "pending")
    log.error(outcome.message);
  tellSummary(parts, { ...finished, outcome });
  if (form === "lines") output.write(exitLine(ended));
  if (form === "document") output.write(resultDocument(ended));
  output.write("", (error) => {
    if (!error) process.exit(code);
    // After the stream's own event, which knows the first reason.
    setImmediate(() => {
      stop.outputFailed(error);
      process.exit(stop.code);
    });
  });
}

/** After a signal only what the user has to know: what was written, and what is left. */
function tellSummary({ line, form, stop }: Parts, { outcome, report, left }: Finished): void {
  if (line.options.has("quiet") || !report || !left) return;
  const { stderr } = process;
  const isStopped = stop.code !== undefined;
  if (form === "text" && !isStopped)
    stderr.write(previewsText(left.plans, { isTTY: stderr.isTTY, isKept: left.isKept }));
  const shown = isStopped ? { ...report, failed: [], turns: 0 } : report;
  const text = summaryText(shown, left, outcome.message);
  if (text !== "") stderr.write(text);
}

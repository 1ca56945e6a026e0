// One-shot runs: the prompts go in, the answer comes out. Text for people and scripts, JSON lines for programs; stderr
// tells what happens meanwhile and what happened, the exit code and the last JSON line how it ended.

import type { Writable } from "node:stream";
import { isatty } from "node:tty";
import { type Log, logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { AgentSession } from "../../sdk/index.js";
import type { ChangedBesides } from "../../sdk/run-report/changed-besides.js";
import type { RunReport } from "../../sdk/run-report/watch-run.js";
import type { CommandLine } from "../arguments.js";
import { guardStdout, ignoreBrokenStderr } from "../guard-stdout.js";
import { reportUncaught } from "../report-uncaught.js";
import { amountText, countText } from "./figures.js";
import { type LeftPreviews, leftOf, leftText, outcomeWith } from "./left-previews.js";
import { fileLine, listing } from "./listing.js";
import { openRun } from "./open-run.js";
import { answerOf, type Ended, exitLine, hasAnswer, resultDocument, writeAnswer, writeEvents } from "./output.js";
import { previewsText } from "./previews.js";
import { Progress } from "./progress.js";
import { codeOf, type Outcome, outcomeOfError } from "./run-outcome.js";
import { applyRest, runPrompts } from "./run-prompts.js";
import { Stop } from "./stop.js";

type Form = "text" | "lines" | "document";

interface Parts {
  readonly line: CommandLine;
  readonly form: Form;
  readonly output: Writable;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly log: Log;
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
  const isDocument = line.options.get("output-format")?.[0] === "json";
  const form: Form = mode === "text" ? "text" : isDocument ? "document" : "lines";
  const output = guardStdout();
  const mask = (text: string) => stop.session?.secrets.mask(text) ?? text;
  const progress = createProgress(line, form, mask);
  const warnings = new Set<string>();
  const log = logTo((text) => {
    warnings.add(text);
    progress.write(text);
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
  // A broken models file was reported when it was read.
  const isTold = warnings.has(`galley: ${finished.outcome.message}\n`);
  await tell(parts, { ...finished, isTold });
}

/** Its line would be mixed with lines of JSON on the same terminal. */
function createProgress({ options }: CommandLine, form: Form, mask: (text: string) => string): Progress {
  const [isQuiet, isVerbose] = [options.has("quiet"), options.has("verbose")];
  const { stderr } = process;
  const hasLine = stderr.isTTY === true && process.env.TERM !== "dumb" && !(form === "lines" && isatty(1));
  const masked = {
    write: (text: string) => stderr.write(mask(text)),
    get columns() {
      return stderr.columns;
    },
  };
  return new Progress({ stderr: masked, hasLine, isVerbose, isQuiet, now: () => performance.now() });
}

async function run({ line, form, output, stop, progress, log }: Parts): Promise<Finished> {
  const { session, prompts, watch } = await openRun(line, { mode: form === "text" ? "print" : "json", log });
  stop.watch(session);
  if (form === "lines") writeEvents(session, { output, stop, hasSnapshots: line.options.has("json-snapshots") });
  progress.begin(watch.tally, session.model ? `${session.model.provider}/${session.model.id}` : "the model");
  session.subscribe((event) => progress.event(event));
  const work = async () => {
    const deps = { session, stop, beforeUntold: () => watch.beforeUntold() };
    const failed = await runPrompts(deps, prompts);
    const failure = failed ?? (line.options.has("yes") ? await applyRest(deps) : undefined);
    const withDiff = form === "text" && !line.options.has("quiet");
    return { failure, left: await leftOf(session, line, { withDiff }) };
  };
  const { failure, left } = await work().finally(() => session.dispose());
  return { outcome: outcomeWith(left, failure), session, report: await watch.report(), left };
}

/** stdout first, then stderr, then the end of the program. */
async function tell(parts: Parts, finished: Finished & { isTold: boolean }): Promise<void> {
  const { form, output, stop, line, log } = parts;
  const { session, report, isTold } = finished;
  const outcome = stoppedBy(stop, finished.outcome);
  const code = stop.code ?? codeOf(outcome, { exitCode: line.options.has("exit-code") });
  if (!stop.hasReader) process.exit(code);
  const answer = session && hasAnswer(outcome.reason) ? answerOf(session) : "";
  const ended: Ended = { outcome, code, answer, sessionId: session?.sessionId, report, secrets: session?.secrets };
  if (form === "text" && answer !== "") await writeAnswer(output, answer);
  const isSaid = isTold || stop.code !== undefined || outcome.reason === "pending";
  if (outcome.message !== undefined && !isSaid) log.error(outcome.message);
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

function stoppedBy({ signal }: Stop, outcome: Outcome): Outcome {
  return signal === undefined ? outcome : { ...outcome, reason: "failed", message: `Stopped by ${signal}` };
}

/** After a signal only what the user has to know: what was written, and what is left. */
function tellSummary({ line, form, stop }: Parts, { outcome, report, left }: Finished): void {
  if (line.options.has("quiet") || !report || !left) return;
  const { stderr } = process;
  const tellUser = (text: string) => stderr.write(stop.session?.secrets.mask(text) ?? text);
  const isStopped = stop.code !== undefined;
  const { plans, isKept } = left;
  if (form === "text" && !isStopped) tellUser(previewsText(plans, { isTTY: stderr.isTTY, isKept }));
  const shown = isStopped ? { ...report, failed: [], turns: 0 } : report;
  tellUser(summaryText(shown, left, outcome.message));
}

// What a one-shot run tells at its end: what it wrote, what others wrote for it, what failed, what waits and how to
// decide it, what it took. It states what was found on the disk, and what is not known.

/** A command may make thousands of files, and a model may fail without end. */
const maxUntold = 200;
const maxFailures = 50;

/** Whole lines, or nothing. `message`: what is said about the run's failure anyway. */
function summaryText(report: RunReport, left: LeftPreviews, message = ""): string {
  const { written, failed, turns } = report;
  const untold = failed.filter(({ why }) => why !== message);
  const blocks = [
    listing("Written:", written.map(fileLine)),
    besidesText(report.besides),
    written.length === 0 ? "" : "Take back what was written with  galley undo --run\n",
    listing("Failed or refused:", untold.map(failureLine), maxFailures),
    leftText(left),
    turns === 0 ? "" : `${[countText(turns, "turn"), ...amountText(report)].join(", ")}\n`,
  ];
  return sanitizeForTerminal(blocks.join(""));
}

function besidesText(besides: ChangedBesides): string {
  if (besides.kind === "none") return "";
  if (besides.kind === "unknown") return `What commands and custom tools changed is not known: ${besides.reason}.\n`;
  const title = "Changed by commands or custom tools (galley cannot take this back):";
  return listing(title, besides.files.map(fileLine), maxUntold);
}

function failureLine({ tool, target, why }: RunReport["failed"][number]): string {
  return `${target === "" ? tool : `${tool} ${target}`}: ${why}`;
}

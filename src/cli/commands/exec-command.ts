// `galley exec`: one program, confined or staged, without a model and without a shell. Its streams pass through byte for
// byte; what is said about it goes to stderr.

import { fstatSync } from "node:fs";
import { GalleyError, messageOf } from "../../base/errors.js";
import { logTo } from "../../base/log.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { parseAssignment } from "../../config/settings/assignment.js";
import { openExecSession } from "../../sdk/exec/open-exec-session.js";
import type { AgentSession } from "../../sdk/index.js";
import { type CommandLine, parseArguments, refuseForeign } from "../arguments.js";
import { exitCodes } from "../exit-codes.js";
import { accessOf, workingDirectory } from "../session-options.js";
import { stopBySignal } from "../stop-by-signal.js";
import { wrongUse } from "../verb-help.js";
import { execOptions } from "../verbs.js";

const notFoundCode = 127;
/** Of each stream in the document. */
const maxStreamBytes = 1024 * 1024;

const log = logTo((line) => process.stderr.write(sanitizeForTerminal(line)));

type Outcome = Awaited<ReturnType<AgentSession["executeProgram"]>>;

export async function runExecCommand(words: readonly string[]): Promise<void> {
  const wanted = parseExecWords(words);
  const cwd = workingDirectory(wanted.directory);
  const { sessionDir } = wanted;
  const location = { cwd, agentDir: agentDirectory(process.env), log, sessionDir };
  const stop = new AbortController();
  const signalCode = stopBySignal(stop);
  const streams = wanted.isJson ? new KeptStreams() : new PassedStreams();
  let session: AgentSession | undefined;
  let code: number;
  try {
    session = await openExecSession(location, wanted);
    code = await run(session, wanted, { streams, signal: stop.signal });
  } catch (error) {
    await session?.learnSandbox();
    code = failed(error, wanted, { streams, session });
  }
  await session?.dispose();
  process.exitCode = signalCode() ?? code;
  process.stdout.write("", () => process.exit());
}

interface Running {
  readonly streams: KeptStreams | PassedStreams;
  readonly signal: AbortSignal;
}

async function run(session: AgentSession, wanted: ExecWords, { streams, signal }: Running): Promise<number> {
  const { program: file, args, timeoutMs, isJson, hasExitCode } = wanted;
  const outcome = await session.executeProgram({
    file,
    args,
    timeoutMs,
    signal,
    readsInput: hasInput(),
    // What was asked to be staged does not run on the disk.
    stage: session.staging === "all",
    onOutput: (chunk, stream) => streams.take(chunk, stream),
  });
  const { notes, stopped, exitCode } = outcome;
  const { pendingId } = notes.staged ?? {};
  const { persistError } = session;
  const isLost = pendingId !== undefined && persistError !== undefined;
  if (isLost) log.error(`${pendingId} could not be kept (${persistError}) and is gone.`);
  const said = [...(stopped ? [stopped === "timed_out" ? "Timed out." : "Stopped."] : []), ...notes.lines];
  await session.learnSandbox(); // the mode may not have asked yet
  const { dropped } = notes;
  if (isJson && dropped) log.error(dropped.text);
  if (isJson) printDocument(documentOf(outcome, { streams, session, message: stopped && said[0] }));
  else if (said.length > 0) process.stderr.write(sanitizeForTerminal(`${said.join("\n")}\n${decideText(pendingId)}`));
  if (isLost || dropped) return exitCodes.failed;
  return hasExitCode && exitCode === 0 && pendingId !== undefined ? exitCodes.pending : exitCode;
}

function decideText(id: string | undefined): string {
  if (id === undefined) return "";
  return `See it with  galley show ${id}\nDecide with  galley apply ${id}  or  galley discard ${id}\n`;
}

/** Why it did not run, and the code that says so. */
function failed(
  error: unknown,
  { isJson }: ExecWords,
  { streams, session }: { streams: Running["streams"]; session: AgentSession | undefined },
): number {
  const message = messageOf(error);
  const exitCode = codeOf(error);
  if (isJson) printDocument(documentOf({ exitCode, notes: { lines: [] } }, { streams, session, message }));
  else log.error(message);
  return exitCode;
}

function codeOf(error: unknown): number {
  if (GalleyError.is(error, "usage")) return exitCodes.usage;
  if (GalleyError.is(error, "not_found")) return notFoundCode;
  if (GalleyError.is(error, "unsupported")) return exitCodes.denied;
  return exitCodes.failed;
}

function documentOf(
  { exitCode, stopped, notes }: Outcome,
  about: { streams: Running["streams"]; session: AgentSession | undefined; message?: string | undefined },
): object {
  const { pendingId, files = [], notStaged = [], kept = { files: 0, bytes: 0 } } = notes.staged ?? {};
  const { streams, session, message } = about;
  const { text: _, ...dropped } = notes.dropped ?? {};
  const told = message ?? (notes.staged ? undefined : notes.lines.join("\n"));
  return {
    exitCode,
    ...(stopped ? { stopped } : {}),
    ...(streams instanceof KeptStreams ? streams.texts : {}),
    pendingId,
    files,
    notStaged,
    kept,
    dropped: notes.dropped && dropped,
    ...(told === undefined || told === "" ? {} : { message: told }),
    ...(session ? { sandbox: session.sandbox } : {}),
  };
}

function printDocument(document: object): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

/** Straight through; a reader that is slow holds the program up, and one that has gone ends nothing. */
class PassedStreams {
  constructor() {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  }

  take(chunk: Uint8Array, name: "stdout" | "stderr"): Promise<void> | undefined {
    if (process[name].write(chunk)) return undefined;
    return new Promise((resolve) => {
      process[name].once("drain", resolve);
      process[name].once("close", resolve);
    });
  }
}

/** For the document: the beginning of each. */
class KeptStreams {
  readonly #chunks: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
  readonly #room = { stdout: maxStreamBytes, stderr: maxStreamBytes };
  #isTruncated = false;

  take(chunk: Uint8Array, name: "stdout" | "stderr"): undefined {
    const part = chunk.subarray(0, this.#room[name]);
    this.#room[name] -= part.length;
    if (part.length > 0) this.#chunks[name].push(Buffer.from(part));
    this.#isTruncated ||= part.length < chunk.length;
  }

  get texts(): object {
    const text = (name: "stdout" | "stderr") => Buffer.concat(this.#chunks[name]).toString();
    return { stdout: text("stdout"), stderr: text("stderr"), ...(this.#isTruncated ? { truncated: true } : {}) };
  }
}

/** A terminal is not handed on: the program is in a session of its own and could not read from it. */
function hasInput(): boolean {
  if (process.stdin.isTTY) return false;
  try {
    fstatSync(0);
    return true;
  } catch {
    return false; // it is closed
  }
}

// The words of `galley exec`: its own options, then `--`, then the program as it is.

interface ExecWords extends ReturnType<typeof accessOf> {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string | undefined;
  readonly sessionDir: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly assignments: ReturnType<typeof parseAssignment>[];
  readonly isJson: boolean;
  readonly hasExitCode: boolean;
}

/** Throws `usage`. */
function parseExecWords(words: readonly string[]): ExecWords {
  const end = words.indexOf("--");
  if (end === -1) throw wrongUse("exec", "Put -- before the program: galley exec -- npm test");
  const [program = "", ...args] = words.slice(end + 1);
  if (program === "") throw wrongUse("exec", "Name the program to run, after --.");
  if ([program, ...args].some((word) => word.includes("\0")))
    throw new GalleyError("usage", "The program and its arguments must not contain NUL characters.");
  const own = words.slice(0, end);
  const { rest, timeoutMs } = takeTimeout(own.filter((word) => word !== "--json"));
  const line = parseArguments(rest);
  refuseForeign(line);
  const other = [...line.options.keys()].find((name) => !execOptions.includes(name));
  if (other !== undefined) throw wrongUse("exec", `galley exec does not take --${other}.`);
  if (line.words.length > 0)
    throw wrongUse("exec", `Put -- before the program: galley exec -- ${line.words.join(" ")}`);
  return {
    program,
    args,
    timeoutMs,
    isJson: own.includes("--json"),
    hasExitCode: line.options.has("exit-code"),
    ...accessOf(line),
    directory: valueIn(line, "cwd"),
    sessionDir: valueIn(line, "session-dir"),
    assignments: (line.options.get("set") ?? []).map(parseAssignment),
  };
}

function valueIn({ options }: CommandLine, name: string): string | undefined {
  return options.get(name)?.[0];
}

const maxSeconds = 24 * 3600;

/** `--timeout S` or `--timeout=S`: of this verb alone. */
function takeTimeout(words: readonly string[]): { rest: string[]; timeoutMs: number | undefined } {
  const at = words.findIndex((word) => word === "--timeout" || word.startsWith("--timeout="));
  if (at === -1) return { rest: [...words], timeoutMs: undefined };
  const [, inline] = (words[at] ?? "").split("=", 2);
  const given = inline ?? words[at + 1] ?? "";
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(given) ? Number(given) : 0;
  if (seconds <= 0 || seconds > maxSeconds)
    throw new GalleyError("usage", `--timeout must be seconds from 0.001 to ${maxSeconds}, not "${given}".`);
  return { rest: words.toSpliced(at, inline === undefined ? 2 : 1), timeoutMs: seconds * 1000 };
}

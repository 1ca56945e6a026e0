// ripgrep as a child process: where it is, how it is called, and how its end is reported. It sees the files that
// `Workspace.walk` sees, gets a path to search, and never reads the user's configuration.

import { createRequire } from "node:module";
import { basename, dirname, join, parse, sep } from "node:path";
import { linkAbort, throwIfAborted } from "../../base/abort.js";
import { type ErrorCode, GalleyError } from "../../base/errors.js";
import { ownLocation } from "../../base/own-location.js";
import { mayExist } from "../../files/paths/find-roots.js";
import type { Target, Workspace } from "../../files/workspace.js";
import type { Processes } from "../../processes/processes.js";

const maxProblemLength = 4000;

export interface SearchDeps {
  /** For what the model named: it may ask the user. */
  readonly workspace: Workspace;
  /** The same rules without asking the user, for files that a search finds. */
  readonly unattended: Workspace;
  readonly processes: Processes;
  /** Default: what is installed. Without one we search ourselves. */
  readonly ripgrepPath?: () => string | undefined;
}

export type RipgrepDeps = Pick<SearchDeps, "processes" | "ripgrepPath">;

export interface RipgrepRequest {
  /** ripgrep runs in this directory, so that every path in its output begins with `./`. */
  readonly root: Target;
  readonly args: readonly string[];
  /** Directories to enter although they are usually skipped: `.git`, `node_modules`. */
  readonly mentioned: readonly string[];
  /** `false`: ignore files do not count. */
  readonly gitignore?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  onStart?: (() => void) | undefined;
  /** `false`: enough; it is stopped, and this is not called again. */
  onOutput(chunk: Uint8Array): boolean;
}

export interface RipgrepEnd {
  /** 0 found something, 1 nothing, 2 had a problem; of no meaning where it was stopped. */
  readonly exitCode: number;
  /** What it wrote about it, without its name and our directory. */
  readonly problem: string;
  readonly stopped?: "enough" | "timed_out";
}

/** `undefined`: there is no ripgrep that starts. Throws `aborted`. */
export async function runRipgrep(
  { processes, ripgrepPath = installedRipgrep }: RipgrepDeps,
  { root, args, mentioned, gitignore, timeoutMs, signal, onStart, onOutput }: RipgrepRequest,
): Promise<RipgrepEnd | undefined> {
  throwIfAborted(signal);
  const file = ripgrepPath();
  if (file === undefined) return undefined;
  const isDirectory = root.kind === "directory";
  const cwd = isDirectory ? root.path : dirname(root.path);
  const place = isDirectory ? "./" : `./${basename(root.path)}`;
  const flags = isDirectory ? sightFlags(root, { mentioned, gitignore }) : [];
  const stop = linkAbort(signal);
  let isEnough = false;
  let problem = "";
  try {
    const end = await processes.run({
      command: { file, args: [...fixedFlags, ...flags, ...args, "--", place] },
      cwd,
      startsNoOthers: true,
      ...(onStart ? { onStart } : {}),
      timeoutMs,
      signal: stop.signal,
      onOutput(chunk, stream) {
        if (stream === "stderr") problem = (problem + Buffer.from(chunk).toString("utf8")).slice(0, maxProblemLength);
        else if (!isEnough) isEnough = !onOutput(chunk);
        if (isEnough) stop.abort();
        return undefined;
      },
    });
    throwIfAborted(signal);
    const stopped = isEnough ? "enough" : end.stopped === "timed_out" ? end.stopped : undefined;
    return { exitCode: end.exitCode, problem: problem.replaceAll(cwd, "."), ...(stopped ? { stopped } : {}) };
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof GalleyError && noStart.includes(error.code)) return undefined;
    throw error;
  } finally {
    stop.release();
  }
}

const noStart: ErrorCode[] = ["not_found", "start_failed", "unsupported"];

/** Which of the directories that are usually skipped a glob or a path names. */
export function mentionedIn(...texts: (string | undefined)[]): string[] {
  const components = texts.flatMap((text) => text?.split(/[/\\]/) ?? []);
  return skippedNames.filter((name) => components.includes(name));
}

const skippedNames = [".git", "node_modules"];

/** `--no-messages`: a file that cannot be opened shows in the exit code; a bad pattern is still reported. */
const fixedFlags = ["--no-config", "--color=never", "--no-messages", "--null"];

/** What makes ripgrep see what a walk sees. */
function sightFlags(
  root: Target,
  { mentioned, gitignore = true }: { mentioned: readonly string[]; gitignore?: boolean | undefined },
): string[] {
  const entered = [...mentioned, ...mentionedIn(root.path)];
  const flags = skippedNames.filter((name) => !entered.includes(name)).map((name) => `--glob=!${name}/`);
  // From the root of the disk the rest is devices and processes.
  if (root.path === parse(root.path).root) flags.push("--one-file-system");
  // Rules that hide what a glob mentions must not hide what is in it; the glob lets nothing else through.
  if (!gitignore || mentioned.length > 0) return [...flags, "--no-ignore"];
  flags.push("--no-require-git", "--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude");
  // Above a repository, or without one, an ignore file belongs to another project.
  const isBounded = entered.length === 0 && isInRepository(root.path);
  return isBounded ? flags : [...flags, "--no-ignore-parent"];
}

/** ripgrep is on the real disk, so that is where we look. */
function isInRepository(path: string): boolean {
  const parent = dirname(path);
  return mayExist(join(path, ".git")) || (parent !== path && isInRepository(parent));
}

/** The platform's package belongs to ripgrep's own, which is not imported: it throws where that one is missing. */
/** Undefined where it is not installed. */
export function installedRipgrep(): string | undefined {
  try {
    foundRipgrep ??= findRipgrep();
    return foundRipgrep;
  } catch {
    return undefined; // not installed, or not made for this platform: we search ourselves
  }
}

/** Looked up once, because that takes longer than many a search. If ripgrep is removed later, it just does not start. */
let foundRipgrep: string | undefined;

function findRipgrep(): string {
  const packageEntry = createRequire(ownLocation()).resolve("@vscode/ripgrep");
  const program = process.platform === "win32" ? "rg.exe" : "rg";
  return createRequire(packageEntry).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${program}`);
}

const maxTextBytes = 64 * 1024;

/**
 * For `onOutput`, where `--null` ends each text with a NUL: hands over those that are whole, with NULs between them.
 * Decoded in one go: one by one takes longer than all the rest. Bytes that are no UTF-8 become U+FFFD.
 */
export function wholeTexts(take: (texts: string) => boolean): (chunk: Uint8Array) => boolean {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = rest.length === 0 ? fresh : Buffer.concat([rest, fresh]);
    const end = bytes.lastIndexOf(0);
    rest = bytes.subarray(end + 1);
    return (end < 0 || take(bytes.toString("utf8", 0, end))) && rest.length <= maxTextBytes;
  };
}

/** A path as ripgrep tells it, relative to the root and with `/`. */
export function toldPath(text: string): string {
  const path = sep === "/" ? text : text.replaceAll(sep, "/");
  return path.startsWith("./") ? path.slice(2) : path;
}

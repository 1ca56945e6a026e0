// What the model is told about where it works: date, platform, shell, directories, branch, and what becomes of what it
// writes. Less than 600 bytes, because it is paid for with every model call. Git is asked once, within a deadline.

import { basename } from "node:path";
import type { Clock } from "../base/clock.js";
import { oneLine } from "../base/sanitize.js";
import { quietGit, readGitDirectory } from "../files/git-directory.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Processes } from "../processes/processes.js";
import { findShell } from "../processes/shell.js";
import type { SandboxState } from "../protocol/data.js";
import type { SessionAccess } from "./access/access-mode.js";
import { notTriedText, type SessionSandbox } from "./sandbox/session-sandbox.js";
import type { SessionEnvironment } from "./session-environment.js";

export interface SurroundingsOptions extends Pick<SessionEnvironment, "cwd" | "project" | "settings" | "clock"> {
  readonly access: Pick<SessionAccess, "staging">;
  readonly sandbox: Pick<SessionSandbox, "state">;
  /** Where programs are searched; undefined: commands run elsewhere, and neither shell nor git is known. */
  readonly path: string | undefined;
  readonly processes: Processes | undefined;
}

export interface Surroundings {
  text(): string;
  /** Looks at the repository; undefined once that is done. Never rejects. */
  learn(): Promise<void> | undefined;
}

const maxBytes = 599;
const deadlineMs = 300;
const maxBranchLength = 80;

export function createSurroundings(options: SurroundingsOptions): Surroundings {
  const { cwd, project, clock, processes } = options;
  let learning: Promise<void> | undefined;
  let isLearned = false;
  let git: string | undefined;
  let platform: string | undefined;
  const facts = () => {
    platform ??= platformText(options);
    const repository = git === undefined ? "" : `Git: ${git}\n`;
    return `Date: ${dateAt(clock.now())}\n${platform}\n${repository}${sandboxText(options.sandbox.state)} ${stagingText(options)}`;
  };
  let latest: { readonly facts: string; readonly text: string } | undefined;
  return {
    text() {
      const now = facts();
      if (latest?.facts !== now) {
        const places = { root: printable(project.repositoryRoot ?? project.writableRoot), cwd: printable(cwd) };
        latest = { facts: now, text: fitted(now, places) };
      }
      return latest.text;
    },
    learn() {
      if (isLearned) return undefined;
      learning ??= askGit(project.repositoryRoot, processes, clock).then((found) => {
        git = found;
        isLearned = true;
      });
      return learning;
    },
  };
}

const networkTexts = { off: "no network", hosts: "network by allow list", on: "network" };

/** Where commands may write, and what they reach. */
function sandboxText({ mode, mechanism, network }: SandboxState): string {
  if (mode === "off") return "No sandbox.";
  if (mechanism === "none") return "No sandbox: commands are refused.";
  const where = mode === "read-only" ? "read-only" : "the project is writable";
  return `Sandbox: ${where}, ${networkTexts[network]}.`;
}

const stagingTexts = {
  off: "Staging off: tools write at once.",
  auto: "Staging auto: previews wait to be applied; other tools write at once.",
  all: "Staging all: every file change is a preview that waits for review.",
};

function stagingText({ access: { staging }, sandbox }: SurroundingsOptions): string {
  const { mode, stage } = sandbox.state;
  // What was not tried yet is taken for possible: a refused command says why.
  const isPossible = mode !== "read-only" && (stage.mechanism !== "none" || stage.reason === notTriedText);
  return staging === "all" && isPossible
    ? stagingTexts.all.replace("change", "change, also of commands,")
    : stagingTexts[staging];
}

/** Of the user's time zone. */
function dateAt(now: number): string {
  const date = new Date(now);
  const part = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

function platformText(options: SurroundingsOptions): string {
  const shell = shellOf(options);
  return `Platform: ${process.platform} ${process.arch}${shell === "" ? "" : `, shell ${shell}`}`;
}

/** Empty where it is not known. */
function shellOf({ processes, path, project, settings }: SurroundingsOptions): string {
  if (!processes) return "";
  try {
    return basename(settings.get("shellPath") ?? findShell({ path, projectRoot: project.writableRoot }));
  } catch {
    return ""; // a command will say that there is none
  }
}

/** Long paths lose their middle: the bound holds for every directory. */
function fitted(facts: string, { root, cwd }: { root: string; cwd: string }): string {
  const build = (room: number) => {
    const at = `Working directory: ${shortened(cwd, room)}`;
    return [
      facts,
      ...(root === cwd ? [`${at}, the project root`] : [at, `Project root: ${shortened(root, room)}`]),
    ].join("\n");
  };
  const whole = build(Number.POSITIVE_INFINITY);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const rest = maxBytes - Buffer.byteLength(build(0));
  const half = Math.floor(rest / 2);
  return build(half);
}

function shortened(path: string, room: number): string {
  if (Buffer.byteLength(path) <= room) return path;
  const characters = [...path];
  while (characters.length > 0 && Buffer.byteLength(characters.join("")) + 3 > room)
    characters.splice(Math.floor(characters.length / 3), 1);
  const cut = Math.floor(characters.length / 3);
  return room < 3 ? "" : `${characters.slice(0, cut).join("")}…${characters.slice(cut).join("")}`;
}

async function askGit(
  root: string | undefined,
  processes: Processes | undefined,
  clock: Clock,
): Promise<string | undefined> {
  if (root === undefined || !processes) return undefined;
  const directory = readGitDirectory(root);
  if (directory?.head === undefined) return undefined;
  const head = /^[0-9a-f]{12}$/.test(directory.head) ? `detached at ${directory.head}` : `branch ${directory.head}`;
  const isDirty = directory.isHarmless ? await hasChanges({ root, path: directory.path }, processes, clock) : undefined;
  const state = isDirty === undefined ? "" : isDirty ? ", uncommitted changes" : ", no uncommitted changes";
  return `${oneLine(head, maxBranchLength)}${state}`;
}

/** Of files that git knows. Undefined when there is no answer in time. */
async function hasChanges(
  { root, path }: { root: string; path: string },
  processes: Processes,
  clock: Clock,
): Promise<boolean | undefined> {
  const stop = new AbortController();
  let isDirty = false;
  const args = [
    ...[`--git-dir=${path}`, `--work-tree=${root}`],
    ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"],
    ...["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"],
  ];
  const answer = processes
    .run({
      command: { file: "git", args },
      cwd: root,
      env: quietGit, // the project's configuration was read and is harmless: no program is started
      signal: stop.signal,
      onOutput(_chunk, stream) {
        if (stream === "stdout") isDirty = true;
        if (isDirty) stop.abort(); // the first line tells
        return undefined;
      },
    })
    .then(
      ({ exitCode }) => (isDirty ? true : exitCode === 0 ? false : undefined),
      () => undefined, // there is no git, or it cannot be started
    );
  let cancel = () => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(deadlineMs, () => {
      stop.abort();
      resolve(undefined);
    });
  });
  return Promise.race([answer, late]).finally(() => cancel());
}

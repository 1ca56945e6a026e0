// A project, its view, and plain commands in it, for tests with the real kernel. Boxes are tested elsewhere: commands run
// here by `nsenter` alone.

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createViewProcesses } from "../../processes/sandbox/view-holder.js";
import { createStageView, type StageViewOptions } from "./create-stage-view.js";
import type { Effect, Effects, FileState, OpenView, StagedState, StageView } from "./stage-view.js";

/** Why views cannot be tested here; undefined where they can. */
export const noViews: string | undefined = findOut();

function findOut(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  const { status, stderr } = spawnSync("unshare", ["--user", "--map-root-user", "--mount", "true"], {
    encoding: "utf8",
  });
  return status === 0 ? undefined : `no user namespaces here: ${(stderr ?? "unshare is missing").trim()}`;
}

export const viewTitle = noViews === undefined ? "" : ` (skipped: ${noViews})`;

/** Text is a file, `-> x` a link, `null` a directory. */
export type Tree = Readonly<Record<string, string | null>>;

export function plant(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true });
  for (const [name, content] of Object.entries(tree)) {
    const path = join(root, name);
    mkdirSync(content === null ? path : dirname(path), { recursive: true });
    if (content === null) continue;
    if (content.startsWith("-> ")) symlinkSync(content.slice(3), path);
    else writeFileSync(path, content);
  }
}

export interface Rig {
  readonly root: string;
  readonly agentDir: string;
  readonly view: StageView;
  /** Runs a command in the view and collects; `during` is called between the two, `atOnce` before galley saw anything. */
  run(
    command: string,
    options?: { staged?: readonly StagedState[]; during?: () => void; atOnce?: () => void },
  ): Promise<Effects & { output: string }>;
}

export async function createRig(tree: Tree, options: Partial<StageViewOptions> = {}): Promise<Rig> {
  const place = temporaryDirectory();
  const root = join(place, "project");
  const agentDir = join(place, "agent");
  plant(root, tree);
  mkdirSync(agentDir);
  const view = await createStageView({ ...viewOptions({ root, agentDir }), ...options });
  onTestFinished(() => view.close());
  return {
    root,
    agentDir,
    view,
    async run(command, { staged = [], during, atOnce } = {}) {
      const open = await view.open(staged);
      try {
        const output = runIn(open, root, command);
        atOnce?.();
        for (const _ of [1, 2]) await new Promise(setImmediate); // between them, what the system tells is read
        during?.();
        return { ...(await open.collect()), output };
      } finally {
        await open.release();
      }
    },
  };
}

export function viewOptions({ root, agentDir }: { root: string; agentDir: string }): StageViewOptions {
  return { roots: [root], agentDir, sessionId: "session-1", env: {}, ...createViewProcesses({ env: process.env }) };
}

/** Directories for PATH whose `mount` is this text, and otherwise as usual. `$REAL` is the real one. */
export function pathWithMount(text: string): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "mount"), `#!/bin/sh\nREAL=/bin/mount\n${text}\n`, { mode: 0o755 });
  return `${directory}:/usr/bin:/bin:/usr/sbin:/sbin`;
}

/** No overlay can be mounted. */
export function copyOnly(): Pick<StageViewOptions, "startHolder" | "runInView"> {
  const path = pathWithMount(
    'case "$*" in *overlay*) echo "mount: no overlay here" >&2; exit 32 ;; esac; exec "$REAL" "$@"',
  );
  return createViewProcesses({ env: process.env, path });
}

export function runIn({ holder }: Pick<OpenView, "holder">, root: string, command: string): string {
  const enter = ["--preserve-credentials", "--user", "--mount", "--target", String(holder), "--"];
  const args = [...enter, "sh", "-c", `cd "$1" && eval "$2"`, "test", root, command];
  const env = { PATH: process.env.PATH, HOME: root, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C.UTF-8" };
  return execFileSync("nsenter", args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
}

/** The effects of a command, as what is staged after it. */
export function stagedAfter(effects: readonly Effect[], staged: readonly StagedState[] = []): StagedState[] {
  const states = new Map(staged.map(({ path, state }) => [path, state]));
  for (const { path, after } of effects) states.set(path, after);
  return [...states].map(([path, state]) => ({ path, state }));
}

/** Writes effects to a plain tree, as an apply would. */
export function applyTo(root: string, effects: readonly Effect[], from: string = root): void {
  const at = (path: string) => root + path.slice(from.length);
  const isGone = ({ after, before }: Effect) => before !== undefined && after?.type !== before.type;
  for (const { path, before } of effects.filter(isGone).toReversed())
    if (before?.type === "directory") rmdirAt(at(path));
    else rmSync(at(path), { force: true });
  for (const { path, after } of effects) {
    if (!after) continue;
    mkdirSync(dirname(at(path)), { recursive: true });
    if (after.type === "directory") mkdirSync(at(path), { recursive: true });
    else rmSync(at(path), { force: true });
    if (after.type === "symlink") symlinkSync(Buffer.from(after.target), at(path));
    if (after.type === "file") writeFileSync(at(path), after.bytes);
  }
  for (const { path, after } of effects.toReversed())
    if (after && after.type !== "symlink") chmodSync(at(path), after.mode);
}

function rmdirAt(path: string): void {
  execFileSync("rmdir", ["--", path]);
}

/** A tree as text: types, permissions, content. */
export function snapshot(root: string, skip: (name: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (name: string) => {
    const path = join(root, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
    else if (stat.isDirectory()) {
      found[name || "."] = `directory ${mode}`;
      for (const child of readdirSync(path)) if (!skip(join(name, child))) look(join(name, child));
    } else if (stat.isFile()) found[name] = `${mode} ${readFileSync(path, "latin1")}`;
    else found[name] = "special";
  };
  look("");
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Effects in short: `M a.txt`. */
export function shortForm({ effects }: Pick<Effects, "effects">, root: string): string[] {
  return effects.map(({ path, before, after }) => {
    const kind = before && after ? "M" : after ? "A" : "D";
    const type = (state: FileState | undefined) => (state && state.type !== "file" ? ` ${state.type}` : "");
    return `${kind} ${path.slice(root.length + 1)}${type(before)}${after ? type(after) && ` >${type(after)}` : ""}`;
  });
}

// Starts the process that holds a staged view, and programs of ours in that view. The holder is in a user and mount
// namespace of its own, has an environment without secrets, and ends when its input closes or galley ends.

import { type ChildProcess, spawn } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { GalleyError } from "../../base/errors.js";
import type { RunInView, StartHolder, ViewHolder } from "../../files/layer/view-programs.js";
import { printable } from "../../files/paths/resolve-path.js";
import { childEnvironment, type Environment } from "../child-environment.js";
import { start } from "../start.js";

export interface ViewHolderOptions {
  readonly env: Environment;
  /** Where programs are searched. Default: the system's directories, then PATH. */
  readonly path?: string | undefined;
}

const systemPlaces = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
const readyMs = 10_000;
const endMs = 2000;
const maxText = 4000;
const maxOutputBytes = 64 * 2 ** 20;

export interface ViewProcesses {
  readonly startHolder: StartHolder;
  readonly runInView: RunInView;
}

export function createViewProcesses(options: ViewHolderOptions): ViewProcesses {
  const path = options.path ?? safePath(options.env.PATH);
  const env = { ...childEnvironment(options.env), PATH: path };
  return {
    startHolder: ({ script, args }) => startHolder(["sh", "-c", script, "galley-view", ...args], env),
    runInView: (request) => runInView(request, env),
  };
}

/** A relative directory would mean another program in every place. */
function safePath(path = ""): string {
  return [...systemPlaces, ...path.split(delimiter).filter((place) => isAbsolute(place))].join(delimiter);
}

async function startHolder(command: readonly string[], env: Record<string, string>): Promise<ViewHolder> {
  const args = ["--user", "--map-root-user", "--mount", "--", "setpriv", "--pdeathsig", "KILL", "--", ...command];
  const started = await start(
    spawn,
    { file: "unshare", args, mergesOutput: false },
    { cwd: "/", env, stdio: ["pipe", "pipe", "pipe"], detached: true },
  );
  const { process: child, pid } = started;
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      hasEnded = true;
      resolve();
    });
  });
  // Its end is reported by `close`.
  child.stdin?.on("error", () => {});
  const end = async () => {
    child.stdin?.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), endMs);
    await ended;
    clearTimeout(timer);
  };
  try {
    await saidReady(child, ended);
  } catch (error) {
    child.kill("SIGKILL");
    await ended;
    throw error;
  }
  // A forgotten view does not keep the program from its end.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?(): void } | null)?.unref?.();
  return {
    pid,
    isAlive: () => !hasEnded && child.exitCode === null && child.signalCode === null,
    end() {
      child.ref();
      return end();
    },
  };
}

/** Throws `start_failed` with the first line that it said instead. */
function saidReady(child: ChildProcess, ended: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    let errorText = "";
    const fail = (reason: string) => reject(new GalleyError("start_failed", reason));
    const timer = setTimeout(() => fail("The staged view was not ready in time."), readyMs);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(0, maxText);
      if (said !== "ready\n") return;
      clearTimeout(timer);
      resolve();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errorText = (errorText + text).slice(0, maxText);
    });
    void ended.then(() => {
      clearTimeout(timer);
      const line = errorText.split("\n").find((text) => text.trim() !== "");
      fail(printable(line?.trim() ?? "The process that holds the staged view ended."));
    });
  });
}

const inDirectory = 'cd -- "$1" && shift && exec "$@"';

async function runInView(
  { holder, cwd, file, args, env: extra, input, timeoutMs }: Parameters<RunInView>[0],
  env: Record<string, string>,
): Promise<{ exitCode: number; stdout: Uint8Array }> {
  const enter = ["--preserve-credentials", "--user", "--mount", "--target", String(holder), "--"];
  const command = ["sh", "-c", inDirectory, "galley-view", cwd, file, ...args];
  const { process: child } = await start(
    spawn,
    { file: "nsenter", args: [...enter, ...command], mergesOutput: false },
    { cwd: "/", env: { ...env, ...extra }, stdio: ["pipe", "pipe", "ignore"], detached: true },
  );
  const chunks: Buffer[] = [];
  let length = 0;
  let problem: string | undefined;
  const stop = (why: string) => {
    problem ??= why;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => stop(`${file} took too long`), timeoutMs);
  child.stdout?.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxOutputBytes) stop(`${file} said too much`);
    else chunks.push(chunk);
  });
  child.stdin?.on("error", () => {}); // it did not read all of it; its exit code tells why
  child.stdin?.end(input);
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  if (problem !== undefined) throw new GalleyError("timeout", problem);
  return { exitCode: exitCode ?? 1, stdout: Buffer.concat(chunks) };
}

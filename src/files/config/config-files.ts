// The user's own configuration: small text files in the agent directory, and commands named there that print a secret.
// Nothing here is for project files, which are hostile.

import type { ChildProcess } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError, systemCode } from "../../base/errors.js";
import { mayExist } from "../paths/find-roots.js";

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
  /** The permission bits. */
  readonly mode: number;
}

export const maxConfigBytes = 8 * 1024 * 1024;

/**
 * `undefined` when there is no such file. Throws `file_refused` for one that is there and cannot be used; the sentence
 * leaves out the path, which the caller puts in front. Synchronous: at start-up two failed opens beat two promises.
 */
export function readConfigFile(path: string): ConfigFile | undefined {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return undefined;
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw refused("is not a regular file");
    const bytes = readBounded(descriptor);
    if (bytes === undefined) throw refused(`is larger than ${maxConfigBytes} bytes`);
    return { path, text: decode(bytes), mode: status.mode & 0o777 };
  } finally {
    closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  if (!mayExist(path)) return undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw refused(`cannot be opened (${code})`, error);
  }
}

/** Reads to the end rather than to the size seen before: the file may be growing. */
function readBounded(descriptor: number): Buffer | undefined {
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(descriptor, chunk);
    if (count === 0) return Buffer.concat(chunks);
    total += count;
    if (total > maxConfigBytes) return undefined;
    chunks.push(chunk.subarray(0, count));
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw refused("is not UTF-8 text", error);
  }
}

function refused(message: string, cause?: unknown): GalleyError {
  return new GalleyError("file_refused", message, { cause });
}

export interface RunForOutputOptions {
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock?: Clock;
}

const maxOutputBytes = 64 * 1024;

/** After the command itself has ended, this long for what it left in the pipe: a daemon it started may hold it open. */
const drainMs = 500;

/**
 * The trimmed standard output of a shell command. Throws `timeout` at the limit, when the whole process group is
 * killed, and `start_failed` for any other end but exit code 0. No sentence repeats the command or what it printed.
 */
export async function runForOutput(command: string, options: RunForOutputOptions): Promise<string> {
  const { timeoutMs, env, cwd, clock = systemClock } = options;
  const { spawn } = await import("node:child_process"); // most runs need no command and should not pay for loading it
  const child = spawn(command, { shell: true, detached: true, stdio: ["ignore", "pipe", "ignore"], env, cwd });
  const chunks: Buffer[] = [];
  let total = 0;
  const cancels: (() => void)[] = [];
  try {
    const ending = await new Promise<string | undefined>((resolve, reject) => {
      const stop = (error: GalleyError) => {
        killGroup(child);
        reject(error);
      };
      const seconds = timeoutMs / 1000;
      const late = () => stop(new GalleyError("timeout", `The command did not end within ${seconds} s.`));
      cancels.push(clock.after(timeoutMs, late));
      child.stdout.on("data", (chunk: Buffer) => {
        total += chunk.length;
        if (total <= maxOutputBytes) chunks.push(chunk);
        else stop(new GalleyError("start_failed", `The command printed more than ${maxOutputBytes} bytes.`));
      });
      child.on("error", (cause) =>
        reject(new GalleyError("start_failed", "The command could not be started.", { cause })),
      );
      const finish = (code: number | null, signal: string | null) =>
        resolve(code === 0 ? undefined : code === null ? `signal ${signal}` : `exit code ${code}`);
      child.on("exit", (code, signal) => cancels.push(clock.after(drainMs, () => finish(code, signal))));
      child.on("close", finish);
    });
    if (ending !== undefined) throw new GalleyError("start_failed", `The command ended with ${ending}.`);
    return Buffer.concat(chunks).toString("utf8").trim();
  } finally {
    child.removeAllListeners("exit"); // a killed command's end comes later and would start the drain
    for (const cancel of cancels) cancel();
    child.stdout.destroy();
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // no process groups here, or the group is already gone
  }
}

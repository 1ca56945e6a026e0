// Starts one program, and says in a sentence why it did not start.

import type { ChildProcess, SpawnOptions, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import type { CommandLine } from "./shell.js";

export type Spawn = typeof spawn;

export interface Started {
  readonly process: ChildProcess;
  readonly pid: number;
}

/** Returns or throws at once; only the reason of a failure takes time to find out. */
export function start(spawn: Spawn, { file, args }: CommandLine, options: SpawnOptions): Started | Promise<never> {
  let process: ChildProcess;
  try {
    process = spawn(file, args, options);
  } catch (error) {
    throw startFailure(error, file, options.cwd);
  }
  const failed = new Promise<unknown>((resolve) => process.on("error", resolve));
  if (process.pid !== undefined) return { process, pid: process.pid };
  return failed.then((error) => {
    throw startFailure(error, file, options.cwd);
  });
}

const reasons: Record<string, string> = {
  E2BIG: "the command line and the environment are too long",
  EACCES: "permission denied",
  EAGAIN: "too many processes",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  ENOMEM: "out of memory",
  ERR_INVALID_ARG_VALUE: "an argument holds a NUL character",
};

/** The system has one word, ENOENT, for a missing program and for a missing directory. */
function startFailure(error: unknown, file: string, cwd: SpawnOptions["cwd"]): GalleyError {
  const code = systemCode(error) ?? "";
  if (cwd !== undefined && !isDirectory(cwd))
    return new GalleyError("start_failed", `Working directory does not exist: ${cwd}`, { cause: error });
  if (code === "ENOENT") return new GalleyError("not_found", `Program not found: ${file}`, { cause: error });
  return new GalleyError("start_failed", `Cannot start ${file}: ${reasons[code] ?? messageOf(error)}.`, {
    cause: error,
  });
}

function isDirectory(path: string | URL): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

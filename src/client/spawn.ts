// Starts the agent as a child process. The only place of the client that knows of processes.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export type AgentProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export interface SpawnOptions {
  /** The program and its first arguments; default `["galley"]`, found on the PATH. */
  command?: readonly string[];
  args?: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

export function spawnAgent({ command = ["galley"], args = [], cwd, env }: SpawnOptions): AgentProcess {
  const [program = "galley", ...first] = command;
  return spawn(program, [...first, "--mode", "rpc", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  });
}

// Starts the agent as a child process. The only file of the client that knows processes.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export type AgentProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export interface SpawnOptions {
  /** The program and its first arguments, or a function from all arguments to the whole command line. Default `galley`. */
  command?: readonly string[] | ((args: readonly string[]) => readonly string[]) | undefined;
  /** A script to run with the runtime of the host, instead of `command`. */
  cliPath?: string | undefined;
  cwd?: string | undefined;
  /** The whole environment; without it the agent gets the host's. */
  env?: NodeJS.ProcessEnv | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  sessionDir?: string | undefined;
  /** More options of the command line. */
  args?: readonly string[] | undefined;
}

export function commandLine({ command, cliPath, provider, model, sessionDir, args }: SpawnOptions): readonly string[] {
  const named = { "--mode": "rpc", "--provider": provider, "--model": model, "--session-dir": sessionDir };
  const all = Object.entries(named).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  all.push(...(args ?? []));
  if (typeof command === "function") return command(all);
  return [...(command ?? (cliPath === undefined ? ["galley"] : [process.execPath, cliPath])), ...all];
}

export function spawnAgent(options: SpawnOptions): AgentProcess {
  const [program = "galley", ...args] = commandLine(options);
  return spawn(program, args, { stdio: "pipe", cwd: options.cwd, env: options.env });
}

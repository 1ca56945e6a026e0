// `pi.exec`: one program, no shell, all of its output. How it ended is a result, never an exception.

import { resolve } from "node:path";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { Processes } from "../../processes/processes.js";

export interface ExecOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds; then the program and what it started are stopped. */
  timeout?: number | undefined;
  /** Default: the session's directory. */
  cwd?: string | undefined;
  /** On top of the environment that programs of a session get. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Written to standard input. */
  input?: string | Uint8Array | undefined;
  /** Of each stream; what comes later is read and dropped. Default 32 MiB. */
  maxBytes?: number | undefined;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  /** 128 + n where signal n ended it, 127 where there is no such program, 126 where it could not be started. */
  code: number;
  /** Ended by the signal or the timeout of the call. */
  killed: boolean;
  /** Output was dropped. */
  truncated?: true;
}

export interface ExecDeps {
  readonly processes: Processes;
  readonly cwd: string;
  /** The code where there is no such program; default: that of a shell. */
  readonly missingCode?: number | undefined;
}

const defaultMaxBytes = 32 * 1024 * 1024;

export async function execProgram(
  { processes, cwd, missingCode = 127 }: ExecDeps,
  { command, args }: { command: string; args: readonly string[] },
  options: ExecOptions = {},
): Promise<ExecResult> {
  const { signal, timeout, env, input, maxBytes = defaultMaxBytes } = options;
  const place = resolve(cwd, options.cwd ?? ".");
  const output = { stdout: new Gathered(maxBytes), stderr: new Gathered(maxBytes) };
  try {
    const { exitCode, stopped } = await processes.run({
      // A path is meant relative to where the program runs; a name is looked up.
      command: { file: command.includes("/") ? resolve(place, command) : command, args: args.map(String) },
      cwd: place,
      signal,
      ...(timeout !== undefined && timeout > 0 ? { timeoutMs: timeout } : {}),
      ...(env ? { env } : {}),
      stdin: input,
      onOutput: (chunk, stream) => output[stream].add(chunk),
    });
    const isTruncated = output.stdout.isTruncated || output.stderr.isTruncated;
    return {
      stdout: output.stdout.text,
      stderr: output.stderr.text,
      code: exitCode,
      killed: stopped !== undefined,
      ...(isTruncated ? { truncated: true } : {}),
    };
  } catch (error) {
    return notStarted(command, error, missingCode);
  }
}

function notStarted(command: string, error: unknown, missingCode: number): ExecResult {
  const isMissing = GalleyError.is(error, "not_found");
  return {
    stdout: "",
    stderr: isMissing ? `spawn ${command} ENOENT` : messageOf(error),
    code: isMissing ? missingCode : 126,
    killed: false,
  };
}

class Gathered {
  readonly #chunks: Uint8Array[] = [];
  #room: number;
  isTruncated = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  add(chunk: Uint8Array): undefined {
    const kept = chunk.subarray(0, this.#room);
    this.isTruncated ||= kept.length < chunk.length;
    this.#room -= kept.length;
    if (kept.length > 0) this.#chunks.push(Uint8Array.from(kept)); // the pipe's own buffer may be used again
  }
}

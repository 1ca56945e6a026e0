// The process contract: the only way to start a program. Every child has its own group and session, no standard input
// unless asked, an environment that was put together on purpose, and an end that is always reported. What a command
// leaves running in the background lives as long as galley does, and no longer.

import type { Box, BoxReport } from "./sandbox/box.js";

export interface ProcessRequest {
  /**
   * A shell command with the limits for the model's commands, or a program with its arguments. A program name without
   * a slash is looked up outside the project.
   */
  readonly command: { readonly shell: string } | { readonly file: string; readonly args: readonly string[] };
  /** An existing directory, already checked by the caller. */
  readonly cwd: string;
  /** On top of the allowed part of our own environment. Names were checked by `checkEnvironmentNames`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Confines it. Default: it has the user's rights. */
  readonly box?: Box | undefined;
  /** A program that starts no others: to stop it is to end one process, which takes a millisecond. */
  readonly startsNoOthers?: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Written to standard input, which is then closed; or what we would read ourselves. Default: no input at all. */
  readonly stdin?: string | Uint8Array | { readonly isOurs: true };
  /** For a shell command: both streams in one pipe, reported as stdout. The only way to keep their true order. */
  readonly mergesOutput?: boolean;
  /** It runs. What came before, mostly once in a session, is no part of its time. */
  onStart?(): void;
  /**
   * In the order of arrival. While a promise that it returned is pending, the child's output is not read, which blocks the
   * child. When it throws, the child is stopped and `run` throws the same.
   */
  onOutput?(chunk: Uint8Array, stream: "stdout" | "stderr"): Promise<void> | undefined;
}

/**
 * How a child ended. `run` throws only if the start fails (`not_found` for a missing program, `unsupported` for a
 * platform without process groups, `start_failed` for the rest, also for a box that could not be made) or if `onOutput`
 * throws.
 */
export interface ProcessEnd {
  /** Of the child itself; for one that a signal ended 128 + its number. */
  readonly exitCode: number;
  /** Why we stopped it; absent where it ended by itself. */
  readonly stopped?: "aborted" | "timed_out";
  readonly box?: BoxReport;
}

export interface Processes {
  /** Resolves 500 ms after the child's end at the latest, even if a process that it started still holds its pipes. */
  run(request: ProcessRequest): Promise<ProcessEnd>;
  /** Stops every child with its group and all processes that left the group. No new child can start. */
  shutdown(): Promise<void>;
}

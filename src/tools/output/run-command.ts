// One shell command run to its end, whatever ends it, with its output captured. The bash tool and a user's own commands
// share it.

import { linkAbort } from "../../base/abort.js";
import type { ByteMask } from "../../base/text-mask.js";
import type { Processes, ProcessRequest } from "../../processes/processes.js";
import type { BoxReport } from "../../processes/sandbox/box.js";
import type { StartOptions } from "../confinement.js";
import type { ArtifactSink } from "../tool.js";
import { type CapturedOutput, maxCapturedBytes, OutputCapture, type OutputSettings } from "./capture.js";
import { OutputChunks } from "./output-chunks.js";
import { sizeText } from "./text.js";

export interface CommandDeps {
  readonly processes: Processes;
  readonly artifacts: ArtifactSink;
  readonly output?: OutputSettings | undefined;
  /** Masks the output of one command before anything of it is cut, kept or shown. */
  readonly maskOutput?: (() => ByteMask | undefined) | undefined;
  /** Default 256 MiB. */
  readonly maxOutputBytes?: number | undefined;
}

export interface CommandRequest extends Pick<ProcessRequest, "cwd" | "env" | "box" | "signal"> {
  readonly command: string;
  readonly timeoutSeconds?: number | undefined;
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  /** Called for new output; `snapshot` returns the newest lines. */
  onOutput?(snapshot: () => CapturedOutput): void;
  /** Gets the output as text while it comes. */
  onChunk?(text: string): void;
}

export interface CommandOutcome {
  readonly exitCode: number;
  /** Why we ended it, with the sentence for it; absent where it ended by itself. */
  readonly stopped?: { readonly by: "abort" | "timeout" | "output"; readonly sentence: string };
  readonly output: CapturedOutput;
  readonly report?: BoxReport | undefined;
}

/** Throws only where the command could not be started. */
export async function runCommand(deps: CommandDeps, request: CommandRequest): Promise<CommandOutcome> {
  const { timeoutSeconds, onOutput, onChunk } = request;
  const maxBytes = deps.maxOutputBytes ?? maxCapturedBytes;
  const stop = linkAbort(request.signal);
  const capture = new OutputCapture({
    toolName: "bash",
    artifacts: deps.artifacts,
    settings: deps.output,
    head: request.head,
    tail: request.tail,
    maxBytes,
    onFull: () => stop.abort(),
  });
  const chunks = onChunk && new OutputChunks();
  const say = (text: string | undefined) => text && onChunk?.(text);
  const masking = deps.maskOutput?.();
  const take = (bytes: Uint8Array) => {
    if (capture.isFull) return undefined;
    const written = capture.push(bytes);
    say(chunks?.push(bytes));
    onOutput?.(() => capture.snapshot());
    return written;
  };
  try {
    const end = await deps.processes.run({
      command: { shell: request.command },
      mergesOutput: true, // in one pipe the lines of both streams keep their order
      cwd: request.cwd,
      env: request.env ?? {},
      box: request.box,
      timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
      signal: stop.signal,
      onOutput: (bytes) => take(masking ? masking.push(bytes) : bytes),
    });
    if (masking) await take(masking.end());
    say(chunks?.end());
    const by = capture.isFull ? "output" : end.stopped && stopReasons[end.stopped];
    const sentences = {
      abort: "Command aborted",
      timeout: `Command timed out after ${timeoutSeconds} seconds`,
      output: `Command stopped: it printed more than ${sizeText(maxBytes)}`,
    };
    return {
      exitCode: end.exitCode,
      ...(by ? { stopped: { by, sentence: sentences[by] } } : {}),
      output: await capture.finish(),
      ...(end.box ? { report: end.box } : {}),
    };
  } catch (error) {
    await capture.finish();
    throw error;
  } finally {
    stop.release();
  }
}

/** The same where it is told to run, with what notes on it depend on. */
export async function runPlaced(
  deps: CommandDeps,
  request: CommandRequest,
  { box, env, signal }: StartOptions,
): Promise<CommandOutcome & { printed: string }> {
  const link = linkAbort(request.signal, signal);
  try {
    const placed = { ...request, signal: link.signal, box, env: { ...request.env, ...env } };
    const outcome = await runCommand(deps, placed);
    return { ...outcome, printed: outcome.output.text };
  } finally {
    link.release();
  }
}

const stopReasons = { aborted: "abort", timed_out: "timeout" } as const;

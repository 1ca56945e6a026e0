// One program that the user runs in a session: no shell, no model, and its streams as they come.

import type { DroppedEffects } from "../../files/layer/stage-view.js";
import type { StagedEffects } from "../../protocol/data.js";

export interface ProgramRequest {
  /** A path, or a name that is looked up outside the project. */
  readonly file: string;
  readonly args: readonly string[];
  /** What it does to files is staged, or it does not run. */
  readonly stage: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** It reads what this process would read; else it has no input. */
  readonly readsInput: boolean;
  onOutput(chunk: Uint8Array, stream: "stdout" | "stderr"): Promise<void> | undefined;
}

export interface ProgramOutcome {
  /** For one that a signal ended 128 + its number. */
  readonly exitCode: number;
  readonly stopped?: "aborted" | "timed_out";
  /** What became of it besides its output. */
  readonly notes: {
    readonly lines: readonly string[];
    readonly staged?: StagedEffects;
    readonly dropped?: DroppedEffects | undefined;
  };
}

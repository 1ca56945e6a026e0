// The contract between what runs commands and what confines and stages them. A command says what it wants, and is started
// where it is told to; afterwards there are notes on what became of it. The SDK joins it from the working mode, the
// sandbox and the view.

import type { DroppedEffects } from "../files/layer/stage-view.js";
import type { Box, BoxReport } from "../processes/sandbox/box.js";
import type { StagedEffects } from "../protocol/data.js";

export interface CommandWish {
  /** As it is shown: in labels, in questions. */
  readonly command: string;
  readonly sourceToolName: string;
  /** Of the model's call; absent for a command of the user or the host. */
  readonly toolCallId?: string | undefined;
  /** What it does to files is staged, whatever the mode. */
  readonly stage?: boolean | undefined;
  /** The host's word: with the user's rights, and nothing is staged. */
  readonly isUnsandboxed?: boolean | undefined;
}

export interface StartOptions {
  readonly box?: Box;
  readonly env?: Readonly<Record<string, string>>;
  /** Also stops it. */
  readonly signal?: AbortSignal;
}

export type StartCommand<End> = (options: StartOptions) => Promise<End>;

/** How it ended, as far as the notes depend on it. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly printed: string;
  readonly report?: BoxReport | undefined;
}

export interface CommandNotes {
  /** For the reader of the output, line by line. */
  readonly lines: readonly string[];
  readonly staged?: StagedEffects;
  /** What the command did was too much to be staged, or no longer fits: nothing of it is left. */
  readonly dropped?: DroppedEffects | undefined;
}

export interface RanCommand<End> {
  readonly end: End;
  readonly notes: CommandNotes;
}

/** What runs the commands of a session. */
export interface Confinement {
  /** Commands run one after the other, because each sees what the one before did. */
  readonly isSerial: boolean;
  /** What a command leaves running ends with it. */
  readonly endsBackground: boolean;
  /** Throws `unsupported` with a sentence where it must not run, and what `start` throws. */
  run<End extends CommandEnd>(wish: CommandWish, start: StartCommand<End>): Promise<RanCommand<End>>;
}

/** For commands that nothing of ours confines. */
export const noConfinement: Confinement = {
  isSerial: true,
  endsBackground: false,
  run: async (_wish, start) => ({ end: await start({}), notes: { lines: [] } }),
};

// What every step of an apply works with.

import type { ChangeDisk } from "./change-set.js";
import type { PinnedPaths } from "./pinned-paths.js";

export interface StepContext {
  readonly disk: ChangeDisk;
  readonly pins: PinnedPaths;
  /** How many files are read or written at the same time. */
  readonly width: number;
}

/** For steps that work on one file at a time. */
export type SerialStepContext = Pick<StepContext, "disk" | "pins">;

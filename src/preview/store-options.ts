// What a store of pending actions needs of its session.

import type { Clock } from "../base/clock.js";
import type { RunMark } from "./change-writer.js";

export interface StoreOptions {
  readonly clock: Clock;
  readonly order?: () => "lifo" | "fifo";
  /** For actions that name no time of their own; 0: never. */
  readonly ttlMs?: () => number;
  /** The next id, with a number above the one that is given; undefined: one more. */
  readonly claimId?: (above: number) => string | undefined;
  /** The run under way. */
  readonly run?: () => RunMark | undefined;
  /** Called when an action expires, so that its producer can clean up. Never rejects. */
  readonly expiring?: (work: Promise<void>) => void;
}

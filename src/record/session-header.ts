// The first line of a new session.

import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { type Ids, randomIds } from "../base/ids.js";
import type { SessionHeader } from "../protocol/entries.js";
import { currentVersion } from "./read/migrate-entries.js";

/** What a new session comes from. */
export interface Origin {
  /** Default: a new one. */
  readonly id?: string | undefined;
  readonly parentSession?: string | undefined;
  readonly parentSessionId?: string | undefined;
}

export interface HeaderOptions {
  readonly cwd: string;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

export function newHeader({ cwd, clock = systemClock, ids = randomIds }: HeaderOptions, origin: Origin): SessionHeader {
  const now = clock.now();
  const { id = ids.session(now), parentSession, parentSessionId } = origin;
  return {
    type: "session",
    version: currentVersion,
    id,
    timestamp: new Date(now).toISOString(),
    cwd: resolve(cwd),
    parentSession,
    parentSessionId,
  };
}

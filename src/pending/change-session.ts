// The session as the code that writes changes knows it.

import type { ChangeSession, RunMark } from "../plans/change-writer.js";

/** Its owner and its run are those of the moment when they are asked for. */
export function changeSession(
  now: { owner(): string; run?(): RunMark | undefined },
  recordApplied: ChangeSession["recordApplied"],
): ChangeSession {
  return {
    get owner() {
      return now.owner();
    },
    get run() {
      return now.run?.();
    },
    recordApplied,
  };
}

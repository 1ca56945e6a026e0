// What extensions may say about summaries, in the form in which the session asks.

import type { CompactionExtensions } from "../../session/compaction/compaction-extensions.js";
import type { ExtensionRunner } from "./extension-runner.js";

const hooks = ["session_before_compact", "session.compacting", "session_compact"];

/** Undefined while no extension listens: then nothing has to be prepared for them. */
export function compactionExtensions(
  runner: Pick<ExtensionRunner, "emit" | "hasHandlers">,
  sessionId: () => string,
): CompactionExtensions | undefined {
  if (!hooks.some((name) => runner.hasHandlers(name))) return undefined;
  return {
    beforeCompact: (plan) => runner.emit({ type: "session_before_compact", ...plan }),
    compacting: (messages) => runner.emit({ type: "session.compacting", sessionId: sessionId(), messages }),
    compacted: (compactionEntry) =>
      runner.emit({ type: "session_compact", compactionEntry, fromExtension: compactionEntry.fromExtension === true }),
  };
}

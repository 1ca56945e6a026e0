// What front ends know of a decision: its facts, and the words for a person.

import type { Decided } from "../../pending/outcome.js";
import { endOnRecord } from "../../pending/pending-entries.js";
import type { PendingOutcome } from "../../protocol/pending.js";
import type { AgentSession } from "../../session/agent-session.js";

export { dependsOn, forUser, neededBy } from "../../pending/decide/words.js";
export type { Applied, Decided, Discarded, Outcome } from "../../pending/outcome.js";

/** The change by which one action was applied; undefined: none is kept, or several were decided about. */
export function appliedChangeOf({ isList, outcomes: [outcome] }: Decided): string | undefined {
  return !isList && outcome?.kind === "applied" ? outcome.changeId : undefined;
}

/** How an action ended that this session no longer has, and that another process decided about. */
export function endedElsewhere(
  { pendingActions, sessionManager }: AgentSession,
  id: string,
): PendingOutcome | undefined {
  if (pendingActions.some((action) => action.id === id)) return undefined;
  return endOnRecord(sessionManager.tree.pathTo(), id);
}

// Decides about several pending actions one after the other.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { Failed, Outcome } from "../outcome.js";
import { decideAction } from "./decide-action.js";
import type { DecideContext, Decision } from "./decision.js";
import { refuseBeforehand } from "./refuse-decision.js";

/**
 * Every pending action in order; an apply stops at the first failure, a discard never does. Throws `not_found`,
 * `revision_mismatch` or `depends` before anything is decided.
 */
export async function decideAll(
  context: DecideContext,
  ids: readonly string[],
  decision: Decision,
): Promise<Outcome[]> {
  const together = { ...decision, named: ids };
  refuseBeforehand(context.store, ids, together);
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    const stored = context.store.get(id);
    if (!stored) continue; // it ended and was reported with another one
    const { action } = stored;
    // What was decided before is reported, whatever stops the rest.
    const stopped = (error: unknown): Failed => {
      const code = error instanceof GalleyError ? error.code : undefined;
      return { kind: "failed", id, action, decision, error: messageOf(error), code, attempt: action.attempts };
    };
    const outcome = await decideAction(context, id, together).catch(stopped);
    outcomes.push(outcome);
    if (decision.action === "apply" && !isDone(outcome)) break;
  }
  return outcomes;
}

/** Also where the user refused or took a part: only what went wrong stops the rest. */
function isDone(outcome: Outcome): boolean {
  if (outcome.kind === "applied") return outcome.returned.isError !== true;
  return outcome.kind === "discarded" && outcome.cleanupError === undefined && outcome.returned?.isError !== true;
}

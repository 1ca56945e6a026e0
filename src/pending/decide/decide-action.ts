// Decides about a pending action as the model, the host or the user says. With `both`, the user is asked before an action
// is applied that the model wants to apply; the answer may be a part of it, or that it stays pending.

import { throwIfAborted } from "../../base/abort.js";
import { GalleyError } from "../../base/errors.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { Outcome } from "../outcome.js";
import { decideAgreedPart } from "./decide-agreed-part.js";
import { decideTaken } from "./decide-whole.js";
import type { ApplyAnswer, DecideContext, Decision } from "./decision.js";
import { refusalOf, refused, refuseOtherRevision, refuseUnnamed } from "./refuse-decision.js";
import { missingText } from "./words.js";

/** The id must be there and free: `missingText` says why not. */
export async function decideAction(context: DecideContext, id: string, decision: Decision): Promise<Outcome> {
  const { store } = context;
  const asked = store.get(id);
  if (asked) refuseOtherRevision(asked, decision.revision);
  const refusal = asked && refusalOf(context, asked, decision);
  if (asked && refusal !== undefined) return refused(store, asked, { decision, why: refusal });
  if (asked) refuseUnnamed(store, asked, { decision });
  const stored = store.take(id);
  if (!stored) throw new GalleyError("tool_failed", missingText(store, id));
  const answer = await agreement(context, stored, decision);
  if (decision.action === "apply" && (decision.signal?.aborted || answer === undefined)) {
    store.putBack(id, asked?.action.status);
    throwIfAborted(decision.signal);
    return refused(store, stored, { decision, why: { kind: "cannot_ask" } });
  }
  if (!store.get(id)) throw new GalleyError("tool_failed", missingText(store, id)); // it went with another one meanwhile
  if (answer === "postponed") {
    store.putBack(id, asked?.action.status);
    store.leaveToUser(id);
    return refused(store, stored, { decision, why: { kind: "postponed" } });
  }
  if (typeof answer !== "object") return decideTaken(context, stored, answer === false ? declined(decision) : decision);
  store.putBack(id, asked?.action.status);
  return decideAgreedPart(context, stored, { decision, answer });
}

/** Undefined: the user has to be asked and cannot. */
async function agreement(
  context: DecideContext,
  stored: StoredAction,
  { action, by, signal }: Decision,
): Promise<ApplyAnswer | undefined> {
  const { decider, requireUser } = context.settings();
  if (action === "discard" || by !== "model" || decider !== "both") return true;
  try {
    const answer = await context.confirm?.(stored, signal);
    if (answer === undefined) return requireUser ? undefined : true;
    return answer === true || answer === "postponed" || isPart(answer) ? answer : false;
  } catch {
    return false; // a failed answer is not consent
  }
}

function isPart(answer: unknown): answer is Extract<ApplyAnswer, object> {
  return typeof answer === "object" && answer !== null && "apply" in answer;
}

function declined(decision: Decision): Decision {
  return { ...decision, action: "discard", by: "user", reason: `User declined: ${decision.reason}` };
}

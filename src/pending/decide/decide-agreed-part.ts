// What becomes of an action when the user, asked about all of it, agrees to a part: the part is applied, and the rest stays
// pending for the user or is discarded.

import { GalleyError } from "../../base/errors.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { Outcome } from "../outcome.js";
import { decidePart } from "./decide-part.js";
import { decideWhole, discardTaken } from "./decide-whole.js";
import type { AgreedPart, DecideContext, Decision } from "./decision.js";
import { missingText } from "./words.js";

export async function decideAgreedPart(
  context: DecideContext,
  { action: { id, revision } }: StoredAction,
  { decision, answer }: { decision: Decision; answer: AgreedPart },
): Promise<Outcome> {
  const { store } = context;
  const { apply, rest, reason } = answer;
  const byUser: Decision = { ...decision, by: "user", revision };
  const refusal: Decision = { ...byUser, action: "discard", reason: `User declined: ${reason || decision.reason}` };
  if (isNothing(apply)) return decideWhole(context, id, refusal);
  const { outcome } = await decidePart(context, id, { decision: byUser, subset: apply });
  if (outcome.kind !== "applied" || !outcome.part) return outcome;
  if (rest === "keep") {
    store.leaveToUser(id);
    return { ...outcome, part: { ...outcome.part, rest: "kept" } };
  }
  const left = store.take(id);
  if (!left) throw new GalleyError("tool_failed", missingText(store, id));
  return { ...outcome, part: { ...outcome.part, rest: await discardTaken(context, left, refusal) } };
}

function isNothing({ files = [], hunks = {} }: AgreedPart["apply"]): boolean {
  return files.length === 0 && Object.keys(hunks).length === 0;
}

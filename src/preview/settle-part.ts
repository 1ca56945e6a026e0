// A part of a plan, decided by itself: chosen files or hunks are applied as a change set of their own, or dropped; what is
// left stays pending under the same id, made for the files as they are then.

import { GalleyError } from "../base/errors.js";
import type { ToolResult } from "../protocol/events.js";
import { type SplitPlan, type Subset, splitPlan } from "./plan-diff.js";
import {
  applyFailed,
  type Decision,
  metadata,
  missingText,
  type Settled,
  type SettleParts,
  settleAction,
} from "./settle.js";

export async function settlePart(
  parts: SettleParts,
  id: string,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<{ result: ToolResult; isWhole: boolean }> {
  const { store } = parts;
  const asked = store.get(id);
  if (!asked) throw new GalleyError("not_found", missingText(store, id));
  if (asked.work.kind !== "plan") throw new GalleyError("invalid_argument", `Pending action ${id} cannot be split.`);
  const split = await splitPlan(asked.work.plan, subset);
  const rest = decision.action === "apply" ? split.restIfApplied : split.restIfDiscarded;
  if (!rest) return { result: (await settleAction(parts, id, decision)).result, isWhole: true };
  const stored = store.take(id);
  if (!stored) throw new GalleyError("not_found", missingText(store, id));
  const total = asked.work.plan.changes.length;
  try {
    if (decision.action === "apply") {
      const { label, sourceToolName } = stored.action;
      const { by, reason } = decision;
      // No owner's id: the action goes on, so nothing is settled on record.
      await parts.applyPlan(split.chosen, { pendingId: "", label, sourceToolName, by, reason });
    }
    store.changePlan(id, rest);
    const text = partText(decision, split, total);
    const details = { ...metadata(store, stored, decision), partial: true, settled: split.settled };
    return { result: { content: [{ type: "text", text }], details }, isWhole: false };
  } catch (error) {
    const failed: Settled = await applyFailed(parts, stored, decision, error);
    return { result: failed.result, isWhole: false };
  }
}

function partText({ action }: Decision, { settled, chosenHunks, totalHunks }: SplitPlan, total: number): string {
  const word = action === "apply" ? "Applied" : "Discarded";
  const paths = settled.map(({ path }) => path).join(", ");
  return `${word} ${chosenHunks} of ${totalHunks} hunks in ${settled.length} of ${total} files (${paths}).`;
}

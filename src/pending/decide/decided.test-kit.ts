// Decisions as the model reads them, for tests of what is decided and of what is said about it.

import type { Subset } from "../../plans/split-plan.js";
import type { ToolResult } from "../../protocol/events.js";
import type { Outcome } from "../outcome.js";
import { decideAction } from "./decide-action.js";
import { decideAll } from "./decide-all.js";
import { decidePart } from "./decide-part.js";
import type { DecideContext, Decision } from "./decision.js";
import { errorOf, forModel } from "./words.js";

interface Told {
  readonly kind: Outcome["kind"];
  readonly outcome: Outcome;
  readonly result: ToolResult;
}

function told({ store }: DecideContext, decision: Decision, outcome: Outcome): Told {
  const remaining = store.list().map(({ action: { id, label } }) => ({ id, label }));
  const decided = { decision, isList: false, outcomes: [outcome], remaining };
  const result = forModel(decided);
  if ((errorOf(decided) !== undefined) !== (result.isError === true))
    throw new Error("Host and model are told otherwise.");
  return { kind: outcome.kind, outcome, result };
}

export async function decideOne(context: DecideContext, id: string, decision: Decision): Promise<Told> {
  return told(context, decision, await decideAction(context, id, decision));
}

export async function decideSome(
  context: DecideContext,
  id: string,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<Told> {
  return told(context, decision, (await decidePart(context, id, { decision, subset })).outcome);
}

export async function decideList(
  context: DecideContext,
  ids: readonly string[],
  decision: Decision,
): Promise<ToolResult> {
  const outcomes = await decideAll(context, ids, decision);
  const remaining = context.store.list().map(({ action: { id, label } }) => ({ id, label }));
  return forModel({ decision, isList: true, outcomes, remaining });
}

// What a person made of the text that the model proposed. The model is told with the outcome, because it would go on
// from what it proposed itself.

import { diffOf } from "../../plans/diff/plan-diff.js";
import type { PlannedChange } from "../../plans/plan.js";
import type { EditedFile } from "../../plans/plan-step.js";
import type { StoredAction } from "../../plans/stored-action.js";
import { planOf } from "../store/stack.js";

/** Of all diffs together. */
const maxLength = 4096;

/** Undefined where nothing was edited. `paths`: the shown paths that the decision is about; default: all. */
export async function editedText(stored: StoredAction, paths?: ReadonlySet<string>): Promise<string | undefined> {
  if (!stored.edited) return undefined;
  let text = "";
  const deciders = new Set<string>();
  for (const change of planOf(stored)?.changes ?? []) {
    const edit = stored.edited.get(change.stamp.path);
    if (!edit || (paths && !paths.has(change.stamp.path))) continue;
    deciders.add(edit.by);
    if (text.length < maxLength) text += (await diffOf(editOf(change, edit.proposed))).diff(maxLength - text.length);
  }
  return text === "" ? undefined : `Edited by the ${[...deciders].join(" and the ")} before that:\n${text.trimEnd()}`;
}

function editOf({ path, stamp, after }: PlannedChange, proposed: Uint8Array): PlannedChange {
  return { kind: "modify", path, stamp: { ...stamp, exists: true }, before: proposed, after };
}

/** What was told about a file need not be told again. */
export function editedWithout(
  { edited }: { readonly edited?: StoredAction["edited"] | undefined },
  settled: readonly { readonly path: string }[],
): { edited?: ReadonlyMap<string, EditedFile> } {
  if (!edited) return {};
  const isTold = new Set(settled.map(({ path }) => path));
  return { edited: new Map([...edited].filter(([path]) => !isTold.has(path))) };
}

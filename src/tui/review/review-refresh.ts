// What has come, changed or gone meanwhile, taken into the state of the review view.

import type { ReviewAction, ReviewChange } from "../../sdk/review/review-source.js";
import type { Mode, ReviewState } from "./review-model.js";
import { selectedAction } from "./review-scope.js";

const normal: Mode = { kind: "normal" };

/** What has come, changed or gone, in place: the selection never moves to another action by itself. */
export function refreshed(
  state: ReviewState,
  fresh: { readonly actions: readonly ReviewAction[]; readonly changes: readonly ReviewChange[] },
): ReviewState {
  const before = selectedAction(state);
  const now = fresh.actions.find(({ key }) => key === state.actionKey);
  const isQuestion = state.question !== undefined && state.question.key === state.actionKey;
  let next: ReviewState = { ...state, ...fresh };
  if (before && !now) {
    const actions = [...fresh.actions];
    actions.splice(state.actions.indexOf(before), 0, before);
    const text = state.gone?.text ?? `${before.key} is no longer pending.`;
    next = { ...next, actions, gone: { key: before.key, text }, marks: new Set(), listFile: undefined };
  } else if (now) {
    const isOther = before?.revision !== now.revision;
    next = { ...next, gone: undefined, ...(isOther ? { marks: new Set<number>() } : {}) };
    // What was about to be decided has changed.
    if (isOther && before && !isQuestion && next.mode.kind !== "find" && next.mode.kind !== "help")
      next = { ...next, mode: normal };
  }
  if (next.gone && next.mode.kind !== "find" && next.mode.kind !== "help") next = { ...next, mode: normal };
  return next;
}

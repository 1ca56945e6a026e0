// Pending actions as hosts and people see them: without callbacks and bytes, with what each file would become.

import type { PendingActionStore, StoredAction } from "../preview/pending-action-store.js";
import { diffOf } from "../preview/plan-diff.js";
import type { PendingActionView } from "../protocol/pending.js";

export interface PendingViewOptions {
  /** Default: all. */
  readonly ids?: readonly string[] | undefined;
  readonly diff?: boolean | undefined;
}

/** Of one action's diffs together. */
const maxDiffLength = 1024 * 1024;

export async function viewPending(store: PendingActionStore, { ids, diff = false }: PendingViewOptions) {
  const wanted = store.list().filter(({ action }) => ids === undefined || ids.includes(action.id));
  return Promise.all(wanted.map((stored) => viewOne(stored, diff)));
}

async function viewOne({ action, work }: StoredAction, withDiff: boolean): Promise<PendingActionView> {
  if (work.kind !== "plan") return action;
  let room = maxDiffLength;
  let isCut = false;
  const files = [];
  for (const change of work.plan.changes) {
    const { added, removed, hunks, diff } = await diffOf(change);
    const text = withDiff && room > 0 ? diff(room) : "";
    room -= text.length;
    isCut ||= withDiff && (room <= 0 || /\n… diff cut at \d+ characters\n$/.test(text));
    files.push({
      ...change.stamp,
      kind: change.kind,
      ...(change.to === undefined ? {} : { to: change.to }),
      added,
      removed,
      hunks,
      ...(text === "" ? {} : { diff: text }),
    });
  }
  return { ...action, files, ...(isCut ? { diffTruncated: true } : {}) };
}

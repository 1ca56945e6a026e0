// What is staged in a session, path by path, as the view has to show it: the newest state of each.

import type { FileState, StagedState } from "../../files/layer/stage-view.js";
import type { PendingActionStore } from "../../pending/store/pending-action-store.js";
import { inStagedOrder, planOf } from "../../pending/store/stack.js";
import { type PlannedChange, typeAfter } from "../../plans/plan.js";

/** The bits of a file or directory that no plan names. */
const usualFileMode = 0o644;
const usualDirectoryMode = 0o755;

export function stagedStates(store: PendingActionStore): StagedState[] {
  const states = new Map<string, StagedState>();
  for (const stored of inStagedOrder(store))
    for (const change of planOf(stored)?.changes ?? []) {
      const below = states.get(change.path)?.state;
      states.set(change.path, { path: change.path, state: stateAfter(change, below, stored.action.createdAt) });
    }
  return [...states.values()];
}

function stateAfter(change: PlannedChange, below: FileState | undefined, stagedAt: number): FileState | undefined {
  const type = typeAfter(change);
  const { stamp, after, mtimeMs = stagedAt } = change;
  const earlier = below && below.type !== "symlink" ? below.mode : stamp.exists ? stamp.mode & 0o7777 : undefined;
  const mode = change.mode ?? earlier;
  if (type === undefined) return undefined;
  if (type === "symlink") return { type, target: after };
  if (type === "directory") return { type, mode: mode ?? usualDirectoryMode };
  return { type, bytes: after, mode: mode ?? usualFileMode, mtimeMs };
}

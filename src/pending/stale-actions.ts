// Which pending actions were made for files that have changed since. Checked after a file was written. An action that
// is staged on top of others depends on the file that the lowest of them was made for.

import type { PendingActionStore, StoredAction } from "../preview/pending-action-store.js";
import type { SeenFile } from "../preview/plan.js";
import { dependenciesOf, planOf } from "../preview/stack.js";

/** Displayed paths of the files that are not as they were seen. */
export type FindStale = (seen: readonly SeenFile[]) => Promise<string[]>;

/** `paths`: the files that may have changed; default: any. */
export async function markStaleActions(
  store: PendingActionStore,
  findStale: FindStale,
  paths?: ReadonlySet<string>,
): Promise<void> {
  for (const { action, work } of store.list()) {
    const ground = () => {
      const stored = store.get(action.id);
      const isWaiting = stored?.action.status === "pending" && stored.work === work;
      return isWaiting ? groundOf(store, stored).filter(({ path }) => !paths || paths.has(path)) : [];
    };
    const looked = ground();
    const changed = looked.length === 0 ? [] : await findStale(looked);
    if (changed.length === 0) continue;
    // Meanwhile one of them may have been settled: then the file is as it should be, or is checked again.
    const still = ground();
    const stale = looked.filter((seen) => changed.includes(seen.stamp.path) && still.includes(seen));
    const files = (action.files ?? []).filter(({ path }) => stale.some(({ stamp }) => stamp.path === path));
    if (files.length > 0) store.markStale(action.id, files);
  }
}

function groundOf(store: PendingActionStore, stored: StoredAction): readonly SeenFile[] {
  if (stored.work.kind === "closure") return stored.work.files ?? [];
  const { changes } = stored.work.plan;
  if (!stored.action.dependsOn?.length) return changes;
  return changes.flatMap((change) => {
    const below = dependenciesOf(store, stored, [change.path]);
    if (below.some(({ action }) => action.status === "applying")) return []; // not known until it has ended
    const lowest = below.flatMap((lower) => planOf(lower)?.changes ?? []).find(({ path }) => path === change.path);
    return [lowest ?? change];
  });
}

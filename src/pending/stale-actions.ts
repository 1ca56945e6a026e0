// Which pending actions were made for files that have changed since. Checked after a file was written, or when a host
// asks. An action that is staged on top of others depends on the file that the lowest of them was made for, and on what
// each of them leaves.

import { sep } from "node:path";
import { isMadeFor, type PlannedChange, type SeenFile, typeBefore } from "../plans/plan.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { PendingActionStore } from "./store/pending-action-store.js";
import { actionsBelow, changeAt, planOf } from "./store/stack.js";

/** Displayed paths of the files that are not as they were seen. */
export type FindStale = (seen: readonly SeenFile[]) => Promise<string[]>;

export interface StaleCheck {
  /** The files that may have changed; default: any. */
  readonly paths?: ReadonlySet<string> | undefined;
  /** Also look at what is stale already: more of its files may be. */
  readonly isWhole?: boolean;
}

export async function markStaleActions(
  store: PendingActionStore,
  findStale: FindStale,
  { paths, isWhole = false }: StaleCheck = {},
): Promise<void> {
  for (const { action, work } of store.list()) {
    const ground = () => {
      const stored = store.get(action.id);
      if (!stored || stored.work !== work) return [];
      const { status } = stored.action;
      const isWaiting = status === "pending" || (isWhole && status === "stale");
      return isWaiting ? groundOf(store, stored, paths) : [];
    };
    const looked = ground();
    if (looked.length === 0) continue;
    const changed = new Set(await findStale(looked.flatMap(({ seen }) => seen ?? [])));
    // Meanwhile one of them may have been settled: then the file is as it should be, or is checked again.
    const still = new Set(ground().map(({ seen }) => seen));
    const stale = new Set(
      looked
        .filter(({ seen }) => !seen || (changed.has(seen.stamp.path) && still.has(seen)))
        .map(({ shownPath }) => shownPath),
    );
    const files = (action.files ?? []).filter(({ path }) => stale.has(path));
    if (files.length > 0) store.markStale(action.id, files);
  }
}

/** What one file of an action was made for; no `seen` where what lies below it leaves something else. */
interface Ground {
  readonly shownPath: string;
  readonly seen?: SeenFile;
}

function groundOf(store: PendingActionStore, stored: StoredAction, paths: ReadonlySet<string> | undefined): Ground[] {
  const { work } = stored;
  const all: readonly SeenFile[] = (work.kind === "plan" ? work.plan.changes : work.files) ?? [];
  const seen = paths ? all.filter(({ path }) => paths.has(path)) : all;
  if (work.kind === "closure" || !stored.action.dependsOn?.length)
    return seen.map((file) => ({ shownPath: file.stamp.path, seen: file }));
  return (seen as readonly PlannedChange[]).flatMap((change) => groundOfStaged(store, stored, change));
}

function groundOfStaged(store: PendingActionStore, stored: StoredAction, change: PlannedChange): Ground[] {
  const below = actionsBelow(store, stored, [change.path]).map((lower) => lower.stored);
  if (below.some(({ action }) => action.status === "applying")) return []; // not known until it has ended
  if (isMadeByLower(store, stored, change)) return [];
  const chain = [...below.flatMap((lower) => changeAt(lower, change.path) ?? []), change];
  const isBroken = chain.some((upper, index) => index > 0 && !isMadeFor(upper, chain[index - 1] as PlannedChange));
  const shownPath = change.stamp.path;
  return isBroken ? [{ shownPath }] : [{ shownPath, seen: chain[0] as PlannedChange }];
}

/** A directory that a lower plan does not name, but makes for a file in it: the disk need not have it yet. */
function isMadeByLower(store: PendingActionStore, stored: StoredAction, change: PlannedChange): boolean {
  if (typeBefore(change) !== "directory") return false;
  return actionsBelow(store, stored).some(({ stored: lower }) =>
    planOf(lower)?.changes.some(({ kind, path }) => kind !== "delete" && path.startsWith(`${change.path}${sep}`)),
  );
}

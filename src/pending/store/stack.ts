// Which pending plans depend on each other: a plan that was made for the result of another plan depends on it, for that
// file only. Once the lower one has settled the file, the two are independent.

import { restsOnIn } from "../../plans/needed-changes.js";
import { changesByPath, type Plan, type PlannedChange } from "../../plans/plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { PendingActionStore } from "./pending-action-store.js";

/** The oldest first. Ids count up, so they tell which came first. */
export function inStagedOrder(store: PendingActionStore): StoredAction[] {
  return store.list().sort((a, b) => numberOf(a) - numberOf(b));
}

export function planOf({ work }: StoredAction): Plan | undefined {
  return work.kind === "plan" ? work.plan : undefined;
}

/** What an action was made on top of: a lower action, and the files (absolute paths) for which it counts. */
export interface ActionBelow {
  readonly stored: StoredAction;
  readonly paths: ReadonlySet<string>;
}

/** What has to be applied with it, or with its changes of some files: only those files of it. The oldest first. */
export function actionsBelow(
  store: PendingActionStore,
  stored: StoredAction,
  paths: Iterable<string> = pathsOf(stored),
): ActionBelow[] {
  const found = new Map<StoredAction, Set<string>>();
  const visit = (upper: StoredAction, through: readonly string[]) => {
    for (const id of upper.action.dependsOn ?? []) {
      const lower = store.get(id);
      if (!lower) continue;
      const known = found.get(lower) ?? new Set();
      const fresh = [...new Set(through.flatMap((path) => restsOn(upper, path, lower)))].filter(
        (path) => !known.has(path),
      );
      if (fresh.length === 0) continue;
      found.set(lower, new Set([...known, ...fresh]));
      visit(lower, fresh);
    }
  };
  visit(stored, [...paths]);
  return [...found]
    .map(([lower, concerned]) => ({ stored: lower, paths: concerned }))
    .sort((a, b) => numberOf(a.stored) - numberOf(b.stored));
}

export function shownPaths(stored: StoredAction, paths: Iterable<string>): string[] {
  return [...paths].flatMap((path) => changeAt(stored, path)?.stamp.path ?? []);
}

/** What a plan does to a file. */
export function changeAt(stored: StoredAction, path: string): PlannedChange | undefined {
  const plan = planOf(stored);
  return plan && changesByPath(plan).get(path);
}

/** What was staged on top of it, or of its changes of some files; the newest first. */
export function dependentsOf(
  store: PendingActionStore,
  stored: StoredAction,
  paths: Iterable<string> = pathsOf(stored),
): StoredAction[] {
  const lower = new Map([[stored.action.id, new Set(paths)]]);
  const found: StoredAction[] = [];
  for (const upper of inStagedOrder(store)) {
    const isOver = (id: string) => isMadeOn(upper, store.get(id) ?? stored, lower.get(id) ?? nowhere);
    if (!upper.action.dependsOn?.some(isOver)) continue;
    lower.set(upper.action.id, pathsOf(upper));
    found.unshift(upper);
  }
  return found;
}

const nowhere: ReadonlySet<string> = new Set();

export interface StagedChange {
  readonly id: string;
  readonly change: PlannedChange;
}

/** What is staged for a file, newest last: the newest, and what it rests on there. */
export function stagedFor(store: PendingActionStore, path: string): StagedChange[] {
  let newest: StoredAction | undefined;
  // Asked for every file of a walk: one look at each action, and no order but for the few that count.
  for (const stored of store.list())
    if (changeAt(stored, path) && (!newest || numberOf(stored) > numberOf(newest))) newest = stored;
  if (!newest) return [];
  const chain = [...actionsBelow(store, newest, [path]).map(({ stored }) => stored), newest];
  return chain.flatMap((stored) => {
    const change = changeAt(stored, path);
    return change ? [{ id: stored.action.id, change }] : [];
  });
}

export function pathsOf(stored: StoredAction): Set<string> {
  return new Set(planOf(stored)?.changes.map(({ path }) => path));
}

/** Paths of the lower action that the upper one rests on with its change of a path. */
function restsOn(upper: StoredAction, path: string, lower: StoredAction): string[] {
  const plan = planOf(lower);
  return plan ? restsOnIn(changeAt(upper, path), path, plan) : [];
}

/** With some of its changes, on these paths of the lower action. */
function isMadeOn(upper: StoredAction, lower: StoredAction, paths: ReadonlySet<string>): boolean {
  if (paths.size === 0) return false;
  for (const path of paths) if (changeAt(upper, path)) return true;
  for (const path of pathsOf(upper)) if (restsOn(upper, path, lower).some((other) => paths.has(other))) return true;
  return false;
}

/** The actions that changes would rest on, besides those for the same files: because of the directories they are in. */
export function actionsNeeded(store: PendingActionStore, changes: readonly PlannedChange[]): string[] {
  const isNeeded = (stored: StoredAction) => {
    const plan = planOf(stored);
    if (!plan) return false;
    // Two plans for one file may both be made for the disk: then neither rests on the other.
    return changes.some((change) => restsOnIn(change, change.path, plan).some((path) => path !== change.path));
  };
  return inStagedOrder(store)
    .filter(isNeeded)
    .map(({ action }) => action.id);
}

function numberOf({ action }: StoredAction): number {
  return Number.parseInt(action.id.slice("pa_".length), 10) || 0;
}

// Which pending plans depend on each other: a plan that was made for the result of another plan depends on it, for that
// file only. Once the lower one has settled the file, the two are independent.

import type { PendingActionStore, StoredAction } from "./pending-action-store.js";
import type { Plan, PlannedChange } from "./plan.js";

/** The oldest first. Ids count up, so they tell which came first. */
export function inStagedOrder(store: PendingActionStore): StoredAction[] {
  return store.list().sort((a, b) => numberOf(a) - numberOf(b));
}

export function planOf({ work }: StoredAction): Plan | undefined {
  return work.kind === "plan" ? work.plan : undefined;
}

/** What has to be applied before it, or before its changes of some files; the oldest first. */
export function dependenciesOf(
  store: PendingActionStore,
  stored: StoredAction,
  paths: Iterable<string> = pathsOf(stored),
): StoredAction[] {
  const found = new Set<StoredAction>();
  const visit = (upper: StoredAction, through: ReadonlySet<string>) => {
    for (const id of upper.action.dependsOn ?? []) {
      const lower = store.get(id);
      if (!lower || found.has(lower) || !touches(lower, through)) continue;
      found.add(lower);
      visit(lower, pathsOf(lower)); // it is applied whole
    }
  };
  visit(stored, new Set(paths));
  return [...found].sort((a, b) => numberOf(a) - numberOf(b));
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
    const isOver = (id: string) => touches(upper, lower.get(id) ?? nowhere);
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
  const only = new Set([path]);
  let newest: StoredAction | undefined;
  // Asked for every file of a walk: one look at each action, and no order but for the few that count.
  for (const stored of store.list())
    if (touches(stored, only) && (!newest || numberOf(stored) > numberOf(newest))) newest = stored;
  if (!newest) return [];
  return [...dependenciesOf(store, newest, [path]), newest].flatMap((stored) => {
    const change = planOf(stored)?.changes.find((each) => each.path === path);
    return change ? [{ id: stored.action.id, change }] : [];
  });
}

export function pathsOf(stored: StoredAction): Set<string> {
  return new Set(planOf(stored)?.changes.map(({ path }) => path));
}

function touches(stored: StoredAction, paths: ReadonlySet<string>): boolean {
  return planOf(stored)?.changes.some(({ path }) => paths.has(path)) ?? false;
}

function numberOf({ action }: StoredAction): number {
  return Number.parseInt(action.id.slice("pa_".length), 10) || 0;
}

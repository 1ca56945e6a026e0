// A pending action as a person finds it in a project: the name that is accepted for it, its files as the project names
// them, the prompt that caused it, and what it rests on.

import { relative, sep } from "node:path";
import { isWithin, printable } from "../../files/paths/resolve-path.js";
import { planOf } from "../../pending/store/stack.js";
import { isGrouped } from "../../plans/diff/git-group.js";
import { diffOf } from "../../plans/diff/plan-diff.js";
import { changesByPath } from "../../plans/plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { PendingActionView } from "../../protocol/pending.js";
import type { SessionInfo } from "../../record/store/session-index.js";

export interface ListedFile {
  /** Absolute. */
  readonly path: string;
  /** From the root of the project on. */
  readonly shown: string;
  /** As the session named it that staged it. */
  readonly staged: string;
}

export interface ListedAction {
  readonly session: SessionInfo;
  readonly id: string;
  /** What is accepted for it: its id, or `<session>:<id>` where another session has the same. */
  readonly name: string;
  /** Its files are named from the root of the project on. */
  readonly action: PendingActionView;
  readonly files: readonly ListedFile[];
  /** The prompt that caused it; empty where there was none. */
  readonly prompt: string;
  /** What would be written with it: which action, and for which files. */
  readonly restsOn: readonly { readonly id: string; readonly files: readonly string[] }[];
  readonly stored: StoredAction;
}

/** How a file is named in a project: from its root on; absolute where it is outside. */
export function shownInProject(path: string, root: string): string {
  if (!isWithin(path, root)) return printable(path);
  return printable(relative(root, path).replaceAll(sep, "/")) || ".";
}

export function filesOf(stored: StoredAction, root: string): ListedFile[] {
  const changes = planOf(stored)?.changes ?? [];
  return changes.map(({ path, stamp }) => ({ path, shown: shownInProject(path, root), staged: stamp.path }));
}

/** Of one file: longer ones are cut, and say so. */
const maxDiffLength = 16 * 1024 * 1024;

/** The unified diffs of some of its files. */
export async function diffsOf(
  { stored }: ListedAction,
  files: readonly ListedFile[],
): Promise<{ path: string; diff: string }[]> {
  const found: { path: string; diff: string }[] = [];
  for (const { path, shown } of files) {
    const plan = planOf(stored);
    const change = plan && changesByPath(plan).get(path);
    if (!change || isGrouped(plan, change)) continue;
    const { diff } = await diffOf({ ...change, stamp: { ...change.stamp, path: shown } });
    found.push({ path: shown, diff: diff(maxDiffLength) });
  }
  return found;
}

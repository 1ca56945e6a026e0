// Pending actions as hosts and people see them: without callbacks and bytes, with what each file would become.

import { gitSummary, isGrouped } from "../plans/diff/git-group.js";
import { diffOf, figuresOf } from "../plans/diff/plan-diff.js";
import { type PlannedChange, typeAfter, typeBefore } from "../plans/plan.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { PendingActionView } from "../protocol/pending.js";
import type { PendingActionStore } from "./store/pending-action-store.js";
import { actionsBelow, shownPaths } from "./store/stack.js";

export interface PendingViewOptions {
  /** Default: all. */
  readonly ids?: readonly string[] | undefined;
  readonly diff?: boolean | undefined;
  /** What a file is called, by its absolute path. Default: as the session named it. */
  readonly nameFile?: ((path: string) => string) | undefined;
}

/** Of one action's diffs together. */
const maxDiffLength = 1024 * 1024;

export async function viewPending(store: PendingActionStore, { ids, ...options }: PendingViewOptions) {
  const wanted = store.list().filter(({ action }) => ids === undefined || ids.includes(action.id));
  return Promise.all(wanted.map((stored) => viewOne(store, stored, options)));
}

async function viewOne(
  store: PendingActionStore,
  stored: StoredAction,
  { diff: withDiff = false, nameFile }: Omit<PendingViewOptions, "ids">,
): Promise<PendingActionView> {
  const { action, work, stalePaths, edited } = stored;
  if (work.kind !== "plan") return action;
  const restsOn = actionsBelow(store, stored).map((below) => ({
    id: below.stored.action.id,
    files: nameFile ? [...below.paths].map(nameFile) : shownPaths(below.stored, below.paths),
  }));
  let room = maxDiffLength;
  let isCut = false;
  const files: NonNullable<PendingActionView["files"]> = [];
  const git = gitSummary(work.plan);
  for (const change of work.plan.changes) {
    const { path } = change.stamp;
    const named = nameFile ? { ...change, stamp: { ...change.stamp, path: nameFile(change.path) } } : change;
    if (isGrouped(work.plan, change)) {
      const stale = stalePaths?.has(path) ? { stale: true as const } : {};
      files.push({ ...named.stamp, kind: change.kind, ...typesOf(change), isGitData: true as const, ...stale });
      continue;
    }
    let text = "";
    if (withDiff && room > 0) text = (await diffOf(named)).diff(room);
    const { added, removed, hunks } = await figuresOf(change);
    const editedBy = edited?.get(path)?.by;
    room -= text.length;
    isCut ||= withDiff && (room <= 0 || /\n… diff cut at \d+ characters\n$/.test(text));
    files.push({
      ...named.stamp,
      kind: change.kind,
      ...(change.to === undefined ? {} : { to: change.to }),
      ...typesOf(change),
      added,
      removed,
      hunks,
      ...(text === "" ? {} : { diff: text }),
      ...(stalePaths?.has(path) ? { stale: true as const } : {}),
      editedBy,
    });
  }
  return {
    ...action,
    files,
    ...(isCut ? { diffTruncated: true } : {}),
    ...(restsOn.length === 0 ? {} : { restsOn }),
    git,
  };
}

/** What a change says besides its lines. */
function typesOf(change: PlannedChange) {
  const { stamp, mode, renamedFrom } = change;
  const [was, is] = [typeBefore(change), typeAfter(change)];
  const isOtherMode = mode !== undefined && is !== undefined && is !== "symlink" && mode !== stamp.mode;
  return {
    ...(is !== undefined && is !== (was ?? "file") ? { newType: is } : {}),
    ...(isOtherMode && (stamp.exists || is === "directory") ? { newMode: mode } : {}),
    ...(is === "symlink" ? { target: Buffer.from(change.after).toString() } : {}),
    ...(change.protected ? { protected: true as const } : {}),
    renamedFrom,
  };
}

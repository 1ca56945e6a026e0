// The complete diff of a pending action or of an applied change, page by page. A cursor only fits the diff it was made
// for: pages of one series never mix two states of it.

import { GalleyError } from "../base/errors.js";
import { type DiffPosition, diffPage, type ShownFile } from "../plans/diff/diff-page.js";
import { contextLines } from "../plans/diff/file-diff.js";
import { gitSummary, isGrouped } from "../plans/diff/git-group.js";
import type { DiffPage } from "../protocol/diff.js";
import type { ChangeHistory } from "./change-history.js";
import { missingText } from "./decide/words.js";
import type { PendingActions } from "./pending-actions.js";

/** One of the two ids. */
export interface DiffRequest {
  readonly pendingId?: string | undefined;
  readonly changeId?: string | undefined;
  /** As people see them; default: every file. */
  readonly paths?: readonly string[] | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Lines around each hunk; default 3. The numbers of the hunks are those of 3. */
  readonly context?: number | undefined;
}

interface Shown {
  readonly files: readonly ShownFile[];
  /** For the sentence about a path that is not part of it. */
  readonly what: "pending action" | "change";
  readonly revision?: number;
  /** What was done to git's own data, which is not among the files. */
  readonly git?: string | undefined;
}

/** Throws `not_found` for what cannot be shown, `stale_cursor` when the action has changed since the page before. */
export async function getDiff(
  { pending, changes }: { pending: PendingActions; changes: ChangeHistory },
  request: DiffRequest,
): Promise<DiffPage> {
  const { pendingId, changeId, paths, cursor, context = contextLines } = request;
  if ((pendingId === undefined) === (changeId === undefined))
    throw new GalleyError("invalid_argument", "Use one of pendingId and changeId.");
  const shown =
    pendingId !== undefined
      ? plannedFiles(pending, pendingId)
      : await changedFiles(changes, changeId ?? "", { isNextPage: cursor !== undefined });
  const state = `${shown.revision ?? 0} ${context}`;
  const from = cursor === undefined ? undefined : positionIn(cursor, state);
  const only = paths && chosen(paths, shown);
  if (changeId !== undefined && isAllGone(shown.files, only)) throw changeGone(changeId);
  const { files, next } = await diffPage(shown.files, {
    context,
    ...(only ? { only } : {}),
    ...(from ? { from } : {}),
  });
  if (changeId !== undefined && !next) changes.endShowing();
  return {
    revision: shown.revision,
    files,
    ...(shown.git === undefined || cursor !== undefined || paths ? {} : { git: shown.git }),
    ...(next ? { nextCursor: cursorAt(next, state) } : {}),
  };
}

function plannedFiles({ store }: PendingActions, id: string): Shown {
  const stored = store.get(id);
  if (!stored) throw new GalleyError("not_found", missingText(store, id));
  const { action, work } = stored;
  if (work.kind !== "plan")
    throw new GalleyError("unsupported", `Pending action ${id} has no diff: its tool writes the files itself.`);
  const { plan } = work;
  const files = plan.changes
    .filter((change) => !isGrouped(plan, change))
    .map((change) => ({ path: change.stamp.path, kind: change.kind, to: change.to, change }));
  return { files, what: "pending action", revision: action.revision, git: gitSummary(plan) };
}

async function changedFiles(changes: ChangeHistory, id: string, options: { isNextPage: boolean }): Promise<Shown> {
  const shown = await changes.show(id, options);
  if (!shown) throw changeGone(id);
  return { ...shown, what: "change" };
}

function isAllGone(files: readonly ShownFile[], only: ReadonlySet<string> | undefined): boolean {
  const wanted = only ? files.filter(({ path }) => only.has(path)) : files;
  return wanted.length > 0 && wanted.every(({ change }) => !change);
}

function changeGone(id: string): GalleyError {
  return new GalleyError("not_found", `Change ${id} can no longer be shown.`);
}

function chosen(paths: readonly string[], { files, what }: Shown): ReadonlySet<string> {
  const known = new Set(files.map(({ path }) => path));
  for (const path of paths)
    if (!known.has(path)) throw new GalleyError("invalid_argument", `${path} is not part of this ${what}.`);
  return new Set(paths);
}

const maxCursorLength = 2048;

function cursorAt({ file, hunk, line }: DiffPosition, state: string): string {
  return Buffer.from(`${file} ${hunk} ${line} ${state}`).toString("base64url");
}

function positionIn(cursor: string, state: string): DiffPosition {
  const text = cursor.length > maxCursorLength ? "" : Buffer.from(cursor, "base64url").toString("latin1");
  const [, file, hunk, line, made] = /^(\d{1,9}) ([1-9]\d{0,8}) (\d{1,9}) (\d{1,15} \d{1,15})$/.exec(text) ?? [];
  if (made === undefined) throw new GalleyError("invalid_argument", "Invalid diff cursor");
  if (made !== state) throw new GalleyError("stale_cursor", "Diff cursor is stale");
  return { file: Number(file), hunk: Number(hunk), line: Number(line) };
}

// From a plan to the ops of a change set, and the rules of the workspace for it, checked once more before anything is
// written: a path may have become protected since the preview, or resolve to a different path.

import { GalleyError } from "../../base/errors.js";
import { isGitData } from "../../files/paths/git-data.js";
import type { PlannedEntry, Workspace } from "../../files/workspace.js";
import type { ApplyOwner } from "../../plans/change-writer.js";
import { isOfFiles, type PlannedChange, typeAfter, typeBefore } from "../../plans/plan.js";
import { protectedError } from "../../plans/protected-changes.js";
import type { ChangeOp } from "../change-set.js";

type Leave = Pick<ApplyOwner, "fromCommand" | "allowsProtected">;

/**
 * Only two things get past the protection of paths: git's own data in the plan of a command, and what the plan marks as
 * protected, if the user agreed to write that.
 */
export async function checkStillAllowed(
  workspace: Pick<Workspace, "resolveAll" | "checkEntries">,
  planned: readonly PlannedChange[],
  leave: Leave = {},
): Promise<void> {
  const guarded = planned.filter((change) => change.protected);
  if (guarded.length > 0 && !leave.allowsProtected) throw protectedError(guarded);
  const isEntry = (change: PlannedChange) =>
    leave.fromCommand?.has(change.path) || change.protected || !isOfFiles(change);
  await checkEntries(workspace, planned.filter(isEntry), leave);
  const paths = planned
    .filter((change) => !isEntry(change))
    .flatMap(({ path, to, stamp }) =>
      [path, ...(to === undefined ? [] : [to])].map((target) => ({ target, shown: stamp.path })),
    );
  const targets = await workspace.resolveAll(
    paths.map(({ target }) => target),
    "write",
  );
  for (const [index, { target, shown }] of paths.entries())
    if (targets[index]?.path !== target)
      throw new GalleyError(
        "apply_failed",
        `Apply failed: ${shown} now resolves to a different path. Nothing was written.`,
      );
}

async function checkEntries(
  workspace: Pick<Workspace, "checkEntries">,
  changes: readonly PlannedChange[],
  leave: Leave,
): Promise<void> {
  const [first] = changes;
  if (!first) return;
  if (!workspace.checkEntries) throw knowsFilesOnly(first);
  await workspace.checkEntries(changes.flatMap((change) => entriesOf(change, leave)));
}

function entriesOf(change: PlannedChange, { fromCommand, allowsProtected = false }: Leave): PlannedEntry[] {
  const { path, to, stamp } = change;
  const [before, after] = [typeBefore(change), typeAfter(change)];
  const becomesDirectory = after === "directory" && before !== "directory";
  const isGit = (target: string) => fromCommand?.has(path) === true && isGitData(target) && !isLinkOn(change);
  return [path, ...(to === undefined ? [] : [to])].map((target) => ({
    path: target,
    displayPath: stamp.path,
    becomesDirectory,
    isLet: (change.protected === true && allowsProtected) || isGit(target),
  }));
}

/** A link in git's directory could lead anywhere. */
function isLinkOn(change: PlannedChange): boolean {
  return typeBefore(change) === "symlink" || typeAfter(change) === "symlink";
}

/** For a workspace that a host provides. */
export function knowsFilesOnly(change: PlannedChange): GalleyError {
  const type = [typeAfter(change), typeBefore(change)].find((other) => other !== undefined && other !== "file");
  const what = type === "symlink" ? "a link" : type === "directory" ? "a directory" : "the work of a command";
  return new GalleyError(
    "apply_failed",
    `Apply failed: ${change.stamp.path} is ${what}, and the workspace of this session writes regular files only. Nothing was written.`,
  );
}

/** A command may have replaced read-only files: it was shown, and it is what the user agreed to. */
export function opOf(change: PlannedChange, { isFromCommand = false } = {}): ChangeOp {
  const { kind, path, to, stamp, before, after, mode, mtimeMs, type } = change;
  const named = { path, shownPath: stamp.path, ...(change.protected ? { isProtected: true } : {}) };
  const seen = {
    ...named,
    beforeHash: stamp.sha256,
    beforeBytes: before,
    ...(stamp.type ? { beforeType: stamp.type } : {}),
    ...(isFromCommand ? { force: true } : {}),
  };
  const content = { bytes: after, ...(type ? { type } : {}), mode, mtimeMs };
  if (kind === "create") return { kind, ...named, ...content };
  if (kind === "delete") return { kind, ...seen };
  if (kind === "modify") return { kind, ...seen, ...content };
  return { kind, ...seen, ...content, to: to ?? path, shownTo: to ?? path };
}

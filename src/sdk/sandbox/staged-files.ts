// The files of a staged command as hosts are told of them. What git keeps for itself is not among them: it has no lines to
// show, and is one line of the report.

import { isGrouped } from "../../plans/diff/git-group.js";
import { figuresOf } from "../../plans/diff/plan-diff.js";
import { type PlannedChange, typeBefore } from "../../plans/plan.js";
import type { StagedEffects } from "../../protocol/data.js";

/** Figures of more files than a reader looks at would only cost time. */
const maxCompared = 1000;

export async function stagedFiles(changes: readonly PlannedChange[]): Promise<StagedEffects["files"]> {
  const files: StagedEffects["files"] = [];
  for (const change of changes.filter((one) => !isGrouped({ fromCommand: true }, one))) {
    const { stamp, kind, after, renamedFrom, protected: isProtected } = change;
    const type = kind === "delete" ? typeBefore(change) : (change.type ?? "file");
    const figures = files.length < maxCompared && type === "file" ? await figuresOf(change) : undefined;
    files.push({
      path: stamp.path,
      kind,
      ...(type === "symlink" || type === "directory" ? { type } : {}),
      ...(figures ? { added: figures.added, removed: figures.removed } : {}),
      ...(type === "symlink" && kind !== "delete" ? { target: Buffer.from(after).toString() } : {}),
      renamedFrom,
      ...(isProtected ? { protected: true as const } : {}),
    });
  }
  return files;
}

// The files of a staged command as hosts and models are told of them. What lies in a repository's own directory is one
// group: it has no lines to show.

import { type PlannedChange, typeBefore } from "../../preview/plan.js";
import { figuresOf } from "../../preview/plan-diff.js";
import type { StagedEffects } from "../../protocol/data.js";

/** Figures of more files than a reader looks at would only cost time. */
const maxCompared = 1000;

/** Without the repository's own data. */
export async function stagedFiles(changes: readonly PlannedChange[]): Promise<StagedEffects["files"]> {
  const files: StagedEffects["files"] = [];
  for (const change of changes.filter((one) => !isGitData(one))) {
    const { stamp, kind, after, renamedFrom, protected: isProtected } = change;
    const type = kind === "delete" ? typeBefore(change) : (change.type ?? "file");
    const figures = files.length < maxCompared && type === "file" ? await figuresOf(change) : undefined;
    files.push({
      ...{ path: stamp.path, kind },
      ...(type === "symlink" || type === "directory" ? { type } : {}),
      ...(figures ? { added: figures.added, removed: figures.removed } : {}),
      ...(type === "symlink" && kind !== "delete" ? { target: Buffer.from(after).toString() } : {}),
      ...(renamedFrom === undefined ? {} : { renamedFrom }),
      ...(isProtected ? { protected: true as const } : {}),
    });
  }
  return files;
}

/** In the directory `.git`, but not what decides which programs run: that is shown by name. */
export function isGitData({ path, protected: isProtected }: Pick<PlannedChange, "path" | "protected">): boolean {
  return !isProtected && path.split("/").includes(".git");
}

/** Everything in the repository's own directory, in one line. */
export function gitLineOf(changes: readonly PlannedChange[]): string | undefined {
  const own = changes.filter(isGitData);
  if (own.length === 0) return undefined;
  const below = own.map(({ path }) => path.slice(path.lastIndexOf("/.git/") + "/.git/".length));
  const objects = below.filter((name) => name.startsWith("objects/")).length;
  const parts = [
    ...(objects > 0 ? [`${objects} object${objects === 1 ? "" : "s"}`] : []),
    ...(below.includes("index") ? ["index"] : []),
  ];
  return `git: ${parts.length > 0 ? parts.join(", ") : `${own.length} files`}`;
}

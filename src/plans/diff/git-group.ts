// What a command did to git's own data, in one line. Its files say nothing to a person: they are one group, without diffs.
// What decides about programs (config, hooks) is not in the group: it is shown, and needs the user's word.

import { isInGit } from "../../files/paths/git-data.js";
import type { Plan, PlannedChange } from "../plan.js";

export function isGrouped({ fromCommand }: Pick<Plan, "fromCommand">, change: PlannedChange): boolean {
  return fromCommand === true && !change.protected && isInGit(change.path);
}

/** `main 1a2b3c4 → 5d6e7f8, 14 objects, index`; undefined where no git data changes. */
export function gitSummary(plan: Pick<Plan, "fromCommand" | "changes">): string | undefined {
  const group = plan.changes.filter((change) => isGrouped(plan, change));
  if (group.length === 0) return undefined;
  const parts = refTexts(group);
  let objects = 0;
  let others = 0;
  for (const change of group) {
    const way = wayOf(change);
    if (way === "HEAD") parts.push(headText(change));
    else if (way.startsWith("objects/")) objects += change.type === "directory" ? 0 : 1;
    else if (way !== "index" && way !== packedRefs && !way.startsWith("refs/")) others++;
  }
  if (objects > 0) parts.push(`${objects} object${objects === 1 ? "" : "s"}`);
  if (group.some((change) => wayOf(change) === "index")) parts.push("index");
  if (others > 0) parts.push(`${others} other file${others === 1 ? "" : "s"}`);
  return parts.length === 0 ? "packed refs" : parts.join(", ");
}

const packedRefs = "packed-refs";

/** Below git's directory, or below the part of it that is a linked worktree's own. */
function wayOf({ path }: PlannedChange): string {
  return path.slice(path.lastIndexOf("/.git/") + "/.git/".length).replace(ofWorktree, "");
}

const ofWorktree = /^worktrees\/([^/]+)\//;

/** `side` of `…/.git/worktrees/side/HEAD`. */
function worktreeOf({ path }: PlannedChange): string | undefined {
  return ofWorktree.exec(path.slice(path.lastIndexOf("/.git/") + "/.git/".length))?.[1];
}

/** A ref has a file of its own, or a line in the packed ones; the file counts where there are both. */
function refTexts(group: readonly PlannedChange[]): string[] {
  const packed = group.find((change) => wayOf(change) === packedRefs);
  const [packedBefore, packedAfter] = [refsIn(packed?.before), refsIn(packed?.after)];
  const loose = group.filter((change) => change.type !== "directory" && wayOf(change).startsWith("refs/"));
  const changed = new Map(loose.map((change) => [wayOf(change), change]));
  const moved = [...packedBefore.keys(), ...packedAfter.keys()].filter(
    (name) => packedBefore.get(name) !== packedAfter.get(name),
  );
  return [...new Set([...changed.keys(), ...moved])].flatMap((name) => {
    const change = changed.get(name);
    const old = (change?.stamp.exists ? hashIn(change.before) : undefined) ?? packedBefore.get(name);
    const isLeft = change !== undefined && change.kind !== "delete";
    const fresh = (isLeft ? hashIn(change.after) : undefined) ?? packedAfter.get(name);
    if (old === fresh) return [];
    const shown = name.replace(/^refs\/(?:heads\/)?/, "");
    return [`${shown}${old === undefined ? "" : ` ${old}`} → ${fresh ?? "deleted"}`];
  });
}

/** Of the file with the packed refs. */
function refsIn(bytes: Uint8Array = new Uint8Array()): ReadonlyMap<string, string> {
  const lines = Buffer.from(bytes.subarray(0, maxPackedBytes)).toString("utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, hash, name] = /^([0-9a-f]{7})[0-9a-f]+ (refs\/.+)$/.exec(line) ?? [];
      return hash === undefined || name === undefined ? [] : [[name, hash] as const];
    }),
  );
}

const maxPackedBytes = 1024 * 1024;

/** Which branch is checked out. */
function headText(change: PlannedChange): string {
  const { after, kind } = change;
  const worktree = worktreeOf(change);
  const head = worktree === undefined ? "HEAD" : `HEAD of ${worktree}`;
  if (kind === "delete") return `${head} deleted`;
  const text = textOf(after);
  const branch = /^ref: refs\/heads\/(.+)$/.exec(text)?.[1];
  return `${head} → ${branch ?? hashIn(after)}`;
}

function hashIn(bytes: Uint8Array): string {
  const text = textOf(bytes);
  return /^[0-9a-f]{40,64}$/.test(text) ? text.slice(0, 7) : "?";
}

/** The first line, if it is short. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 300)).toString("utf8").split("\n")[0] ?? "";
}

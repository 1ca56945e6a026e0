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
  const parts: string[] = [];
  let objects = 0;
  let others = 0;
  for (const change of group) {
    const way = change.path.slice(change.path.lastIndexOf("/.git/") + "/.git/".length);
    if (way.startsWith("refs/")) parts.push(refText(way, change));
    else if (way === "HEAD") parts.push(headText(change));
    else if (way.startsWith("objects/")) objects += change.type === "directory" ? 0 : 1;
    else if (way !== "index") others++;
  }
  if (objects > 0) parts.push(`${objects} object${objects === 1 ? "" : "s"}`);
  if (group.some(({ path }) => path.endsWith("/.git/index"))) parts.push("index");
  if (others > 0) parts.push(`${others} other file${others === 1 ? "" : "s"}`);
  return parts.length === 0 ? "directories" : parts.join(", ");
}

function refText(way: string, { before, after, stamp, kind }: PlannedChange): string {
  const name = way.replace(/^refs\/(?:heads\/)?/, "");
  const [old, fresh] = [stamp.exists ? hashIn(before) : undefined, kind === "delete" ? undefined : hashIn(after)];
  if (old === undefined) return `${name} → ${fresh ?? "deleted"}`;
  return `${name} ${old} → ${fresh ?? "deleted"}`;
}

/** Which branch is checked out. */
function headText({ after, kind }: PlannedChange): string {
  if (kind === "delete") return "HEAD deleted";
  const text = textOf(after);
  const branch = /^ref: refs\/heads\/(.+)$/.exec(text)?.[1];
  return `HEAD → ${branch ?? hashIn(after)}`;
}

function hashIn(bytes: Uint8Array): string {
  const text = textOf(bytes);
  return /^[0-9a-f]{40,64}$/.test(text) ? text.slice(0, 7) : "?";
}

/** The first line, if it is short. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 300)).toString("utf8").split("\n")[0] ?? "";
}

// The fields of a pending action that come from outside: made safe to be listed, sent and written.

import { oneLine } from "../../base/sanitize.js";
import type { SeenFile } from "../../plans/plan.js";
import type { ChangedPlan } from "../../plans/plan-step.js";
import type { ActionWork, StoredAction } from "../../plans/stored-action.js";
import type { FileStamp, PendingAction } from "../../protocol/pending.js";

const maxNameLength = 200;

/** A name from any source, on one line: it is shown in lists, to users and models. */
export function named(name: string): string {
  return oneLine(name, maxNameLength) || "(unnamed)";
}

export function filesOf(work: ActionWork): Pick<PendingAction, "files"> {
  const seen = seenFiles(work);
  return seen ? { files: seen.map(({ stamp }) => stamp) } : {};
}

/** The details of an action are sent to hosts and written to files, so they must be JSON. */
export function jsonCopy(details: unknown): unknown {
  try {
    const text = JSON.stringify(details);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a cycle or a hostile toJSON: the action counts, its remarks do not
  }
}

export function seenFiles(work: ActionWork): readonly SeenFile[] | undefined {
  return work.kind === "plan" ? work.plan.changes : work.files;
}

export function pathsIn(files: readonly FileStamp[]): Set<string> {
  return new Set(files.map(({ path }) => path));
}

/** What a part that was decided leaves as stale as it was. Anything else makes the plan for the files as they are. */
export function stillStale({ stalePaths }: StoredAction, { plan, step }: ChangedPlan): ReadonlySet<string> {
  if (!stalePaths || step.event !== "part") return new Set();
  const left = new Set(plan.changes.map(({ stamp }) => stamp.path));
  const written = new Set(step.action === "apply" ? step.settled.map(({ path }) => path) : []);
  return new Set([...stalePaths].filter((path) => left.has(path) && !written.has(path)));
}

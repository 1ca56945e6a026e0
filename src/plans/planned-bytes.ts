// What files would become, for what has no lines to show: their sizes and digests.

import { sha256Of } from "../base/digest.js";
import type { DiffFile } from "../protocol/diff.js";
import type { ActionWork } from "./stored-action.js";

export interface PlannedBytes {
  readonly size: number;
  readonly sha256: string;
}

/** Of the binary files of a diff, by their path. */
export function binariesIn(files: readonly DiffFile[], work: ActionWork | undefined): Map<string, PlannedBytes> {
  const changes = work?.kind === "plan" ? work.plan.changes : [];
  const wanted = new Set(files.filter(({ binary }) => binary).map(({ path }) => path));
  const found = changes.filter(({ stamp, kind }) => wanted.has(stamp.path) && kind !== "delete");
  return new Map(found.map(({ stamp, after }) => [stamp.path, { size: after.length, sha256: sha256Of(after) }]));
}

// Changes that only the user's own word writes: they decide what runs next.

import { GalleyError } from "../base/errors.js";
import type { PlannedChange } from "./plan.js";

const maxNamed = 5;

export function protectedIn(changes: readonly PlannedChange[]): PlannedChange[] {
  return changes.filter((change) => change.protected);
}

/** Of the user who is asked, or of the caller who did not say it. */
export function protectedError(changes: readonly PlannedChange[]): GalleyError {
  const files = changes.map(({ stamp }) => stamp.path);
  return new GalleyError("protected", protectedText(files), { details: { files } });
}

export function protectedText(files: readonly string[]): string {
  const more = files.length > maxNamed ? [`+${files.length - maxNamed} more`] : [];
  const names = [...files.slice(0, maxNamed), ...more].join(", ");
  return `It changes protected paths (${names}), and the user did not agree to that. Nothing was written.`;
}

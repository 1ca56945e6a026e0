// "Did you mean": the known name that a mistyped one is closest to.

import { editDistance } from "./edit-distance.js";

/** At most one edit for every four letters, and never more than four. */
export function nearestName(wanted: string, known: readonly string[]): string | undefined {
  const allowed = Math.min(4, Math.max(1, Math.floor(wanted.length / 4)));
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) > allowed) continue;
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

/** `; did you mean "x"?`, or nothing where no known name is near. */
export function suggestion(wanted: string, known: readonly string[]): string {
  const near = nearestName(wanted, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

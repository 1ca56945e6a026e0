// What a user is told where an apply would also write parts of other actions: which, for which files, and the command that
// applies them together.

import type { GalleyError } from "../../base/errors.js";

interface Told {
  /** What the user called the action, or the actions. */
  readonly name: string;
  /** What applies them together. */
  readonly command: string;
  /** How a path, and a label, are shown. */
  shownPath(path: string): string;
  shownLabel(label: string): string;
}

/** Of an error with the code `depends`. */
export function dependsText(error: GalleyError, { name, command, shownPath, shownLabel }: Told): string {
  const { actions = [] } = (error.details ?? {}) as { actions?: { id: string; label: string; files: string[] }[] };
  const rows = actions.map(
    ({ id, label, files }) => `  ${id}  ${files.map(shownPath).join(", ")}  (${shownLabel(label)})`,
  );
  return [
    `${name} rests on other pending actions. To apply it would also write:`,
    ...rows,
    `Nothing was written. To apply them together: ${command}`,
  ].join("\n");
}

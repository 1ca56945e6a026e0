// The previews that a run leaves, as a person reads them: unified diffs with file names, cut where they get long.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import type { PendingActionView } from "../../protocol/pending.js";
import { colouredDiff } from "../diff-text.js";

/** Of all diffs together: more would bury the summary. */
const maxLines = 200;

/** `isKept`: the rest can be shown later. */
export function previewsText(
  plans: readonly PendingActionView[],
  { isTTY, isKept }: { isTTY: boolean; isKept: boolean },
): string {
  let room = maxLines;
  const parts = plans.map(({ id, label, files = [] }) => {
    const diff = sanitizeForTerminal(files.map((file) => file.diff ?? "").join(""));
    const lines = diff.replace(/\n$/, "").split("\n");
    const shown = lines.slice(0, room);
    room -= shown.length;
    const left = lines.length - shown.length;
    const rest = isKept ? `: galley show ${id}` : "";
    const more = left > 0 ? [`… ${left} more line${left === 1 ? "" : "s"} of ${id}${rest}`] : [];
    return [sanitizeForTerminal(`${id}  ${label}`), colouredDiff(shown.join("\n"), { isTTY }), ...more]
      .filter((line) => line !== "")
      .join("\n");
  });
  return parts.map((part) => `${part}\n\n`).join("");
}

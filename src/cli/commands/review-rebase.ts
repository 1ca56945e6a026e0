// `galley rebase`: a stale pending action made anew for the files as they are now. Writes no file.

import { GalleyError } from "../../base/errors.js";
import { sanitizeForTerminal } from "../../base/sanitize.js";
import { listPendingSessions, type PendingLocation, withSessionFile } from "../../sdk/pending-sessions.js";
import { findAction } from "../../sdk/review/find-by-id.js";
import type { ListedAction } from "../../sdk/review/listed-action.js";
import type { ExitReason } from "../exit-codes.js";
import { countText, figuresText } from "../table.js";
import type { PendingWords } from "./pending-words.js";
import { print, printJson } from "./review-output.js";

export async function rebase(location: PendingLocation, { targets, flags }: PendingWords): Promise<ExitReason> {
  const all = (await listPendingSessions(location)).flatMap(({ actions }) => actions);
  const listed = findAction(all, targets[0]?.id ?? "");
  const partial = flags.has("partial");
  const { action, left } = await withSessionFile(location, listed.session.path, (session) =>
    session.rebasePendingAction({ pendingId: listed.id, partial, by: "user" }),
  );
  const shown = left.map(({ path, hunks }) => ({ path: shownOf(listed, path), hunks }));
  if (flags.has("json")) printJson({ action, left: shown });
  if (left.length > 0 && !partial)
    throw new GalleyError(
      "stale_preview",
      [
        `${listed.name} was left as it is. These hunks no longer find their lines:`,
        ...shown.map(leftLine),
        `Leave them out with: galley rebase ${listed.name} --partial`,
      ].join("\n"),
    );
  if (flags.has("json")) return "done";
  const { files = [], revision } = action;
  const lines = [
    `Rebased ${listed.name}, revision ${revision}: ${countText(files.length, "file")}, ${figuresText(files)}. Nothing is written yet.`,
    ...(shown.length === 0 ? [] : ["Left out, because they no longer find their lines:", ...shown.map(leftLine)]),
    `See it with: galley show ${listed.name}`,
  ];
  print(sanitizeForTerminal(`${lines.join("\n")}\n`));
  return "done";
}

function leftLine({ path, hunks }: { path: string; hunks: readonly number[] }): string {
  return `  ${path} (hunk ${hunks.join(", ")})`;
}

function shownOf({ files }: ListedAction, path: string): string {
  return files.find(({ staged }) => staged === path)?.shown ?? path;
}

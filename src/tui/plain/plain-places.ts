// What a pending action would change, piece by piece, and each piece as lines: for questions in plain mode.

import { writtenOut, writtenOutLine } from "../../base/written-out.js";
import type { DiffFile, DiffHunk } from "../../protocol/diff.js";
import type { PendingActionView } from "../../protocol/pending.js";
import { joinPages } from "../../render/diff-rows.js";
import { typeNotes } from "../../render/type-notes.js";
import type { AgentSession } from "../../sdk/index.js";

export interface Place {
  readonly action: PendingActionView;
  readonly revision: number | undefined;
  readonly file: DiffFile;
  /** Absent: the file has no hunks to choose from. */
  readonly hunk?: DiffHunk;
  /** It stands for what was done to git's own data. */
  readonly git?: string;
}

export async function placesOf(session: AgentSession, action: PendingActionView): Promise<Place[]> {
  if (action.kind === "closure") {
    const file: DiffFile = { path: "", kind: "modify", hunks: [] };
    return [{ action, revision: action.revision, file }];
  }
  const pages = [];
  let cursor: string | undefined;
  do {
    const page = await session.getDiff({ pendingId: action.id, cursor });
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const revision = pages[0]?.revision;
  const places = joinPages(pages).flatMap((file): Place[] =>
    file.hunks.length === 0
      ? [{ action, revision, file }]
      : file.hunks.map((hunk) => ({ action, revision, file, hunk })),
  );
  const git = pages[0]?.git;
  if (git !== undefined)
    places.push({ action, revision, file: { path: ".git", kind: "modify", hunks: [] }, git: `git: ${git}` });
  return places;
}

export function filesOf({ action, file, git }: Place): string[] {
  if (git === undefined) return [file.path];
  return (action.files ?? []).filter(({ isGitData }) => isGitData).map(({ path }) => path);
}

/** As it is shown before a question about it. */
export function aboutPlace({ action, file, hunk, git }: Place): string {
  const stale = action.status === "stale" ? "\nstale: its files have changed on disk" : "";
  const about = git === undefined ? aboutFile(action, file, hunk) : writtenOut(git);
  return `${writtenOut(action.label)}${stale}\n${about}`;
}

function aboutFile(action: PendingActionView, file: DiffFile, hunk: DiffHunk | undefined): string {
  if (action.kind === "closure") {
    const own = action.preview?.diff ?? action.preview?.text ?? "";
    const shown = own.split("\n").map(writtenOutLine).join("\n");
    return `Proposed by ${writtenOut(action.sourceToolName)}: galley cannot check it\n${shown}`;
  }
  const to = file.to === undefined ? "" : ` to ${writtenOut(file.to)}`;
  const notes = typeNotes(file, writtenOut).map((note) => `, ${note.slice(0, 1).toLowerCase()}${note.slice(1)}`);
  const head = `${writtenOut(file.path)}  ${file.kind}${to}${notes.join("")}${file.binary ? ", binary" : ""}`;
  if (!hunk) return head;
  const { oldStart, oldLines, newStart, newLines, lines } = hunk;
  const place = `hunk ${hunk.number} of ${file.hunks.length}  @@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  // Told once: read aloud at the end of each line it would hide what changed.
  const isCrlf = lines.every((line) => line.endsWith("\r") || line.startsWith("\\"));
  const shown = lines.map(
    (line) => (line[0] ?? "") + writtenOutLine((isCrlf ? line.replace(/\r$/, "") : line).slice(1)),
  );
  return [`${head}  ${place}${isCrlf ? "  line ends are CRLF" : ""}`, ...shown].join("\n");
}

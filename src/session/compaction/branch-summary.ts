// Notes on a branch that is being left, so that what was learned there is not lost. Writes nothing; the caller appends
// the notes where the conversation goes on, or leaves everything as it was.

import type { CompactionEntry, SessionEntry } from "../../protocol/entries.js";
import { latestCompactionIndex } from "../context-usage.js";
import { askSummarizers, type SummaryRequest } from "./ask-summarizers.js";
import type { CompactionDetails } from "./compact.js";
import { collectFiles, withFileLists, withoutFileLists } from "./file-lists.js";
import { serializeEntries } from "./serialize.js";
import { summarize } from "./summarize.js";

export interface BranchSummaryRequest extends SummaryRequest {
  readonly branch: Branch;
  /** Room for the notes. */
  readonly reserveTokens: number;
}

export interface BranchNotes {
  readonly summary: string;
  readonly details: CompactionDetails;
}

export interface Branch {
  /** Stands for what came before `entries` in the branch. */
  readonly previous: CompactionEntry | undefined;
  readonly entries: readonly SessionEntry[];
}

/** `abandoned` are the entries that leave the path, in its order. Undefined when nothing was said in them. */
export function branchOf(abandoned: readonly SessionEntry[]): Branch | undefined {
  const compaction = abandoned[latestCompactionIndex(abandoned)] as CompactionEntry | undefined;
  // One that keeps from before the branch is about what both branches share, and nothing of this one is in it.
  const kept = compaction ? abandoned.findIndex(({ id }) => id === compaction.firstKeptEntryId) : -1;
  const branch =
    kept > 0 ? { previous: compaction, entries: abandoned.slice(kept) } : { previous: undefined, entries: abandoned };
  return branch.previous || serializeEntries(branch.entries).length > 0 ? branch : undefined;
}

/** Throws as a compaction does, with `details.usage` for calls that failed. */
export async function summarizeBranch(request: BranchSummaryRequest): Promise<BranchNotes> {
  const { branch, reserveTokens, customInstructions } = request;
  const { previous, entries } = branch;
  const task = {
    kind: "branch" as const,
    pieces: serializeEntries(entries),
    maxTokens: reserveTokens * 0.8,
    ...(previous ? { previousSummary: withoutFileLists(previous.summary) } : {}),
    customInstructions,
  };
  const { text, usage } = await askSummarizers(request, (caller) => summarize(task, caller));
  const files = collectFiles(entries, previous?.details);
  return { summary: withFileLists(text, files), details: { ...files, usage } };
}

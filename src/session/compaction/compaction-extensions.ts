// What extensions may say about summaries: before one is written, while it is requested, and after it is on record. A
// contract, so that the session need not know the extensions. Nothing here rejects because of an extension.

import type { BranchSummaryEntry, CompactionEntry, SessionEntry } from "../../protocol/entries.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { AgentMessage } from "../../protocol/messages.js";

/** What is about to be summarised. */
export interface CompactionPreparation {
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** Whole turns. */
  readonly messagesToSummarize: readonly AgentMessage[];
  /** The beginning of the turn that the cut goes through. */
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly isSplitTurn: boolean;
  readonly previousSummary?: string;
  readonly settings: { readonly enabled: boolean; readonly reserveTokens: number; readonly keepRecentTokens: number };
}

export interface CompactionPlan {
  readonly preparation: CompactionPreparation;
  /** From the root to the leaf. */
  readonly branchEntries: readonly SessionEntry[];
  readonly customInstructions?: string;
  /** Fires when the compaction is cancelled. */
  readonly signal: AbortSignal;
}

/** What extensions want the model that writes the summary to be told. */
export interface CompactionInstructions {
  readonly context?: readonly string[];
  /** Replaces the usual instruction. */
  readonly prompt?: string;
  /** Kept in the entry. */
  readonly preserveData?: unknown;
}

export interface CompactionExtensions {
  /** `compaction` is the whole result: then no model is asked. */
  beforeCompact(plan: CompactionPlan): Promise<{ readonly cancel: boolean; readonly compaction?: CompactionResult }>;
  compacting(messages: readonly AgentMessage[]): Promise<CompactionInstructions>;
  compacted(entry: CompactionEntry): Promise<void>;
}

/** The session is about to move to another entry of the tree. */
export interface TreePreparation {
  readonly targetId: string;
  readonly oldLeafId: string | null;
  readonly entriesToSummarize: readonly SessionEntry[];
  readonly userWantsSummary: boolean;
}

export interface TreeVerdict {
  readonly cancel: boolean;
  /** Notes on the branch that is left, instead of a model's. */
  readonly summary?: Pick<BranchSummaryEntry, "summary" | "details">;
}

// One compaction that extensions take part in: they may prevent it, write it themselves, or add instructions. Promises:
// what they return fits the conversation, and a cancelled compaction does not wait for them.

import { AbortRace } from "../../base/abort.js";
import { GalleyError } from "../../base/errors.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { messageOfEntry } from "../../record/entry-message.js";
import { contextTokens } from "../context-usage.js";
import { type Cut, isCutPoint } from "./choose-cut.js";
import { type CompactionRequest, compact, planCut } from "./compact.js";
import type { CompactionExtensions, CompactionPlan } from "./compaction-extensions.js";
import { withoutFileLists } from "./file-lists.js";

export interface ExtensionRequest extends CompactionRequest {
  readonly settings: CompactionRequest["settings"] & { readonly enabled: boolean };
}

/** Throws `aborted` where one of them, or the signal, cancels. */
export async function compactWithExtensions(
  request: ExtensionRequest,
  extensions: CompactionExtensions,
): Promise<CompactionResult> {
  const cut = planCut(request);
  if ("problem" in cut) throw new GalleyError("cannot_continue", cut.problem);
  const race = new AbortRace(request.signal);
  const asked = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const result = await race.next(answer);
    if (result === "aborted") throw cancelled();
    return result;
  };
  try {
    const { cancel, compaction } = await asked(extensions.beforeCompact(planOf(cut, request)));
    if (cancel) throw cancelled();
    if (compaction) return { ...fitting(compaction, request.path), fromExtension: true };
    const { context, prompt, preserveData } = await asked(extensions.compacting(messagesOf(spanOf(cut))));
    const result = await compact({ ...request, additionalContext: context, instruction: prompt });
    return { ...result, preserveData };
  } finally {
    race.release();
  }
}

function cancelled(): GalleyError {
  return new GalleyError("aborted", "Compaction cancelled");
}

function planOf(cut: Cut, { path, settings, customInstructions, signal }: ExtensionRequest): CompactionPlan {
  const { enabled, reserveTokens, keepRecentTokens } = settings;
  return {
    preparation: {
      firstKeptEntryId: cut.firstKeptEntryId,
      tokensBefore: contextTokens(path).tokens,
      messagesToSummarize: messagesOf(cut.history),
      turnPrefixMessages: messagesOf(cut.turnHead),
      isSplitTurn: cut.turnHead.length > 0,
      ...(cut.previous ? { previousSummary: withoutFileLists(cut.previous.summary) } : {}),
      settings: { enabled, reserveTokens, keepRecentTokens },
    },
    branchEntries: path,
    customInstructions,
    signal,
  };
}

function spanOf({ history, turnHead }: Cut): readonly SessionEntry[] {
  return [...history, ...turnHead];
}

function messagesOf(entries: readonly SessionEntry[]): AgentMessage[] {
  return entries.map(messageOfEntry).filter((message) => message !== undefined);
}

/** A summary that keeps from nowhere, or from between a call and its result, leaves a context no service accepts. */
function fitting(compaction: CompactionResult, path: readonly SessionEntry[]): CompactionResult {
  const { firstKeptEntryId, summary } = compaction;
  if (summary.trim() === "") throw new GalleyError("invalid_argument", "An extension's summary is empty.");
  if (!isCutPoint(path, firstKeptEntryId))
    throw new GalleyError(
      "invalid_argument",
      `An extension's compaction keeps from ${JSON.stringify(firstKeptEntryId)}, where the conversation cannot be cut.`,
    );
  return compaction;
}

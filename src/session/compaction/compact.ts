// One compaction from the path to its result: cut, summarise, list the files. Writes nothing; the caller appends the
// result as an entry, or leaves everything as it was.

import { GalleyError } from "../../base/errors.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { UsageByModel } from "../../record/billing.js";
import {
  contextLimit,
  contextTokens,
  estimateMessages,
  estimateRatio,
  type ThresholdSettings,
} from "../context-usage.js";
import type { FailedReply } from "../overflow.js";
import { askSummarizers, type SummaryRequest } from "./ask-summarizers.js";
import { type Cut, chooseCut } from "./choose-cut.js";
import { collectFiles, type FileLists, withFileLists, withoutFileLists } from "./file-lists.js";
import { headOf, serializeEntries } from "./serialize.js";
import { type SummaryCaller, summarize } from "./summarize.js";

export interface CutSettings extends ThresholdSettings {
  readonly keepRecentTokens: number;
}

export interface CompactionRequest extends SummaryRequest {
  /** The window the kept part must fit: that of the session's model. */
  readonly contextWindow: number;
  readonly settings: CutSettings;
  /** The context is known to be too large, whatever it is estimated at: a good part of it has to go. */
  readonly mustFree?: boolean;
  readonly additionalContext?: readonly string[];
  /** Replaces the usual instruction. */
  readonly instruction?: string;
}

/** Kept in the entry: the lists are carried on by the next compaction, the usage is part of the session's bill. */
export interface CompactionDetails extends FileLists {
  readonly usage: UsageByModel;
}

export type Compacted = CompactionResult & { shortSummary: string; details: CompactionDetails };

/** Throws with `details.usage` when all calls failed: they are billed all the same. */
export async function compact(request: CompactionRequest): Promise<Compacted> {
  const cut = planCut(request);
  if ("problem" in cut) throw new GalleyError("cannot_continue", cut.problem);
  const { text, usage } = await askSummarizers(request, (caller) => summarizeCut(cut, request, caller));
  const files = collectFiles([...cut.history, ...cut.turnHead], cut.previous?.details);
  return {
    summary: withFileLists(text, files),
    shortSummary: firstLines(text),
    firstKeptEntryId: cut.firstKeptEntryId,
    tokensBefore: contextTokens(request.path).tokens,
    details: { ...files, usage },
  };
}

type CutInput = Pick<CompactionRequest, "path" | "contextWindow" | "overheadTokens" | "settings" | "mustFree">;

/** Where this request would cut, or why it cannot. Cheap: asks no model. */
export function planCut({ path, contextWindow, overheadTokens, settings, mustFree = false }: CutInput) {
  // What is kept must leave the context well below its limit, or the next reply would compact again.
  const most = contextLimit(contextWindow, settings) / 2;
  const keepTokens = Math.min(settings.keepRecentTokens, most) / estimateRatio(path, overheadTokens);
  return chooseCut(path, mustFree ? Math.min(keepTokens, estimateMessages(path) / 2) : keepTokens);
}

async function summarizeCut(
  cut: Cut,
  request: CompactionRequest,
  caller: SummaryCaller,
): Promise<string | FailedReply> {
  const { customInstructions, additionalContext, instruction, settings } = request;
  const instructions = { customInstructions, instruction, additionalContext };
  const history = await summarize(
    {
      kind: "history",
      pieces: serializeEntries(cut.history),
      maxTokens: settings.reserveTokens * 0.8,
      ...(cut.previous ? { previousSummary: withoutFileLists(cut.previous.summary) } : {}),
      ...instructions,
    },
    caller,
  );
  const pieces = serializeEntries(cut.turnHead);
  if (typeof history !== "string" || pieces.length === 0) return history;
  const maxTokens = settings.reserveTokens * 0.5;
  const head = await summarize({ kind: "turn_head", pieces, maxTokens, ...instructions }, caller);
  if (typeof head !== "string") return head;
  return `${history || "No prior history."}\n\n---\n\n**Turn Context (split turn):**\n\n${head}`;
}

const maxShortCharacters = 160;

/** The first words of the summary that are no heading: the outline begins with the goal. */
function firstLines(text: string): string {
  const lines = text.split("\n").map((line) =>
    line
      .replace(/^\s*(?:[-*>]\s+)*/, "")
      .replace(/\*\*|`/g, "")
      .trim(),
  );
  const words = lines.filter((line) => line !== "" && !/^(?:#|---|No prior history\.)/.test(line)).slice(0, 2);
  const joined = words.join(" ");
  return joined.length > maxShortCharacters ? `${headOf(joined, maxShortCharacters - 1).trimEnd()}…` : joined;
}

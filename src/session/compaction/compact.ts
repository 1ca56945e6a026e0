// One compaction from the path to its result: cut, summarise, list the files. Writes nothing; the caller appends the
// result as an entry, or leaves everything as it was.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { CompactionResult } from "../../protocol/events.js";
import type { StreamFunction } from "../../provider/provider.js";
import { Bill, type UsageByModel } from "../billing.js";
import {
  contextLimit,
  contextTokens,
  estimateMessages,
  estimateRatio,
  type ThresholdSettings,
} from "../context-usage.js";
import type { FailedReply } from "../overflow.js";
import { plannerApi, type RetrySettings } from "../retry.js";
import { type Cut, chooseCut } from "./choose-cut.js";
import { collectFiles, type FileLists, fileListText, withoutFileLists } from "./file-lists.js";
import { headOf, serializeEntries } from "./serialize.js";
import { type Summarizer, type SummaryCaller, summarize } from "./summarize.js";

export interface CutSettings extends ThresholdSettings {
  readonly keepRecentTokens: number;
}

export interface CompactionRequest {
  /** From the root to the leaf. */
  readonly path: readonly SessionEntry[];
  /** The window the kept part must fit: that of the session's model. */
  readonly contextWindow: number;
  /** An estimate of what requests carry besides messages. */
  readonly overheadTokens: number;
  /** In order of preference; the next one is asked when one fails or wants too long a wait. */
  readonly summarizers: readonly Summarizer[];
  readonly settings: CutSettings;
  /** The context is known to be too large, whatever it is estimated at: a good part of it has to go. */
  readonly mustFree?: boolean;
  readonly retry: RetrySettings;
  readonly customInstructions?: string;
  readonly additionalContext?: readonly string[];
  readonly stream: StreamFunction;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Kept in the entry: the lists are carried on by the next compaction, the usage is part of the session's bill. */
export interface CompactionDetails extends FileLists {
  readonly usage: UsageByModel;
}

export type Compacted = CompactionResult & { shortSummary: string; details: CompactionDetails };

/** Throws with `details.usage` when calls were made in vain: they are billed all the same. */
export async function compact(request: CompactionRequest): Promise<Compacted> {
  const cut = planCut(request);
  if ("problem" in cut) throw new GalleyError("cannot_continue", cut.problem);
  const bill = new Bill();
  let problem = "";
  for (const caller of callers(request, bill)) {
    const outcome = await summarizeCut(cut, request, caller);
    if (typeof outcome === "string") return result(outcome, cut, { request, usage: bill.byModel });
    if (outcome.stopReason === "aborted")
      throw new GalleyError("aborted", "Compaction cancelled", { details: { usage: bill.byModel } });
    problem = outcome.errorMessage ?? "";
  }
  throw new GalleyError("unsupported", `${failedText}${problem}`, { details: { usage: bill.byModel } });
}

export const failedText = "Summarization failed: ";

type CutInput = Pick<CompactionRequest, "path" | "contextWindow" | "overheadTokens" | "settings" | "mustFree">;

/** Where this request would cut, or why it cannot. Cheap: asks no model. */
export function planCut({ path, contextWindow, overheadTokens, settings, mustFree = false }: CutInput) {
  // What is kept must leave the context well below its limit, or the next reply would compact again.
  const most = contextLimit(contextWindow, settings) / 2;
  const keepTokens = Math.min(settings.keepRecentTokens, most) / estimateRatio(path, overheadTokens);
  return chooseCut(path, mustFree ? Math.min(keepTokens, estimateMessages(path) / 2) : keepTokens);
}

/** Throws if nobody is left who could write a summary. */
export function usable(summarizers: readonly Summarizer[]): readonly Summarizer[] {
  if (summarizers.length === 0) throw new GalleyError("no_model", "No model selected");
  const models = summarizers.filter(({ model }) => model.api !== plannerApi);
  if (models.length === 0) throw new GalleyError("unsupported", `${failedText}the planner cannot summarize`);
  return models;
}

/** While another model is left to ask, no wait is longer. */
const maxWaitWithOthersMs = 30_000;

function callers(request: CompactionRequest, bill: Bill): SummaryCaller[] {
  const { stream, clock, random, retry, signal } = request;
  const ratio = estimateRatio(request.path, request.overheadTokens);
  return usable(request.summarizers).map((summarizer, index, all) => ({
    summarizer,
    stream,
    clock,
    random,
    retry,
    signal,
    ratio,
    maxWaitMs: index < all.length - 1 ? maxWaitWithOthersMs : Number.POSITIVE_INFINITY,
    bill: (usage) => bill.add(`${summarizer.model.provider}/${summarizer.model.id}`, usage),
  }));
}

async function summarizeCut(
  cut: Cut,
  request: CompactionRequest,
  caller: SummaryCaller,
): Promise<string | FailedReply> {
  const { customInstructions, additionalContext, settings } = request;
  const wishes = {
    ...(customInstructions === undefined ? {} : { customInstructions }),
    ...(additionalContext === undefined ? {} : { additionalContext }),
  };
  const history = await summarize(
    {
      kind: "history",
      pieces: serializeEntries(cut.history),
      maxTokens: settings.reserveTokens * 0.8,
      ...(cut.previous ? { previousSummary: withoutFileLists(cut.previous.summary) } : {}),
      ...wishes,
    },
    caller,
  );
  const pieces = serializeEntries(cut.turnHead);
  if (typeof history !== "string" || pieces.length === 0) return history;
  const maxTokens = settings.reserveTokens * 0.5;
  const head = await summarize({ kind: "turn_head", pieces, maxTokens, ...wishes }, caller);
  if (typeof head !== "string") return head;
  return `${history || "No prior history."}\n\n---\n\n**Turn Context (split turn):**\n\n${head}`;
}

function result(
  text: string,
  cut: Cut,
  { request, usage }: { request: CompactionRequest; usage: UsageByModel },
): Compacted {
  const files = collectFiles([...cut.history, ...cut.turnHead], cut.previous?.details);
  const lists = fileListText(files);
  return {
    summary: lists === "" ? text : `${text}\n\n${lists}`,
    shortSummary: firstLines(text),
    firstKeptEntryId: cut.firstKeptEntryId,
    tokensBefore: contextTokens(request.path).tokens,
    details: { ...files, usage },
  };
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

// Which model writes a summary: one after another is asked until one succeeds. Promises: every call is on the returned
// bill, also when all of them failed.

import { GalleyError } from "../../base/errors.js";
import type { SessionEntry } from "../../protocol/entries.js";
import { capabilitiesOf } from "../../provider/provider.js";
import { Bill, type UsageByModel } from "../../record/billing.js";
import { estimateRatio } from "../context-usage.js";
import type { FailedReply } from "../overflow.js";
import type { Summarizer, SummaryCaller } from "./summarize.js";

export interface SummaryRequest extends Pick<SummaryCaller, "retry" | "stream" | "clock" | "random" | "signal"> {
  /** From the root to the leaf. */
  readonly path: readonly SessionEntry[];
  /** An estimate of what requests carry besides messages. */
  readonly overheadTokens: number;
  /** In order of preference; the next one is asked when one fails or wants too long a wait. */
  readonly summarizers: readonly Summarizer[];
  /** What the user wants the summary to focus on. */
  readonly customInstructions?: string;
}

export const failedText = "Summarization failed: ";

/** Throws with `details.usage` when all calls failed: they are billed all the same. */
export async function askSummarizers(
  request: SummaryRequest,
  ask: (caller: SummaryCaller) => Promise<string | FailedReply>,
): Promise<{ text: string; usage: UsageByModel }> {
  const bill = new Bill();
  let problem = "";
  for (const caller of callers(request, bill)) {
    const outcome = await ask(caller);
    if (typeof outcome === "string") return { text: outcome, usage: bill.byModel };
    if (outcome.stopReason === "aborted")
      throw new GalleyError("aborted", "Compaction cancelled", { details: { usage: bill.byModel } });
    problem = outcome.errorMessage ?? "";
  }
  throw new GalleyError("unsupported", `${failedText}${problem}`, { details: { usage: bill.byModel } });
}

/** Throws if no model is left that could write a summary. */
export function usable(summarizers: readonly Summarizer[]): readonly Summarizer[] {
  if (summarizers.length === 0) throw new GalleyError("no_model", "No model selected");
  const models = summarizers.filter(({ model }) => capabilitiesOf(model).isLanguageModel);
  if (models.length === 0) throw new GalleyError("unsupported", `${failedText}the planner cannot summarize`);
  return models;
}

/** While another model is left to ask, no wait is longer. */
const maxWaitWithOthersMs = 30_000;

function callers(request: SummaryRequest, bill: Bill): SummaryCaller[] {
  const ratio = estimateRatio(request.path, request.overheadTokens);
  return usable(request.summarizers).map((summarizer, index, all) => ({
    ...request,
    summarizer,
    ratio,
    maxWaitMs: index < all.length - 1 ? maxWaitWithOthersMs : Number.POSITIVE_INFINITY,
    bill: (usage) => bill.add(`${summarizer.model.provider}/${summarizer.model.id}`, usage),
  }));
}

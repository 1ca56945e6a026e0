// Whether a reply failed because the conversation no longer fits the model. What the provider said as data decides;
// sentences are read only where it said nothing, and being asked to slow down is never an overflow.

import { overflowText, throttleText } from "../base/service-texts.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AssistantMessage } from "../protocol/messages.js";
import type { Model } from "../protocol/model.js";
import { messageOfEntry } from "../record/entry-message.js";
import { isCompaction, promptTokens } from "./context-usage.js";

/** How a model call ended, as far as recovering from it is concerned. */
export type FailedReply = Pick<AssistantMessage, "stopReason" | "errorMessage" | "error">;

export function isOverflowError({ stopReason, errorMessage = "", error }: FailedReply): boolean {
  if (stopReason !== "error") return false;
  if (error && error.kind !== "unknown") return error.kind === "overflow";
  return overflowText.test(errorMessage) && !throttleText.test(errorMessage);
}

/**
 * Where the newest reply on the path stands, if it shows that the context is too large for this model: by its error, or
 * by a reported prompt above the window. Replies of another model, or from before the latest compaction, tell nothing.
 */
export function findOverflow(
  path: readonly SessionEntry[],
  model: Pick<Model, "provider" | "id" | "contextWindow">,
): number | undefined {
  for (let index = path.length - 1; index >= 0; index--) {
    const entry = path[index] as SessionEntry;
    if (isCompaction(entry)) return undefined;
    const message = messageOfEntry(entry);
    if (message?.role !== "assistant") continue;
    const isOurs = message.provider === model.provider && message.model === model.id;
    return isOurs && (isOverflowError(message) || isAboveWindow(message, model.contextWindow)) ? index : undefined;
  }
  return undefined;
}

/** Some services cut a prompt that is too long and say nothing; their own count gives it away. */
function isAboveWindow({ stopReason, usage }: AssistantMessage, contextWindow: number): boolean {
  return stopReason !== "aborted" && contextWindow > 0 && promptTokens(usage) > contextWindow;
}

// The message that an entry puts into a context. One function, so that what is counted, summarized and sent is the same.

import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { checkMessage, isTime } from "./check-message.js";

/** Made fit for use; undefined for metadata and for what cannot be used. */
export function messageOfEntry(entry: SessionEntry): AgentMessage | undefined {
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      // The time is read where it is needed only: that costs a third of the check.
      return checkMessage(message, isTime(message?.timestamp) ? 0 : timeOf(entry));
    }
    case "custom_message": {
      const { customType, content, display, details, attribution } = entry;
      return checkMessage({ role: "custom", customType, content, display, details, attribution }, timeOf(entry));
    }
    case "branch_summary":
      return checkMessage({ role: "branchSummary", summary: entry.summary, fromId: entry.fromId }, timeOf(entry));
    default:
      return undefined;
  }
}

export function timeOf(entry: SessionEntry): number {
  return Date.parse(entry.timestamp) || 0;
}

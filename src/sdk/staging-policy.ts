// While every change waits for review, a command would go round it: it runs only with the user's leave.

import type { ApprovalPolicy } from "../session/approval.js";
import { approveAll } from "../session/approval.js";

export const bypassText = "Refused: commands bypass staging. Use --allow-exec to permit them.";

/** Policy of the caller's first; nobody to ask, or no answer, is a no. */
export function withStagingPolicy(
  policy: ApprovalPolicy = approveAll,
  { isReviewed, allowExec }: { isReviewed: boolean; allowExec: boolean },
): ApprovalPolicy {
  if (!isReviewed || allowExec) return policy;
  return async (request) => (request.tier === "exec" ? { block: bypassText } : policy(request));
}

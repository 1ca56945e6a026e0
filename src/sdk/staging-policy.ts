// While every change waits for review, a command would bypass it: it runs only with the user's permission.

import type { ApprovalPolicy, ApprovalRequest } from "../session/approval.js";
import { approveAll } from "../session/approval.js";

export const bypassText = "Refused: commands bypass staging. Use --allow-exec to permit them.";
export const declinedText =
  "Refused: commands bypass staging, and the user did not allow this one. Go on without it, or ask what to do instead.";

export interface StagingPolicyDeps {
  readonly isReviewed: boolean;
  readonly allowExec: boolean;
  /** The user's answer about one call; absent where no user can be asked. */
  ask?: ((request: ApprovalRequest) => Promise<boolean>) | undefined;
}

/** The caller's policy first; without a user to ask, or without an answer, it is no. */
export function withStagingPolicy(
  policy: ApprovalPolicy = approveAll,
  { isReviewed, allowExec, ask }: StagingPolicyDeps,
): ApprovalPolicy {
  if (!isReviewed || allowExec) return policy;
  return async (request) => {
    if (request.tier !== "exec") return policy(request);
    if (!ask) return { block: bypassText };
    return (await policy(request)) ?? ((await ask(request)) ? undefined : { block: declinedText });
  };
}

// The policy for every call of a session: the working mode first, then the caller's own policy, then the user where the table
// of approvals says so. What is not a clear yes is a no, and the model reads why.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { maskDeep, type TextMask } from "../../base/text-mask.js";
import type { Settings } from "../../config/settings/settings.js";
import { type ApprovalPolicy, type ApprovalRequest, approveAll } from "../../session/approval.js";
import type { ApprovalTier } from "../../tools/tool.js";
import { callLines } from "../session-ui.js";
import { readOnlyText, type SessionAccess } from "./access-mode.js";
import { allowLine, isAsked, kindOf, refusedByUser } from "./approval-policy.js";
import { noSandboxText } from "./sandbox-policy.js";
import { bypassText, declinedText } from "./staging-policy.js";

/** What a front end shows of a call that waits for an answer. */
export interface CallQuestion {
  readonly tool: string;
  readonly tier: ApprovalTier;
  readonly isConfined: boolean;
  /** The whole call, with everything invisible written out. */
  readonly lines: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
}

export type CallAnswer =
  | { readonly kind: "once" | "session" | "always" }
  | { readonly kind: "no"; readonly reason?: string };

export interface CallApprovalDeps {
  readonly access: SessionAccess;
  readonly settings: Settings;
  readonly allowExec: boolean;
  readonly root: string;
  readonly cwd: string;
  readonly log: Log;
  /** Of everything that is shown of a call. */
  readonly mask: TextMask["mask"];
  /** Of a front end that can show the whole question. */
  ask?: ((question: CallQuestion) => Promise<CallAnswer>) | undefined;
  /** Of a host that can only say yes or no; absent where no user can be asked. */
  confirm?: ((request: ApprovalRequest) => Promise<boolean>) | undefined;
  /** Adds a line to `approval.allow` in the user's file. */
  allowForGood(line: string): Promise<void>;
}

export function createCallPolicy(policy: ApprovalPolicy = approveAll, deps: CallApprovalDeps): ApprovalPolicy {
  const { access, settings } = deps;
  const allowed = new Set<string>();
  return async (request) => {
    const mode = access.approval;
    const kind = kindOf(request.tool, request.tier);
    const isExec = request.tier === "exec";
    if (isExec && access.needsMissingSandbox) return { block: noSandboxText };
    if (access.isReadOnly && kind === "unconfined") return { block: readOnlyText };
    // Without approvals a tool that declares nothing counts as a command that bypasses staging.
    const bypasses = access.isReviewed && !deps.allowExec && (mode === "never" ? isExec : kind === "unconfined");
    if (bypasses && !deps.ask && !deps.confirm) return { block: bypassText };
    const refusal = await policy(request);
    if (refusal || !(bypasses || isAsked({ kind, isReviewed: access.isReviewed }, mode))) return refusal;
    const line = allowLine({ root: deps.root, tool: request.tool.name, args: request.args });
    if (allowed.has(line) || settings.get("approval.allow").includes(line)) return undefined;
    const answer = await answerTo(request, { ...deps, bypasses });
    if (typeof answer === "string") return { block: answer };
    if (answer.kind === "no") return { block: refusedByUser(answer.reason) };
    if (answer.kind !== "once") allowed.add(line);
    if (answer.kind === "always" && deps.mask(line) !== line) deps.log.warn(secretCallText);
    else if (answer.kind === "always")
      await deps.allowForGood(line).catch((error) => deps.log.error(messageOf(error), error));
    return undefined;
  };
}

const secretCallText = "Allowed for this session only: the call holds a secret, which settings do not keep.";

/** A string is a refusal in other words. */
async function answerTo(
  request: ApprovalRequest,
  { ask, confirm, cwd, bypasses, mask }: CallApprovalDeps & { bypasses: boolean },
): Promise<CallAnswer | string> {
  const { tool, tier, signal } = request;
  const args = maskDeep(request.args, mask);
  if (ask) return ask({ tool: tool.name, tier, isConfined: false, lines: callLines(tool, args), cwd, signal });
  if (!confirm) return refusedByUser("no user can be asked here.");
  if (await confirm({ ...request, args })) return { kind: "once" };
  return bypasses ? declinedText : { kind: "no" };
}

// The one gate before a tool runs: hooks first, because they may know about secrets and habits; then policy, which sees
// the tier of the arguments that will really run; then the record is saved, so that the request for a change outlives
// the change. Any failure on the way means no.

import type { ToolHooks } from "../loop/run.js";
import type { ToolCall } from "../protocol/content.js";
import { type AnyTool, type ApprovalTier, tierOf } from "../tools/tool.js";

export interface ApprovalRequest {
  readonly tool: AnyTool;
  readonly call: ToolCall;
  /** Checked and final. */
  readonly args: Record<string, unknown>;
  readonly tier: ApprovalTier;
  /** Fires when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** The reason the model is told, or nothing where the call may run. A throw means no. */
export type ApprovalPolicy = (request: ApprovalRequest) => Promise<{ block: string } | undefined>;

export const approveAll: ApprovalPolicy = async () => undefined;

export interface GateDeps {
  readonly hook: ToolHooks["beforeToolCall"];
  readonly policy: ApprovalPolicy;
  /** Saves what was said so far, so that it survives a crash. */
  secure(): Promise<void>;
  /** A call begins that may write anywhere. */
  begins?(call: ToolCall): void;
}

export function createGate({ hook, policy, secure, begins }: GateDeps): NonNullable<ToolHooks["beforeToolCall"]> {
  return async (tool, call, args, signal) => {
    const verdict = await hook?.(tool, call, args, signal);
    if (verdict) return verdict;
    const tier = tierOf(tool, args);
    const refusal = await policy({ tool, call, args, tier, signal });
    if (refusal) return refusal;
    if (tier !== "read") await secure();
    if (tier === "exec") begins?.(call);
    return undefined;
  };
}

// Decisions when nothing is pending: an extension may want to receive them.

import type { ToolResult } from "../protocol/events.js";
import type { Decision } from "./decide/decision.js";

/** Never forced, never used up. */
export interface StandingHandler {
  readonly label: string;
  readonly sourceToolName: string;
  apply(reason: string, extra?: Record<string, unknown>): Promise<ToolResult>;
  reject?(reason: string, extra?: Record<string, unknown>): Promise<ToolResult | undefined>;
}

export async function resolveByHandler(
  handler: StandingHandler,
  { action, reason, extra }: Decision,
): Promise<ToolResult> {
  const { label, sourceToolName } = handler;
  const result =
    action === "apply"
      ? await handler.apply(reason, extra)
      : ((await handler.reject?.(reason, extra)) ?? {
          content: [{ type: "text" as const, text: `Discarded: ${label}. Reason: ${reason}` }],
        });
  const details = { action, reason, sourceToolName, label, ...(extra ? { extra } : {}) };
  return { ...result, details: { ...details, sourceResultDetails: result.details } };
}

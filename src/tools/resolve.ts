// The resolve tool: the model's decision about a preview. It only passes the decision on; the session has the rules.

import type { XStatic } from "typebox/schema";
import type { ToolResult } from "../protocol/events.js";
import type { AgentTool } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["apply", "discard"] },
    reason: { type: "string" },
    extra: { type: "object" },
    id: { type: "string", description: "Default: the next" },
    all: { type: "boolean" },
  },
  required: ["action", "reason"],
  additionalProperties: false,
} as const;

export type ResolveToolParams = XStatic<typeof parameters> & { readonly extra?: Record<string, unknown> };

export type DecidePending = (params: ResolveToolParams) => Promise<ToolResult>;

export function createResolve(decide: DecidePending): AgentTool<ResolveToolParams> {
  return {
    name: "resolve",
    label: "Resolve",
    description:
      "Decide about a preview: apply persists its pending changes, discard rejects them. Fails when nothing is pending.",
    parameters,
    hidden: true,
    strict: true,
    concurrency: "exclusive",
    approval: "write",
    // A write that has begun is completed.
    nonAbortable: true,
    execute: (_toolCallId, params) => decide(params),
  };
}

// Which calls the user is asked about: a table, as a pure function. A project can only move to the right in it. What was
// allowed for good is compared byte by byte: tool, arguments and project root; nothing of it is interpreted.

import { writtenOut } from "../../base/written-out.js";
import type { AnyTool, ApprovalTier } from "../../tools/tool.js";

export const approvalModes = ["never", "unconfined", "ask", "ask-writes"] as const;
export type ApprovalMode = (typeof approvalModes)[number];

/** The rows of the table. */
export type CallKind = "read" | "write" | "confined" | "unconfined" | "undeclared";

export interface CallFacts {
  readonly kind: CallKind;
  /** Every change waits for review: a write is staged. */
  readonly isReviewed: boolean;
}

const askedFrom: Readonly<Record<CallKind, ApprovalMode | undefined>> = {
  read: undefined,
  write: "ask-writes",
  confined: "ask",
  unconfined: "unconfined",
  undeclared: "ask-writes",
};

export function isAsked({ kind, isReviewed }: CallFacts, mode: ApprovalMode): boolean {
  const from = askedFrom[kind];
  if (from === undefined || (kind === "write" && isReviewed)) return false;
  return approvalModes.indexOf(mode) >= approvalModes.indexOf(from);
}

export function kindOf(tool: AnyTool, tier: ApprovalTier, isConfined: boolean): CallKind {
  if (tool.isUndeclared) return "undeclared";
  return tier === "exec" ? (isConfined ? "confined" : "unconfined") : tier;
}

/** One call for good, in one project, as a line of `approval.allow`. */
export function allowLine(call: { root: string; tool: string; args: Record<string, unknown> }): string {
  return JSON.stringify([call.root, call.tool, call.args]);
}

export function refusedByUser(reason: string | undefined): string {
  return `Refused by the user: ${reason?.trim() || "no reason given."}`;
}

/** The whole call for a user who decides about it. */
export function callLines(tool: AnyTool, args: Record<string, unknown>): string[] {
  return tool.approvalDetails?.(args)?.map(writtenOut) ?? argumentLines(args);
}

/** One argument per line; a text of several lines is indented, so that it cannot look like another argument. */
function argumentLines(args: Record<string, unknown>): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const lines = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).split("\n").map(writtenOut);
    return lines.length === 1
      ? [`${writtenOut(name)}: ${lines[0]}`]
      : [`${writtenOut(name)}:`, ...lines.map((line) => `  | ${line}`)];
  });
}

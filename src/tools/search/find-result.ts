// How a list of names is shown: a limited number of lines, and in one bracket what was left out.

import type { ToolResult } from "../../protocol/events.js";
import { shownTruncation } from "../output/shown-truncation.js";
import { maxOutputLines, notice } from "../output/text.js";
import { toolFailure } from "../tool.js";
import { headOfLines } from "./grouped-output.js";

export interface ListRemarks {
  /** The limit that left something out. */
  readonly limitReached?: number | undefined;
  readonly remarks?: readonly string[];
}

export function listResult(lines: readonly string[], { limitReached, remarks = [] }: ListRemarks = {}): ToolResult {
  const head = headOfLines(lines);
  const limits = limitReached === undefined ? [] : [limitRemark(limitReached, "results")];
  const meta = {
    ...(head.truncation ? { truncation: head.truncation } : {}),
    ...(limitReached === undefined ? {} : { limits: { resultLimit: limitReached } }),
  };
  const text = head.text + notice([...head.remarks, ...limits, ...remarks]);
  return { content: [{ type: "text", text }], details: { meta, ...shownTruncation(head) } };
}

/** More than an answer may hold in lines is never looked for, nor suggested. */
export function limitRemark(limit: number, noun: "matches" | "results"): string {
  const reached = `${limit} ${noun} limit reached`;
  return limit >= maxOutputLines ? reached : `${reached}. Use limit=${Math.min(limit * 2, maxOutputLines)} for more`;
}

export function resultLimit(limit: number | undefined, byDefault: number): number {
  if (limit === undefined) return byDefault;
  if (!(limit >= 1)) throw toolFailure("Limit must be a positive number");
  return Math.min(Math.floor(limit), maxOutputLines);
}

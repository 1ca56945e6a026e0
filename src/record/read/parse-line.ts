// One line of a session file in, its object out. A damaged line gives what can be saved of it.

import { isObject, type JsonObject } from "../../base/json.js";
import { maxNesting, type TypedObject } from "../../base/ndjson.js";
import type { SessionEntry } from "../../protocol/entries.js";
import type { Line } from "./split-lines.js";

export const maxLineBytes = 8 * 1024 * 1024;

export type LineProblem = "malformed" | "fused" | "bad_utf8";

/** What can be saved of a line that is no object; `isPart` tells whether one found inside it is a line of its own. */
export function salvage(
  text: string,
  damaged: Line["damaged"],
  isPart: (value: TypedObject) => boolean,
): { values: readonly TypedObject[]; problem?: LineProblem } {
  // One damaged byte is no reason to lose the message: it is read with a replacement character.
  const parsed = damaged && parseText(text);
  if (parsed) return { values: [parsed.value], problem: "bad_utf8" };
  const bytes = damaged ?? Buffer.from(text);
  if (bytes.toString("latin1").trim() === "") return { values: [] };
  const values = partsOf(bytes, isPart);
  return { values, problem: values.length > 0 ? "fused" : "malformed" };
}

interface ParsedText {
  readonly value: TypedObject;
  /** No number in it lost digits. */
  readonly isExact: boolean;
}

/** Parsed before it is checked, which is faster; the length of a line is bounded already. */
export function parseText(text: string): ParsedText | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || typeof value.type !== "string") return undefined;
    const flaw = flawOf(value, 1);
    return flaw === Flaw.tooDeep ? undefined : { value: value as TypedObject, isExact: flaw === Flaw.none };
  } catch {
    return undefined; // the caller tries to save parts of the line
  }
}

/** What is wrong with a parsed value, the worst last. */
const Flaw = {
  none: 0,
  /** It holds a number that lost digits. */
  inexact: 1,
  tooDeep: 2,
} as const;

/** By `for in`, which makes no list: this runs over everything that is loaded. Parsed JSON inherits nothing. */
function flawOf(value: object, depth: number): number {
  if (depth > maxNesting) return Flaw.tooDeep;
  let worst: number = Flaw.none;
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === "object" && member !== null) worst = Math.max(worst, flawOf(member, depth + 1));
    else if (typeof member === "number" && isInexact(member)) worst = Math.max(worst, Flaw.inexact);
  }
  return worst;
}

function isInexact(number: number): boolean {
  return number > Number.MAX_SAFE_INTEGER || number < Number.MIN_SAFE_INTEGER;
}

const ownTypes: ReadonlySet<string> = new Set<SessionEntry["type"]>([
  "message",
  "model_change",
  "thinking_level_change",
  "service_tier_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "ttsr_injection",
  "mcp_tool_selection",
  "session_init",
  "mode_change",
  "context_change",
  "session_info",
  "leaf",
  "prune",
]);

/** The exact text of an entry type that we do not know, and of an entry that we would not write again as it was read. */
export function originalOf({ value, isExact }: ParsedText, text: string): string | undefined {
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  const isOurs = ownTypes.has(value.type) && typeof value.timestamp === "string";
  // A copy: what is cut from a text keeps all of it.
  return isOurs && (isExact || JSON.stringify(value) === line) ? undefined : Buffer.from(line).toString();
}

/**
 * The whole objects in a line that holds several, or one among garbage. Works from the end: it takes the longest part
 * that begins like a line and parses, and where there is none, it drops what begins last.
 */
function partsOf(line: Buffer, isPart: (value: TypedObject) => boolean): TypedObject[] {
  const parts: TypedObject[] = [];
  // In bytes that were parsed in vain, or a line of nothing but openings would take forever.
  let budget = 8 * maxLineBytes;
  for (let end = line.length; end > 0 && budget > 0; ) {
    let isFound = false;
    for (let start = line.indexOf(opening); start !== -1 && start < end && budget > 0 && !isFound; ) {
      const part = parseText(line.toString("utf8", start, end))?.value;
      isFound = part !== undefined && isPart(part);
      if (part && isFound) {
        parts.unshift(part);
        end = start;
      } else {
        budget -= end - start;
        start = line.indexOf(opening, start + 1);
      }
    }
    if (!isFound) end = line.lastIndexOf(opening, end - 1);
  }
  return parts;
}

const opening = Buffer.from('{"type":');

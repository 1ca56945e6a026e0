// The diffs of results as hosts of pi draw them: each line behind its sign and its number. The unified text stays beside.

import { isObject } from "../../base/json.js";
import type { ToolResult } from "../../protocol/events.js";

const tools: ReadonlySet<string> = new Set(["edit", "write", "ast_edit"]);

export function withDisplayDiff(toolName: string, result: ToolResult): ToolResult {
  const { details } = result;
  if (!tools.has(toolName) || !isObject(details) || typeof details.diff !== "string" || details.diff === "")
    return result;
  return { ...result, details: { ...details, diff: displayDiff(details.diff), patch: details.diff } };
}

/** `-12 old`, `+12 new`, ` 11 same`, with numbers of one width, and ` ...` between hunks. */
export function displayDiff(unified: string): string {
  const rows: { sign: string; number?: number; text: string }[] = [];
  let [before, after, oldEnd, newEnd] = [0, 0, 0, 0];
  for (const line of unified.replace(/\n$/, "").split("\n")) {
    const isWithin = before < oldEnd || after < newEnd;
    const hunk = isWithin ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [oldEnd, newEnd] = [before + Number(hunk[2] ?? 1), after + Number(hunk[4] ?? 1)];
      if (rows.length > 0) rows.push({ sign: " ", text: "..." });
      continue;
    }
    const [sign = "", text] = [line[0], line.slice(1)];
    if (!isWithin || !"-+ ".includes(sign)) continue; // the head of a file, or a remark on its end
    rows.push({ sign, number: sign === "+" ? after : before, text });
    if (sign !== "+") before++;
    if (sign !== "-") after++;
  }
  const width = Math.max(0, ...rows.map(({ number = 0 }) => `${number}`.length));
  return rows.map(({ sign, number = "", text }) => `${sign}${`${number}`.padStart(width)} ${text}`).join("\n");
}

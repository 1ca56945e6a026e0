// The tools of a request as JSON, written once: they are the longest part of a short request, and the same in nearly
// every request of a session.

import { EncodedJson, jsonText } from "./json-body.js";
import type { ToolSpec } from "./provider.js";

/** How a dialect writes one tool. The same function every time: what it wrote is kept under it. */
export type ToolWriter = (tool: ToolSpec) => object;

interface Written {
  readonly tools: readonly ToolSpec[];
  readonly write: ToolWriter;
  readonly last: string | undefined;
  readonly json: EncodedJson;
}

/** Those of the last request. */
let latest: Written | undefined;

/** `more` is added to the last of them. */
export function encodeTools(tools: readonly ToolSpec[], write: ToolWriter, more?: object): EncodedJson {
  const last = more && jsonText(more);
  if (latest?.write !== write || latest.last !== last || !areSame(latest.tools, tools)) {
    const written = tools.map((tool, index) =>
      more && index === tools.length - 1 ? { ...write(tool), ...more } : write(tool),
    );
    latest = { tools, write, last, json: new EncodedJson(Buffer.from(jsonText(written))) };
  }
  return latest.json;
}

/** A schema stays as it is once it was offered: calls are checked against what it said then. */
function areSame(before: readonly ToolSpec[], now: readonly ToolSpec[]): boolean {
  if (before.length !== now.length) return false;
  // No function for each tool: this is done for every request.
  for (let index = 0; index < now.length; index++) {
    const a = before[index] as ToolSpec;
    const b = now[index] as ToolSpec;
    if (a === b) continue;
    if (a.parameters !== b.parameters || a.description !== b.description || a.name !== b.name || a.strict !== b.strict)
      return false;
  }
  return true;
}

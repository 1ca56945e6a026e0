// Which old tool outputs the context can do without. Pure decisions: the entries stay as they are, and a `prune` entry
// with the ids makes the context show a short text in their place.

import type { SessionEntry } from "../../protocol/entries.js";
import { messageOfEntry } from "../../record/entry-message.js";
import { contextStart, entryTokens, prunedIds } from "../context-usage.js";

const keptOutputTokens = 40_000;
const leastSavedTokens = 20_000;
/** What was read on purpose is what the work depends on. */
const protectedTools: ReadonlySet<string> = new Set(["read", "skill"]);

/** The ids for a `prune` entry; empty when it would save too little to be worth a broken prompt cache. */
export function choosePruned(path: readonly SessionEntry[]): string[] {
  const already = prunedIds(path);
  const chosen: string[] = [];
  let seen = 0;
  let saved = 0;
  for (const entry of path.slice(contextStart(path)).reverse()) {
    const toolName = toolNameOf(entry);
    if (toolName === undefined || already.has(entry.id)) continue;
    const tokens = entryTokens(entry);
    const isOld = seen >= keptOutputTokens;
    seen += tokens;
    const saves = tokens - entryTokens(entry, new Set([entry.id]));
    if (!isOld || protectedTools.has(toolName) || saves <= 0) continue;
    chosen.push(entry.id);
    saved += saves;
  }
  return saved >= leastSavedTokens ? chosen.reverse() : [];
}

/** Results in the context that alone are larger than it may be: with one of them no request would ever fit. */
export function chooseOversized(path: readonly SessionEntry[], limit: number): string[] {
  const already = prunedIds(path);
  return path
    .slice(contextStart(path))
    .filter((entry) => toolNameOf(entry) !== undefined && !already.has(entry.id) && entryTokens(entry) > limit)
    .map(({ id }) => id);
}

function toolNameOf(entry: SessionEntry): string | undefined {
  const message = messageOfEntry(entry);
  return message?.role === "toolResult" ? message.toolName : undefined;
}

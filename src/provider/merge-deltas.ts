// Merges small deltas that arrived together, so that they are handled once.

import type { StreamEvent } from "./provider.js";

/** Neighbouring deltas of one block as one; everything else as it was. */
export function mergeDeltas(events: readonly StreamEvent[]): StreamEvent[] {
  const merged: StreamEvent[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (last && "delta" in last && last.type === event.type && last.contentIndex === event.contentIndex)
      merged[merged.length - 1] = { ...last, delta: last.delta + event.delta };
    else merged.push(event);
  }
  return merged;
}

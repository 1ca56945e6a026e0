// Random histories, compacted again and again: nothing is lost between two compactions, and no cut separates a call
// from its results.

import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { SessionEntry } from "../../protocol/entries.js";
import {
  calls,
  compaction,
  type Draft,
  extend,
  modelChange,
  reply,
  result,
  said,
  user,
  words,
} from "../../record/entries.test-kit.js";
import { contextStart, latestCompactionIndex } from "../context-usage.js";
import { chooseCut } from "./choose-cut.js";

const size = fc.integer({ min: 0, max: 40 });

/** Calls, and their results in any order, with other entries wedged in; the ids repeat now and then. */
const callGroup = fc
  .record({
    ids: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 3 }),
    sizes: fc.array(size, { minLength: 3, maxLength: 3 }),
    wedge: fc.constantFrom("none", "user", "model"),
    answered: fc.boolean(),
  })
  .map(({ ids, sizes, wedge, answered }): Draft[] => {
    const results = ids.map((id, index) => result(id, words(sizes[index] ?? 0)));
    const wedged: Draft[] = wedge === "user" ? [user("wedged")] : wedge === "model" ? [modelChange] : [];
    const [first, ...others] = answered ? results : results.slice(1);
    return [calls(...ids.map((id) => ({ id }))), ...(first ? [first] : []), ...wedged, ...others];
  });

const step = fc.oneof(
  size.map((tokens): Draft[] => [user(words(tokens))]),
  size.map((tokens): Draft[] => [reply(words(tokens))]),
  size.map((tokens): Draft[] => [said({ role: "developer", content: words(tokens), timestamp: 1 })]),
  fc.constant<Draft[]>([modelChange]),
  callGroup,
);
const history = fc.array(step, { maxLength: 12 }).map((steps) => steps.flat());

it("every message is kept or inside a summarised span, calls stay with their results, over compactions in a row", () => {
  fc.assert(
    fc.property(fc.array(history, { minLength: 3, maxLength: 5 }), fc.integer({ min: 1, max: 120 }), (parts, keep) => {
      let path: SessionEntry[] = [];
      const summarised = new Set<string>();
      for (const part of parts) {
        path = extend(path, ...part);
        const before = contextIds(path);
        const cut = chooseCut(path, keep);
        if (!("problem" in cut)) {
          const span = [...cut.history, ...cut.turnHead];
          for (const { id } of span) summarised.add(id);
          const firstKept = path.findIndex(({ id }) => id === cut.firstKeptEntryId);
          // The span and the kept part are exactly what the context held.
          expect([...span, ...path.slice(firstKept)].map(({ id }) => id)).toEqual(before);
          expect(span.some(({ type }) => type === "message")).toBe(true);
          checkPairs(span, path.slice(firstKept));
          checkFirst(path.slice(firstKept));
          path = extend(path, compaction(cut.firstKeptEntryId));
        }
        const inContext = new Set(contextIds(path));
        for (const entry of path)
          if (entry.type === "message") expect(inContext.has(entry.id) || summarised.has(entry.id)).toBe(true);
      }
    }),
    { numRuns: runs(500) },
  );
});

function contextIds(path: readonly SessionEntry[]): string[] {
  return path.slice(contextStart(path)).map(({ id }) => id);
}

/** No result in the kept part answers a call in the span. */
function checkPairs(span: readonly SessionEntry[], kept: readonly SessionEntry[]): void {
  const open = new Set<string>();
  const visit = (entry: SessionEntry, onResult: (id: string) => void) => {
    if (entry.type !== "message") return;
    if (entry.message.role === "assistant")
      for (const block of entry.message.content) if (block.type === "toolCall") open.add(block.id);
    if (entry.message.role === "toolResult") onResult(entry.message.toolCallId);
  };
  for (const entry of span) visit(entry, (id) => open.delete(id));
  const unanswered = new Set(open);
  open.clear();
  for (const entry of kept)
    visit(entry, (id) => {
      if (!open.has(id)) expect(unanswered.has(id)).toBe(false);
    });
}

function checkFirst(kept: readonly SessionEntry[]): void {
  const first = kept.find((entry) => entry.type === "message");
  expect(latestCompactionIndex(kept) === 0).toBe(false);
  expect(first?.type === "message" && first.message.role).not.toBe("toolResult");
}

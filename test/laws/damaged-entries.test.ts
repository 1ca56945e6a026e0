// Session files come from other programs and damaged disks: whatever stands under a known name, measuring, cutting,
// pruning and counting go on.

import fc from "fast-check";
import { expect, it } from "vitest";
import type { SessionEntry } from "../../src/protocol/entries.js";
import { compactionSettings, testModel } from "../../src/record/entries.test-kit.js";
import { sessionStats } from "../../src/record/session-stats.js";
import { planCut } from "../../src/session/compaction/compact.js";
import { collectFiles } from "../../src/session/compaction/file-lists.js";
import { chooseOversized, choosePruned } from "../../src/session/compaction/prune.js";
import { serializeEntries } from "../../src/session/compaction/serialize.js";
import { contextUsage } from "../../src/session/context-usage.js";
import { findOverflow } from "../../src/session/overflow.js";
import { runs } from "../kit/runs.js";

const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
const id = fc.constantFrom("e0", "e1", "e2", "e3");
const block = fc.oneof(
  anything,
  fc.record({
    type: fc.constantFrom("text", "image", "thinking", "toolCall"),
    text: anything,
    id,
    name: anything,
    arguments: anything,
  }),
);
const message = fc.oneof(
  anything,
  fc.record({
    role: fc.constantFrom("user", "assistant", "toolResult", "bashExecution", "custom", "fileMention", "branchSummary"),
    content: fc.oneof(anything, fc.array(block, { maxLength: 3 })),
    usage: fc.oneof(anything, fc.record({ input: anything, cost: anything })),
    stopReason: fc.constantFrom("stop", "error", 7),
    errorMessage: anything,
    error: anything,
    toolCallId: id,
    toolName: fc.constantFrom("task", "read", 7),
    details: anything,
    command: anything,
    output: anything,
    files: anything,
    summary: anything,
    provider: fc.constantFrom("acme", 7, { toString: 1 }),
    model: fc.constantFrom("fable-2", 7, { toString: 1 }),
  }),
);
const entry = fc.record({
  type: fc.constantFrom(
    "message",
    "compaction",
    "prune",
    "custom_message",
    "branch_summary",
    "custom",
    "model_change",
    "?",
  ),
  message,
  summary: fc.oneof(anything, fc.string()),
  firstKeptEntryId: fc.oneof(anything, id),
  entryIds: fc.oneof(anything, fc.array(id)),
  details: anything,
  data: anything,
  customType: fc.constantFrom("billed_usage", 7),
  content: anything,
});

it("no damaged entry stops the session from counting and compacting", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), fc.boolean(), (drafts, mustFree) => {
      const path = drafts.map((draft, index) => ({
        ...draft,
        id: `e${index}`,
        parentId: null,
        timestamp: "",
      })) as unknown as SessionEntry[];
      const { tokens } = contextUsage(path, 200_000);
      expect(tokens === null || Number.isFinite(tokens)).toBe(true);
      findOverflow(path, testModel);
      const settings = { ...compactionSettings, keepRecentTokens: 5 };
      const cut = planCut({ path, contextWindow: 200_000, overheadTokens: 0, settings, mustFree });
      if (!("problem" in cut)) collectFiles([...cut.history, ...cut.turnHead], cut.previous?.details);
      expect(serializeEntries(path).every((piece) => piece.startsWith("["))).toBe(true);
      expect([...choosePruned(path), ...chooseOversized(path, 1)].every((each) => each.startsWith("e"))).toBe(true);
      const stats = sessionStats({ sessionId: "s", entries: path, messages: [] });
      expect(stats.tokens.total).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: runs(400) },
  );
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { contextStart } from "../session/context-usage.js";
import { Bill, billedUsageType } from "./billing.js";
import {
  assistant,
  calls,
  chain,
  compaction,
  type Draft,
  failed,
  reply,
  result,
  said,
  usage,
  user,
} from "./entries.test-kit.js";
import { messageOfEntry } from "./entry-message.js";
import { sessionStats } from "./session-stats.js";

const messagesOf = (entries: readonly SessionEntry[]): AgentMessage[] =>
  entries.flatMap((entry) => messageOfEntry(entry) ?? []);
const cost = (total: number) => ({ input: total, output: 0, cacheRead: 0, cacheWrite: 0, total });

describe("a bill", () => {
  it("adds up reasoning where it is told, as a part of the output", () => {
    const bill = new Bill();
    bill.add("a", { ...usage(10, 5), reasoning: 3 });
    bill.add("a", { ...usage(10, 5), reasoning: 4 });
    bill.add("b", { ...usage(1, 1), reasoning: "x" });
    expect(bill.total).toMatchObject({ input: 21, output: 11, totalTokens: 32, reasoning: 7 });
    expect(bill.byModel.b).not.toHaveProperty("reasoning");
  });
});

describe("sessionStats", () => {
  it("counts the messages of the context and bills every entry", () => {
    const entries = chain(
      user("a"),
      reply("x", { usage: { ...usage(100, 10), cacheRead: 5, cacheWrite: 2, premiumRequests: 1, cost: cost(0.5) } }),
      said({ ...failed("no"), usage: { ...usage(7), cost: cost(0.25) } }),
      calls({ id: "a" }, { id: "b" }),
      result("a", "x"),
      result("b", "y", { toolName: "task", details: { usage: { ...usage(30, 3), cost: cost(1) } } }),
      result("c", "y", { toolName: "other", details: { usage: usage(999) } }),
    );
    const contextUsage = { tokens: 110, contextWindow: 200_000, percent: 0.055 };
    expect(
      sessionStats({ sessionId: "s", sessionFile: "/s.jsonl", entries, messages: messagesOf(entries), contextUsage }),
    ).toEqual({
      sessionId: "s",
      sessionFile: "/s.jsonl",
      userMessages: 1,
      assistantMessages: 3,
      toolCalls: 2,
      toolResults: 3,
      totalMessages: 7,
      tokens: { input: 137, output: 13, cacheRead: 5, cacheWrite: 2, total: 157 },
      premiumRequests: 1,
      cost: 1.75,
      contextUsage,
      compactions: 0,
      byModel: {
        "acme/fable-2": { tokens: { input: 107, output: 10, cacheRead: 5, cacheWrite: 2, total: 124 }, cost: 0.75 },
        task: { tokens: { input: 30, output: 3, cacheRead: 0, cacheWrite: 0, total: 33 }, cost: 1 },
      },
    });
  });

  it("bills summaries, and work that led to nothing", () => {
    const bill = { usage: { "acme/small": { ...usage(40, 4), cost: cost(0.1) } } };
    const entries = chain(
      user("a"),
      compaction("e1", { details: { readFiles: [], modifiedFiles: [], ...bill } }),
      { type: "branch_summary", fromId: "root", summary: "x", details: bill },
      { type: "custom", customType: billedUsageType, data: bill },
      { type: "custom", customType: "other", data: bill },
    );
    expect(sessionStats({ sessionId: "s", entries, messages: [] })).toMatchObject({
      totalMessages: 0,
      tokens: { input: 120, output: 12, total: 132 },
      compactions: 1,
      byModel: { "acme/small": { tokens: { total: 132 } } },
    });
  });

  it("is empty for an empty session, without the members that are unknown", () => {
    expect(sessionStats({ sessionId: "s", entries: [], messages: [] })).toEqual({
      sessionId: "s",
      userMessages: 0,
      assistantMessages: 0,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 0,
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      premiumRequests: 0,
      cost: 0,
      compactions: 0,
      byModel: {},
    });
  });

  it.each([
    null,
    7,
    { input: -5, output: Number.NaN, cost: null },
    { input: "many", cost: { total: Number.POSITIVE_INFINITY } },
  ])("takes nothing from the broken usage %j", (broken) => {
    const entries = chain(
      said(assistant({ usage: broken as never })),
      result("a", "x", { toolName: "task", details: { usage: broken } }),
      compaction("e1", { details: { usage: { "a/b": broken } } }),
      compaction("e1", { details: broken }),
    );
    expect(sessionStats({ sessionId: "s", entries, messages: [] })).toMatchObject({
      tokens: { total: 0 },
      cost: 0,
      byModel: {},
    });
  });

  it("adds up a cost that comes without its total", () => {
    const entries = chain(reply("x", { usage: { ...usage(1), cost: { ...cost(0), input: 0.5, output: 0.25 } } }));
    expect(sessionStats({ sessionId: "s", entries, messages: [] }).cost).toBe(0.75);
  });

  it("tokens and cost never fall, whatever is appended, compacted or left behind", () => {
    const amount = fc.oneof(fc.integer({ min: -5, max: 1000 }), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY));
    const someUsage = fc.record({ input: amount, output: amount, total: amount }).map(({ input, output, total }) => ({
      ...usage(input, output),
      cost: cost(total),
    }));
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("append" as const),
        draft: fc.oneof(
          fc.constant(user("x")),
          someUsage.map((each) => reply("x", { usage: each })),
          someUsage.map((each): Draft => said({ ...failed("no"), usage: each })),
          someUsage.map((each) => result("a", "x", { toolName: "task", details: { usage: each } })),
        ),
      }),
      fc.record({ kind: fc.constant("compact" as const), used: someUsage }),
      fc.record({ kind: fc.constant("leaf" as const), back: fc.integer({ min: 0, max: 10 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const entries: SessionEntry[] = [];
        let path: SessionEntry[] = [];
        let before = sessionStats({ sessionId: "s", entries, messages: [] });
        const append = (draft: Draft) => {
          const entry = {
            ...draft,
            id: `e${entries.length}`,
            parentId: path.at(-1)?.id ?? null,
            timestamp: "",
          } as SessionEntry;
          entries.push(entry);
          path = [...path, entry];
        };
        for (const each of steps) {
          if (each.kind === "append") append(each.draft);
          else if (each.kind === "leaf") path = path.slice(0, Math.max(0, path.length - each.back));
          else append(compaction(path.at(-1)?.id ?? "", { details: { usage: { "acme/fable-2": each.used } } }));
          const messages = messagesOf(path.slice(contextStart(path)));
          const after = sessionStats({ sessionId: "s", entries, messages });
          expect(after.totalMessages).toBe(messages.length);
          for (const key of ["input", "output", "cacheRead", "cacheWrite", "total"] as const)
            expect(after.tokens[key]).toBeGreaterThanOrEqual(before.tokens[key]);
          expect(after.cost).toBeGreaterThanOrEqual(before.cost);
          before = after;
        }
      }),
    );
  });
});

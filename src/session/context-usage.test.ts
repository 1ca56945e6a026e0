import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../protocol/messages.js";
import {
  assistant,
  calls,
  chain,
  compaction,
  compactionSettings,
  failed,
  modelChange,
  reply,
  result,
  said,
  usage,
  user,
  words,
} from "../record/entries.test-kit.js";
import {
  contextLimit,
  contextStart,
  contextTokens,
  contextUsage,
  estimateRatio,
  estimateTokens,
  prunedText,
  tokensPerImage,
} from "./context-usage.js";

const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
const execution = { output: words(10), cancelled: false, truncated: false, timestamp: 1 };

describe("estimateTokens", () => {
  it.each<[number, AgentMessage]>([
    [10, { role: "user", content: words(10), timestamp: 1 }],
    [10 + tokensPerImage, { role: "user", content: [{ type: "text", text: words(10) }, image], timestamp: 1 }],
    [10, { role: "developer", content: words(10), timestamp: 1 }],
    [10, { role: "custom", customType: "x", content: words(10), display: true, timestamp: 1 }],
    [10, { role: "hookMessage", customType: "x", content: words(10), display: true, timestamp: 1 }],
    [11, { role: "bashExecution", command: "true", ...execution }],
    [0, { role: "bashExecution", command: "true", ...execution, excludeFromContext: true }],
    [11, { role: "pythonExecution", code: "pass", ...execution }],
    [10, { role: "compactionSummary", summary: words(10), tokensBefore: 0, timestamp: 1 }],
    [10, { role: "branchSummary", summary: words(10), fromId: "root", timestamp: 1 }],
    [11 + tokensPerImage, { role: "fileMention", files: [{ path: "a.ts", content: words(10), image }], timestamp: 1 }],
    [
      10,
      {
        role: "toolResult",
        toolCallId: "c",
        toolName: "t",
        content: [{ type: "text", text: words(10) }],
        isError: false,
        timestamp: 1,
      },
    ],
    [
      9,
      assistant({
        content: [
          { type: "text", text: words(2) },
          { type: "thinking", thinking: words(2) },
          { type: "redactedThinking", data: words(1) },
          { type: "toolCall", id: "c", name: "grep", arguments: { a: "b" } },
        ],
      }),
    ],
  ])("is %i for %j", (tokens, message) => {
    expect(estimateTokens(message)).toBe(tokens);
  });
});

describe("contextTokens", () => {
  it("is the last report plus an estimate of what came after it", () => {
    const path = chain(
      user(words(10)),
      reply("old", { usage: usage(5, 5) }),
      reply("new", { usage: { ...usage(100, 20), cacheRead: 30, cacheWrite: 4 } }),
      result("c", words(7)),
      modelChange,
      user(words(3)),
    );
    expect(contextTokens(path)).toEqual({ tokens: 164, isReported: true });
  });

  it("ignores the reports of failed, aborted and silent replies", () => {
    const path = chain(
      user(words(10)),
      reply(words(5), { usage: usage(100) }),
      reply(words(1), { usage: usage(0) }),
      said({ ...failed("no"), usage: usage(7) }),
      reply("", { stopReason: "aborted", usage: usage(9) }),
    );
    expect(contextTokens(path)).toEqual({ tokens: 101, isReported: true });
  });

  it("estimates everything when no usage was reported", () => {
    const custom = { type: "custom_message" as const, customType: "x", content: words(2), display: false };
    const branch = { type: "branch_summary" as const, fromId: "root", summary: words(3) };
    expect(contextTokens(chain(user(words(10)), reply(words(5)), custom, branch))).toEqual({
      tokens: 20,
      isReported: false,
    });
    expect(contextTokens([])).toEqual({ tokens: 0, isReported: false });
  });

  it("does not use reports from before the latest compaction, and counts what it kept", () => {
    const before = [user(words(50)), reply(words(5), { usage: usage(90_000) }), user(words(4))];
    const path = chain(...before, compaction("e2", { summary: words(6) }), user(words(1)));
    expect(contextTokens(path)).toEqual({ tokens: 5 + 4 + 6 + 1, isReported: false });
    const told = chain(...before, compaction("e2"), user("x"), reply("y", { usage: usage(40) }));
    expect(contextTokens(told)).toEqual({ tokens: 40, isReported: true });
  });

  it("keeps nothing of what a compaction kept that is not on the path", () => {
    const path = chain(user(words(50)), compaction("gone", { summary: words(6) }), user(words(1)));
    expect([contextStart(path), contextTokens(path).tokens]).toEqual([2, 7]);
  });

  it("does not count what was pruned after the report, and counts it once", () => {
    const short = Math.ceil(prunedText(1000).length / 4);
    const heard = [user("x"), calls({ id: "c" }), result("c", words(1000))];
    const prune = { type: "prune" as const, entryIds: ["e3"] };
    const report = reply("y", { usage: usage(5000) });
    expect(contextTokens(chain(...heard, report, prune)).tokens).toBe(5000 - 1000 + short);
    expect(contextTokens(chain(...heard, prune, report)).tokens).toBe(5000);
    expect(contextTokens(chain(...heard, prune, report, prune)).tokens).toBe(5000);
    expect(contextTokens(chain(user("x"), result("c", words(1000)), { ...prune, entryIds: ["e2"] })).tokens).toBe(
      1 + short,
    );
    expect(prunedText(1000)).toBe("[Output truncated - 1000 tokens]");
  });
});

describe("contextUsage", () => {
  it("tells tokens and percent", () => {
    expect(contextUsage(chain(user("x"), reply("y", { usage: usage(50_000) })), 200_000)).toEqual({
      tokens: 50_000,
      contextWindow: 200_000,
      percent: 25,
    });
    expect(contextUsage([], 200_000)).toEqual({ tokens: 0, contextWindow: 200_000, percent: 0 });
  });

  it("knows nothing right after a compaction, and something again after the next reply", () => {
    const path = chain(user("x"), reply("y", { usage: usage(50_000) }), compaction("e2"), user("z"));
    expect(contextUsage(path, 1000)).toEqual({ tokens: null, contextWindow: 1000, percent: null });
    const told = chain(user("x"), compaction("e1"), user("z"), reply("y", { usage: usage(10) }));
    expect(contextUsage(told, 1000)).toEqual({ tokens: 10, contextWindow: 1000, percent: 1 });
  });

  it("is an estimate again after a reply of a service that reports nothing, though not after a failed one", () => {
    const silent = { usage: usage(0) };
    const path = chain(user("x"), compaction("e1"), user(words(40)), reply(words(60), silent), user(words(100)));
    expect(contextUsage(path, 1000)).toEqual({ tokens: 203, contextWindow: 1000, percent: 20.3 }); // 3: the summary
    const broken = chain(user("x"), compaction("e1"), user("z"), reply("", { ...silent, stopReason: "error" }));
    expect(contextUsage(broken, 1000)).toEqual({ tokens: null, contextWindow: 1000, percent: null });
  });
});

describe("estimateRatio", () => {
  it("compares the report with an estimate of the same messages and what goes with them", () => {
    const path = chain(user(words(60)), reply(words(40), { usage: usage(300) }), user(words(999)));
    expect(estimateRatio(path, 0)).toBe(3);
    expect(estimateRatio(path, 100)).toBe(1.5);
    expect(estimateRatio(path, 900)).toBe(1);
    expect(estimateRatio(chain(user("x"), reply("y", { usage: usage(9000) })), 0)).toBe(4);
    expect(estimateRatio(chain(user("x")), 0)).toBe(1);
  });
});

describe("contextLimit", () => {
  it("takes tokens, else percent, else the window without its reserve", () => {
    const limit = (changes: object, window = 200_000) => contextLimit(window, { ...compactionSettings, ...changes });
    expect(limit({ thresholdTokens: 100_000, thresholdPercent: 10 })).toBe(100_000);
    expect(limit({ thresholdTokens: 500_000 })).toBe(199_999);
    expect(limit({ thresholdPercent: 80 })).toBe(160_000);
    for (const thresholdPercent of [0, -1, 100]) expect(limit({ thresholdPercent })).toBe(170_000);
    expect(limit({}, 64_000)).toBe(64_000 - 16_384);
    expect(limit({}, 24_576)).toBe(24_576 - 16_384);
    expect(limit({}, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it("leaves a window that is hardly larger than the reserve room to work in", () => {
    const limit = (window: number) => contextLimit(window, compactionSettings);
    expect([20_000, 16_384, 8000].map(limit)).toEqual([8192, 8192, 4000]);
  });
});

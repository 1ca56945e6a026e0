import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { buildContext, ContextBuilder } from "./build-context.js";
import { assistant, chain, compaction, reply, said, user } from "./entries.test-kit.js";
import { EntryTree } from "./entry-tree.js";
import { entryLists, header, userEntry } from "./store/store.test-kit.js";

const texts = (messages: readonly AgentMessage[]) =>
  messages.map((message) => {
    if ("summary" in message) return `${message.role}:${message.summary}`;
    if (!("content" in message)) return message.role;
    const { content } = message;
    return typeof content === "string"
      ? content
      : content.map((block) => ("text" in block ? block.text : block.type)).join();
  });

describe("messages", () => {
  it("none without entries", () => {
    expect(buildContext([])).toMatchObject({ messages: [], entryIds: [], warnings: [], compaction: undefined });
  });

  it("come from messages, custom messages and branch summaries, in order", () => {
    const context = buildContext(
      chain(
        user("hi"),
        {
          type: "custom_message",
          customType: "note",
          content: "seen",
          display: true,
          details: { a: 1 },
          attribution: "agent",
        },
        { type: "custom", customType: "state", data: 1 },
        { type: "branch_summary", fromId: "x9", summary: "elsewhere" },
        reply("hello"),
      ),
    );
    expect(context.messages[1]).toEqual({
      role: "custom",
      customType: "note",
      content: "seen",
      display: true,
      details: { a: 1 },
      attribution: "agent",
      timestamp: 1_767_600_001_000,
    });
    expect(context.messages[2]).toEqual({
      role: "branchSummary",
      summary: "elsewhere",
      fromId: "x9",
      timestamp: 1_767_600_003_000,
    });
    expect(context.entryIds).toEqual(["e1", "e2", "e4", "e5"]);
    expect(context.warnings).toEqual([]);
  });

  it("that cannot be used are left out, and said so", () => {
    const bad = said({ role: "user", content: 5 } as never);
    const context = buildContext(chain(user("a"), bad, user("b")));
    expect(texts(context.messages)).toEqual(["a", "b"]);
    expect(context.warnings).toEqual(["Entry e2 holds no message that can be used"]);
  });
});

describe("a compaction", () => {
  it("opens with its summary, then what it kept, then what follows", () => {
    const entries = chain(user("a"), reply("b"), user("c"), reply("d"), compaction("e3"), user("e"));
    const context = buildContext(entries);
    expect(texts(context.messages)).toEqual(["compactionSummary:Summary.", "c", "d", "e"]);
    expect(context.entryIds).toEqual(["e5", "e3", "e4", "e6"]);
    expect(context.messages[0]).toEqual({
      role: "compactionSummary",
      summary: "Summary.",
      tokensBefore: 0,
      timestamp: 1_767_600_004_000,
    });
    expect(context.compaction).toBe(entries[4]);
  });

  it("only the last one counts, and may keep what an earlier one kept", () => {
    const entries = chain(
      user("a"),
      user("b"),
      compaction("e2", { summary: "one" }),
      user("c"),
      compaction("e2", { summary: "two" }),
    );
    expect(texts(buildContext(entries).messages)).toEqual(["compactionSummary:two", "b", "c"]);
  });

  it("keeps nothing, with a warning, when its first entry is not before it on the path", () => {
    for (const first of ["gone", "e3", ""]) {
      const context = buildContext(chain(user("a"), user("b"), compaction(first), user("c")));
      expect(texts(context.messages)).toEqual(["compactionSummary:Summary.", "c"]);
      expect(context.warnings).toHaveLength(1);
    }
  });

  it("without a summary is no compaction", () => {
    const context = buildContext(
      chain(user("a"), { type: "compaction", firstKeptEntryId: "e1", tokensBefore: 1 } as never),
    );
    expect(texts(context.messages)).toEqual(["a"]);
    expect(context.warnings).toEqual(["Compaction e2 has no summary and is left out"]);
  });
});

describe("state along the path", () => {
  it("the last thinking level, rules told, mode, pruned entries", () => {
    const context = buildContext(
      chain(
        { type: "thinking_level_change", thinkingLevel: "low" },
        { type: "ttsr_injection", injectedRules: ["a", "b"] },
        { type: "thinking_level_change", thinkingLevel: "high" },
        { type: "ttsr_injection", injectedRules: ["b", "c"] },
        { type: "mode_change", mode: "plan", data: { step: 1 } },
        { type: "prune", entryIds: ["x", "y"] },
      ),
    );
    expect(context.thinkingLevel).toBe("high");
    expect([...context.injectedRules]).toEqual(["a", "b", "c"]);
    expect(context.mode).toEqual({ name: "plan", data: { step: 1 } });
    expect([...context.prunedEntryIds]).toEqual(["x", "y"]);
  });

  it("tells an unset thinking level from a reset one", () => {
    expect(buildContext(chain(user("a"))).thinkingLevel).toBeUndefined();
    const reset = { type: "thinking_level_change", thinkingLevel: null } as const;
    expect(
      buildContext(chain({ type: "thinking_level_change", thinkingLevel: "low" }, reset)).thinkingLevel,
    ).toBeNull();
  });

  it("models by role, in both spellings; temporary is not the default", () => {
    const context = buildContext(
      chain(
        { type: "model_change", provider: "acme", modelId: "one" },
        { type: "model_change", model: "acme/two", role: "smol" },
        { type: "model_change", model: "acme/three", role: "temporary" },
      ),
    );
    expect(Object.fromEntries(context.models)).toEqual({
      default: "acme/one",
      smol: "acme/two",
      temporary: "acme/three",
    });
  });

  it("the model of the last reply is used only if none was chosen", () => {
    const fallback = reply("x", { provider: "other", model: "fallback" });
    expect(buildContext(chain(reply("a"), fallback)).models.get("default")).toBe("other/fallback");
    const chosen = { type: "model_change", model: "acme/fable-2" } as const;
    expect(buildContext(chain(chosen, fallback)).models.get("default")).toBe("acme/fable-2");
    const temporary = { type: "model_change", model: "acme/t", role: "temporary" } as const;
    expect(buildContext(chain(temporary, fallback)).models.get("default")).toBe("other/fallback");
  });

  it("survives entries with the right name and the wrong members", () => {
    const bad = [
      "model_change",
      "thinking_level_change",
      "ttsr_injection",
      "mode_change",
      "prune",
      "compaction",
      "branch_summary",
      "custom_message",
      "message",
      "label",
    ];
    const context = buildContext(chain(user("a"), ...bad.map((type) => ({ type }) as never), user("b")));
    expect(texts(context.messages)).toEqual(["a", "b"]);
  });
});

describe("growing by one", () => {
  it("keeps the list and the revision while only messages come", () => {
    const builder = new ContextBuilder();
    for (const entry of chain(user("a"), user("b"))) builder.push(entry);
    const { messages, revision } = builder;
    for (const entry of chain(user("c"), { type: "thinking_level_change", thinkingLevel: "low" })) builder.push(entry);
    expect(builder.messages).toBe(messages);
    expect(builder.revision).toBe(revision);
  });

  it("changes the revision when what is there changes", () => {
    const builder = new ContextBuilder(5);
    expect(builder.revision).toBe(5);
    for (const entry of chain(user("a"), { type: "prune", entryIds: ["e1"] })) builder.push(entry);
    expect(builder.revision).toBe(6);
    for (const entry of chain(user("a"), compaction("e1"))) builder.push(entry);
    expect(builder.revision).toBe(7);
  });

  it("is what a fresh look at the path finds, for random trees and leaf moves", () => {
    fc.assert(
      fc.property(entryLists, (entries) => {
        const tree = new EntryTree(header);
        let builder = new ContextBuilder();
        for (const entry of entries) {
          const before = tree.leafId;
          tree.append(entry);
          if (entry.type === "leaf") {
            if (tree.leafId === before) continue;
            builder = new ContextBuilder(builder.revision + 1);
            for (const step of tree.pathTo()) builder.push(step);
          } else if (tree.leafId === entry.id) builder.push(entry);
        }
        expect(plain(builder)).toEqual(expected(tree.pathTo()));
      }),
      { numRuns: runs(300) },
    );
  });

  it("takes a hundred thousand messages in one list", () => {
    const builder = new ContextBuilder();
    for (let index = 0; index < 100_000; index++) builder.push(userEntry(`${index}`, null));
    expect(builder.messages).toHaveLength(100_000);
  });
});

function plain({ messages, entryIds, thinkingLevel, models, injectedRules, prunedEntryIds, mode }: ContextBuilder) {
  return {
    messages,
    entryIds,
    thinkingLevel,
    models: Object.fromEntries(models),
    injectedRules: [...injectedRules],
    pruned: [...prunedEntryIds],
    mode: mode?.name,
  };
}

/** The rules said another way: from the end of the path, not along it. */
function expected(path: readonly SessionEntry[]): ReturnType<typeof plain> {
  const last = <Type extends SessionEntry["type"]>(type: Type) =>
    path.findLast((entry): entry is Extract<SessionEntry, { type: Type }> => entry.type === type);
  const at = path.findLastIndex(({ type }) => type === "compaction");
  const cut = path[at]?.type === "compaction" ? path[at] : undefined;
  const first = cut ? path.findIndex(({ id }) => id === cut.firstKeptEntryId) : 0;
  const kept = first === -1 || (cut && first >= at) ? [] : path.slice(first, cut ? at : undefined);
  const shown = cut ? [cut, ...kept, ...path.slice(at + 1)] : kept;
  const isShown = (entry: SessionEntry) =>
    entry === cut || ["message", "custom_message", "branch_summary"].includes(entry.type);
  const time = Date.parse("2026-01-05T08:00:00.000Z");
  const message = (entry: SessionEntry): AgentMessage => {
    switch (entry.type) {
      case "message":
        return entry.message;
      case "custom_message":
        return {
          role: "custom",
          customType: entry.customType,
          content: entry.content,
          display: entry.display,
          timestamp: time,
        };
      case "branch_summary":
        return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp: time };
      case "compaction":
        return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp: time };
      default:
        throw new Error(entry.type);
    }
  };
  const models: Record<string, string> = {};
  const spoke = path
    .map((entry) => (entry.type === "message" ? entry.message : undefined))
    .findLast((m) => m?.role === "assistant");
  if (spoke?.role === "assistant") models.default = `${spoke.provider}/${spoke.model}`;
  for (const entry of path)
    if (entry.type === "model_change")
      if ("model" in entry) models[entry.role ?? "default"] = entry.model;
      else models.default = `${entry.provider}/${entry.modelId}`;
  const unique = (lists: readonly string[][]) => [...new Set(lists.flat())];
  return {
    messages: shown.filter(isShown).map(message),
    entryIds: shown.filter(isShown).map(({ id }) => id),
    thinkingLevel: last("thinking_level_change")?.thinkingLevel,
    models,
    injectedRules: unique(path.map((entry) => (entry.type === "ttsr_injection" ? entry.injectedRules : []))),
    pruned: unique(path.map((entry) => (entry.type === "prune" ? entry.entryIds : []))),
    mode: last("mode_change")?.mode,
  };
}

it("an assistant without a model is not a choice of model", () => {
  const nameless = said(assistant({ provider: "", model: "" }));
  expect(buildContext(chain(nameless)).models.size).toBe(0);
});

// What comes of several handlers' answers, hook by hook.

import { describe, expect, it } from "vitest";
import { openExtensions } from "../../../test/kit/extension-modules.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { ExtensionFactory } from "../api/extension.js";
import type { ExtensionEvent } from "./hooks.js";

/** One extension per answer; an answer may be a function of the event. */
async function ask<Event extends ExtensionEvent>(event: Event, answers: readonly unknown[]) {
  const seen: Record<string, unknown>[] = [];
  const extensions = answers.map(
    (answer): ExtensionFactory =>
      (pi) =>
        pi.on(event.type as string, (shown) => {
          seen.push(shown);
          return typeof answer === "function" ? answer(shown) : answer;
        }),
  );
  const opened = await openExtensions(extensions);
  return { outcome: await opened.runner.emit(event), seen, told: opened.told };
}

const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
const { signal } = new AbortController();
const nothing = {
  messagesToSummarize: [],
  turnPrefixMessages: [],
  isSplitTurn: false,
  settings: { enabled: true, reserveTokens: 1, keepRecentTokens: 1 },
};

describe("a session is about to change", () => {
  it.each([
    { type: "session_before_switch" as const, reason: "new" as const },
    { type: "session_before_branch" as const, entryId: "e1", position: "before" as const },
    {
      type: "session_before_tree" as const,
      signal,
      preparation: { targetId: "e1", oldLeafId: null, entriesToSummarize: [], userWantsSummary: false },
    },
    {
      type: "session_before_compact" as const,
      signal,
      branchEntries: [],
      preparation: { firstKeptEntryId: "e2", tokensBefore: 10, ...nothing },
    },
  ])("the first cancel wins, nobody is asked after it: $type", async (event) => {
    const { outcome, seen } = await ask(event, [undefined, { cancel: false }, { cancel: true }, { cancel: false }]);
    expect(outcome).toMatchObject({ cancel: true });
    expect(seen).toHaveLength(3);
    expect((await ask(event, [undefined, {}, 7])).outcome).toMatchObject({ cancel: false });
  });

  it("a handler that fails vetoes nothing", async () => {
    const fails = () => {
      throw new Error("no luck");
    };
    const { outcome, told } = await ask({ type: "session_before_switch", reason: "resume" }, [fails, {}]);
    expect(outcome).toEqual({ cancel: false });
    expect(told).toEqual(["ext1 session_before_switch: no luck"]);
  });

  it("a branch may leave the conversation as it is", async () => {
    const answers = [{ skipConversationRestore: true }, undefined];
    const { outcome } = await ask({ type: "session_before_branch", entryId: "e1", position: "before" }, answers);
    expect(outcome).toEqual({ cancel: false, skipConversationRestore: true });
  });

  it("the last summary of a branch, and the last compaction, count; what is none does not", async () => {
    const preparation = { targetId: "e1", oldLeafId: "e9", entriesToSummarize: [], userWantsSummary: true };
    const notes = [{ summary: { summary: "one" } }, { summary: { summary: "two", details: 2 } }, { summary: "three" }];
    const tree = await ask({ type: "session_before_tree", preparation, signal }, notes);
    expect(tree.outcome).toEqual({ cancel: false, summary: { summary: "two", details: 2 } });
    expect(tree.told).toEqual(["ext3 session_before_tree: summary must be an object"]);
    expect(tree.seen[0]?.signal).toBe(signal);

    const kept = { firstKeptEntryId: "e2", tokensBefore: 10 };
    const compaction = await ask(
      {
        type: "session_before_compact",
        preparation: { ...kept, ...nothing },
        branchEntries: [],
        customInstructions: "short",
        signal,
      },
      [
        { compaction: { ...kept, summary: "one" } },
        { compaction: { ...kept, summary: "two", extra: 1 } },
        { compaction: kept },
      ],
    );
    expect(compaction.outcome).toEqual({ cancel: false, compaction: { ...kept, summary: "two" } });
    expect(compaction.told).toEqual(["ext3 session_before_compact: compaction.summary must be a string"]);
  });

  it("the last wishes for a summary count as a whole", async () => {
    const event = { type: "session.compacting" as const, sessionId: "s", messages: [] };
    const answers = [{ context: ["a"], prompt: "p" }, { context: ["b"], preserveData: { k: 1 } }, {}, { context: "c" }];
    const { outcome, told } = await ask(event, answers);
    expect(outcome).toEqual({ context: ["b"], preserveData: { k: 1 } });
    expect(told).toEqual(["ext4 session.compacting: context must be a list of strings"]);
  });
});

describe("input", () => {
  const event = { type: "input" as const, text: "hello", source: "rpc" as const };

  it("is passed on from one to the next, in both forms", async () => {
    const { outcome, seen } = await ask(event, [
      { text: "hello 1" },
      { action: "transform", text: "hello 2", images: [image] },
      { action: "continue", text: "ignored" },
      undefined,
    ]);
    expect(outcome).toEqual({ handled: false, text: "hello 2", images: [image] });
    expect(seen.map(({ text }) => text)).toEqual(["hello", "hello 1", "hello 2", "hello 2"]);
  });

  it.each([{ handled: true }, { action: "handled" }])(
    "is over for the model once it is handled: %j",
    async (answer) => {
      const { outcome, seen } = await ask(event, [answer, { text: "late" }]);
      expect(outcome).toEqual({ handled: true, text: "hello" });
      expect(seen).toHaveLength(1);
    },
  );

  it("stays as it was where an answer is no text", async () => {
    const { outcome, told } = await ask(event, [{ text: 7 }, { images: ["x"] }]);
    expect(outcome).toEqual({ handled: false, text: "hello" });
    expect(told).toEqual(["ext1 input: text must be a string", "ext2 input: images must be a list of images"]);
  });
});

describe("what the model is told", () => {
  it("before a run: messages are collected, the system prompt is passed on", async () => {
    const systemPromptOptions = { cwd: "/project", selectedTools: ["read"], contextFiles: [], skills: [] };
    const event = { type: "before_agent_start" as const, prompt: "go", systemPrompt: "base", systemPromptOptions };
    const message = { customType: "notes", content: "remember", display: true };
    const { outcome, told } = await ask(event, [
      { message, systemPrompt: "base, then one" },
      (shown: { systemPrompt: string }) => ({ message, systemPrompt: `${shown.systemPrompt}, then two` }),
      { message: { customType: "", content: 7 } },
    ]);
    const whole = { ...message, attribution: "agent" };
    expect(outcome).toEqual({ messages: [whole, whole], systemPrompt: "base, then one, then two" });
    expect(told).toEqual([
      "ext3 before_agent_start: A custom message needs a customType, and content of texts and images",
    ]);
  });

  it("before each call: handlers get copies, and what they return is passed on", async () => {
    const messages: AgentMessage[] = [
      { role: "user", content: "one", timestamp: 1 },
      { role: "user", content: "two", timestamp: 2 },
    ];
    const { outcome, told } = await ask({ type: "context", messages }, [
      (shown: { messages: { content: string }[] }) => {
        for (const message of shown.messages) message.content = "spoiled";
      },
      (shown: { messages: unknown[] }) => ({ messages: shown.messages.slice(1) }),
      (shown: { messages: unknown[] }) => ({ messages: [...shown.messages, { role: "user", content: "three" }] }),
      { messages: [{ role: "wizard" }] },
    ]);
    expect(outcome).toEqual({ messages: [messages[1], { role: "user", content: "three", timestamp: 0 }] });
    expect(messages[0]).toEqual({ role: "user", content: "one", timestamp: 1 });
    expect(told).toEqual(["ext4 context: messages[0] is not a message"]);
  });
});

describe("others", () => {
  it("user_bash: the first result wins", async () => {
    const event = { type: "user_bash" as const, command: "ls", excludeFromContext: false, cwd: "/project" };
    const answers = [undefined, { result: 7 }, { operations: {} }, { result: { output: "a", exitCode: 1 } }, {}];
    const { outcome, seen, told } = await ask(event, answers);
    expect(outcome).toEqual({ result: { output: "a", exitCode: 1, cancelled: false, truncated: false } });
    expect(seen).toHaveLength(4);
    expect(told).toEqual([
      "ext2 user_bash: result must be an object",
      "ext3 user_bash: operations must have a function exec",
    ]);
  });

  it("project_trust: the first decision wins; a failure decides nothing", async () => {
    const event = { type: "project_trust" as const, cwd: "/project" };
    const fails = () => Promise.reject(new Error("no"));
    const decided = await ask(event, [fails, { trusted: "undecided" }, { trusted: "no" }, { trusted: "yes" }]);
    expect(decided.outcome).toEqual({ trusted: "no", remember: false });
    const unclear = await ask(event, [{ trusted: true }, undefined, {}]);
    expect(unclear.outcome).toEqual({ trusted: "undecided", remember: false });
    expect(unclear.told).toEqual(['ext1 project_trust: trusted must be "yes", "no" or "undecided"']);
  });

  it("a name like one of Object's members is nothing special", async () => {
    const { runner } = await openExtensions([(pi) => pi.on("toString", () => ({ cancel: true }))]);
    expect(await runner.emit({ type: "toString" } as never)).toBeUndefined();
  });
});

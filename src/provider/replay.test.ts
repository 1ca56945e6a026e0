import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantContent, InputContent } from "../protocol/content.js";
import type { AssistantMessage, StopReason, ToolResultMessage } from "../protocol/messages.js";
import { openAi } from "../testing/scripted-replies.js";
import { type ModelMessage, zeroUsage } from "./provider.js";
import { plainIds, prepareReplay } from "./replay.js";

const model = openAi.model("http://127.0.0.1:1");
const other = { ...model, id: "other" };

function reply(content: AssistantContent[], stopReason: StopReason = "stop"): AssistantMessage {
  const { api, provider, id } = model;
  return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason, timestamp: 5 };
}

function call(id: string): AssistantContent {
  return { type: "toolCall", id, name: "read", arguments: {}, thoughtSignature: "t" };
}

function result(toolCallId: string, text = "ok"): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 6,
  };
}

const user = (content: string | InputContent[]): ModelMessage => ({ role: "user", content, timestamp: 1 });
const blocksOf = (messages: ModelMessage[]) => messages.flatMap((m) => (m.role === "assistant" ? m.content : []));

const signed: AssistantContent[] = [
  { type: "thinking", thinking: "hm", thinkingSignature: "s" },
  { type: "thinking", thinking: " ", thinkingSignature: "s" },
  { type: "redactedThinking", data: "x" },
  { type: "text", text: "hi", textSignature: "s" },
];

describe("signatures", () => {
  it("stay with the model that made them", () => {
    expect(blocksOf(prepareReplay([reply([...signed, call("a")])], model))).toEqual([...signed, call("a")]);
  });

  it.each([
    ["another id", other],
    ["another provider", { ...model, provider: "x" }],
    ["another api", { ...model, api: "x" }],
  ])("go for %s: thoughts turn into text", (_name, target) => {
    expect(blocksOf(prepareReplay([reply([...signed, call("a")])], target))).toEqual([
      { type: "text", text: "hm" },
      { type: "text", text: "hi" },
      { type: "toolCall", id: "a", name: "read", arguments: {} },
    ]);
  });

  it.each(["error", "aborted"] as const)("go from a reply that ended in %s", (stopReason) => {
    expect(blocksOf(prepareReplay([reply([...signed, call("a")], stopReason)], model))).toEqual([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "hi" },
      { type: "toolCall", id: "a", name: "read", arguments: {} },
    ]);
  });

  it("leave nothing behind: an empty reply is left out", () => {
    expect(prepareReplay([user("q"), reply([], "error")], model)).toEqual([user("q")]);
    expect(prepareReplay([reply([{ type: "redactedThinking", data: "x" }])], other)).toEqual([]);
  });
});

describe("calls and results", () => {
  it("adds results for calls that have none", () => {
    const texts = (stopReason: StopReason) =>
      prepareReplay([reply([call("a")], stopReason), user("next")], model).map((message) => [
        message.role,
        message.content,
        "isError" in message && message.isError,
      ]);
    expect(texts("toolUse")[1]).toEqual(["toolResult", [{ type: "text", text: "No result provided" }], true]);
    expect(texts("aborted")[1]).toEqual(["toolResult", [{ type: "text", text: "aborted" }], true]);
    expect(texts("error")[1]).toEqual(["toolResult", [{ type: "text", text: "aborted" }], true]);
  });

  it("moves late results to their calls, in the order of the calls, and drops unknown ones", () => {
    const turn = reply([call("a"), call("b")], "toolUse");
    const messages = [
      result("a", "too early"),
      turn,
      user("steer"),
      result("b"),
      result("nobody"),
      result("a"),
      result("a", "again"),
    ];
    expect(prepareReplay(messages, model)).toEqual([turn, result("a"), result("b"), user("steer")]);
  });

  it("renames ids that the target refuses, for call and result alike", () => {
    const messages = [
      reply([call("x|y"), call("call_1"), call("")]),
      result("x|y", "1"),
      result("call_1", "2"),
      result("", "3"),
    ];
    const prepared = prepareReplay(messages, other);
    expect(blocksOf(prepared).map((block) => "id" in block && block.id)).toEqual(["call_1", "call_2", "call_3"]);
    expect(prepared.slice(1)).toEqual([result("call_1", "1"), result("call_2", "2"), result("call_3", "3")]);
  });

  it("tells equal ids of different turns apart", () => {
    const prepared = prepareReplay([reply([call("a")]), result("a", "1"), reply([call("a")]), result("a", "2")], model);
    expect(prepared[1]).toEqual(result("a", "1"));
    expect(prepared[3]).toEqual(result("call_1", "2"));
  });

  it("gives equal ids of one turn their results in order, and the newest turn its own first", () => {
    const messages = [
      reply([call("a"), call("a")]),
      reply([call("a"), call("b"), call("a")]),
      ...["1", "2", "3"].map((text) => result("a", text)),
    ];
    const texts = prepareReplay(messages, model).map((message) => "toolCallId" in message && message.content);
    const said = ["3", "No result provided", "1", "No result provided", "2"].map((text) => [{ type: "text", text }]);
    expect(texts).toEqual([false, ...said.slice(0, 2), false, ...said.slice(2)]);
  });
});

it("takes pictures from a model that cannot see", () => {
  const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
  const blind = { ...model, input: ["text" as const] };
  const messages = [user([image]), reply([call("a")]), { ...result("a"), content: [image] }];
  const omitted = [{ type: "text", text: "[image omitted: model has no image input]" }];
  const contents = (target: typeof model) =>
    prepareReplay(messages, target)
      .filter((m) => m.role !== "assistant")
      .map((m) => m.content);
  expect(contents(blind)).toEqual([omitted, omitted]);
  expect(contents(model)).toEqual([[image], [image]]);
});

describe("any conversation", () => {
  const id = fc.constantFrom("a", "b", "c|d", "call_1", "", "é");
  const message: fc.Arbitrary<ModelMessage> = fc.oneof(
    fc.string().map(user),
    fc
      .tuple(fc.array(id, { maxLength: 4 }), fc.constantFrom<StopReason>("stop", "toolUse", "error", "aborted"))
      .map(([ids, stop]) => reply(ids.map(call), stop)),
    fc.tuple(id, fc.string()).map(([callId, text]) => result(callId, text)),
  );
  const conversation = fc.array(message, { maxLength: 25 });

  it("has every call followed directly by its one result, and no other results", () => {
    fc.assert(
      fc.property(conversation, fc.constantFrom(model, other), (messages, target) => {
        const prepared = prepareReplay(messages, target);
        const seen = new Set<string>();
        let index = 0;
        while (index < prepared.length) {
          const current = prepared[index] as ModelMessage;
          index += 1;
          expect(current.role).not.toBe("toolResult");
          if (current.role !== "assistant") continue;
          for (const block of current.content) {
            if (block.type !== "toolCall") continue;
            expect(seen.has(block.id)).toBe(false);
            seen.add(block.id);
            if (target === other) expect(block.id).toMatch(plainIds.fits);
            const answer = prepared[index] as ToolResultMessage;
            expect([answer.role, answer.toolCallId]).toEqual(["toolResult", block.id]);
            index += 1;
          }
        }
      }),
    );
  });

  it("keeps the order of everything else, and changes no input", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const before = JSON.stringify(messages);
        const spoken = (all: readonly ModelMessage[]) =>
          all.filter((m) => m.role === "user" || (m.role === "assistant" && m.content.length > 0));
        const names = (all: readonly ModelMessage[]) => spoken(all).map((m) => [m.role, m.content.length]);
        expect(names(prepareReplay(messages, other))).toEqual(names(messages));
        expect(JSON.stringify(messages)).toBe(before);
      }),
    );
  });

  it("prepares the start of a conversation the same way when more follows, up to open calls", () => {
    fc.assert(
      fc.property(conversation, conversation, (head, tail) => {
        const closed = [...head, user("end")];
        const ids = (all: ModelMessage[]) => blocksOf(all).map((block) => "id" in block && block.id);
        const short = ids(prepareReplay(closed, other));
        expect(ids(prepareReplay([...closed, ...tail], other)).slice(0, short.length)).toEqual(short);
      }),
    );
  });
});

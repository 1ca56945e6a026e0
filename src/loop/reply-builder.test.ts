// Building a reply: blocks may interleave, a snapshot never changes, and a stream that breaks the rules is refused.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantContent } from "../protocol/content.js";
import { maxCallsPerReply, type StreamEvent, zeroUsage } from "../provider/provider.js";
import { parsePartialObject } from "./partial-json.js";
import { maxBlocksPerReply, ReplyBuilder } from "./reply-builder.js";
import { fakeModel } from "./run.test-kit.js";

function built(...events: StreamEvent[]): ReplyBuilder {
  const builder = new ReplyBuilder(fakeModel, 1000);
  for (const event of events) builder.apply(event);
  return builder;
}

/** The events of one call whose arguments come as the given pieces. */
function callEvents(contentIndex: number, pieces: readonly string[], id = `c${contentIndex}`): StreamEvent[] {
  return [
    { type: "toolcall_start", contentIndex, id, name: "work" },
    ...pieces.map((delta): StreamEvent => ({ type: "toolcall_delta", contentIndex, delta })),
    { type: "toolcall_end", contentIndex },
  ];
}

describe("ReplyBuilder", () => {
  it("stamps the message with the model and keeps usage, id and signatures", () => {
    const usage = { ...zeroUsage, input: 3, totalTokens: 3 };
    const builder = built(
      { type: "start", responseId: "r1", usage },
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0, thinkingSignature: "sig" },
      { type: "redacted_thinking", contentIndex: 1, data: "xx" },
      { type: "text_start", contentIndex: 2 },
      { type: "text_delta", contentIndex: 2, delta: "yes" },
      { type: "text_end", contentIndex: 2, textSignature: "t" },
      { type: "toolcall_start", contentIndex: 3, id: "c", name: "work" },
      { type: "toolcall_end", contentIndex: 3, thoughtSignature: "th" },
    );
    expect(builder.textOf(0)).toBe("hm");
    expect(builder.textOf(2)).toBe("yes");
    expect(builder.finish({ stopReason: "stop" }).message).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
        { type: "redactedThinking", data: "xx" },
        { type: "text", text: "yes", textSignature: "t" },
        { type: "toolCall", id: "c", name: "work", arguments: {}, thoughtSignature: "th" },
      ],
      api: "fake-api",
      provider: "acme",
      model: "fable-2",
      usage,
      responseId: "r1",
      stopReason: "toolUse", // a stop with calls is a request for them
      timestamp: 1000,
    });
  });

  it("takes the last usage that was told", () => {
    const late = { ...zeroUsage, output: 9 };
    const builder = built({ type: "start", responseId: "r" }, { type: "done", reason: "stop", usage: late });
    expect(builder.finish({ stopReason: "stop" }).message).toMatchObject({ usage: late, responseId: "r" });
  });

  describe("calls", () => {
    const finish = (events: StreamEvent[], stopReason: "stop" | "length" | "error" = "stop") =>
      built(...events)
        .finish({ stopReason })
        .calls.map(({ call, isComplete, parsed }) => ({ args: call.arguments, isComplete, parsed }));

    it("are complete when their text is whole JSON, also after a cut", () => {
      const whole = { args: { a: 1 }, isComplete: true, parsed: { a: 1 } };
      expect(finish(callEvents(0, ['{"a"', ":1}"]))).toEqual([whole]);
      expect(finish(callEvents(0, ['{"a":1}']), "length")).toEqual([whole]);
    });

    it("are incomplete when it is not, and show what there is", () => {
      const cut = { args: { path: "a", content: "ha" }, isComplete: false };
      expect(finish(callEvents(0, ['{"path":"a","content":"ha']))).toMatchObject([cut]);
    });

    it("without any text mean no arguments, except where the reply was cut or the call never ended", () => {
      const isComplete = (events: StreamEvent[], reason?: "length" | "error") =>
        finish(events, reason).map((call) => call.isComplete);
      expect(isComplete(callEvents(0, []))).toEqual([true]);
      const both = [...callEvents(0, []), ...callEvents(1, [" "])];
      expect(isComplete(both)).toEqual([true, true]);
      // Calls may stream side by side: a cut can take the text of any of them, not only of the last.
      expect(isComplete(both, "length")).toEqual([false, false]);
      expect(isComplete([...callEvents(0, []), ...callEvents(1, ["{}"])], "length")).toEqual([false, true]);
      expect(isComplete(callEvents(0, []).slice(0, 1), "error")).toEqual([false]);
      expect(isComplete(callEvents(0, []).slice(0, 1))).toEqual([false]);
    });

    it("may carry something else than an object, which is passed on for the tool's schema to refuse", () => {
      expect(finish(callEvents(0, ["[1]"]))).toEqual([{ args: {}, isComplete: true, parsed: [1] }]);
    });

    it("nested too deep to be written down again are not run", () => {
      const [call] = finish(callEvents(0, ['{"a":', "[".repeat(20_000), "]".repeat(20_000), "}"]));
      expect(call?.isComplete).toBe(false);
      expect(() => JSON.stringify(call)).not.toThrow();
    });

    it("hand out arguments that a tool may change without changing the record", () => {
      const { message, calls } = built(...callEvents(0, ['{"list":[1]}'])).finish({ stopReason: "stop" });
      for (const { parsed } of calls) (parsed as { list: number[] }).list.push(2);
      expect(calls).toMatchObject([{ parsed: { list: [1, 2] } }]);
      expect(message.content).toMatchObject([{ arguments: { list: [1] } }]);
    });

    it("with the same id are told apart", () => {
      const events = [0, 1, 2].flatMap((index) => callEvents(index, [], "same"));
      const { calls } = built(...events).finish({ stopReason: "toolUse" });
      expect(calls.map(({ call }) => call.id)).toEqual(["same", "same_2", "same_3"]);
    });
  });

  it("refuses more calls or blocks than any real reply has", () => {
    const calls = built(...Array.from({ length: maxCallsPerReply }, (_, index) => callEvents(index, [])).flat());
    const nextCall = { type: "toolcall_start", contentIndex: maxCallsPerReply, id: "c", name: "x" } as const;
    expect(() => calls.apply(nextCall)).toThrow(/more than 128 tool calls/);
    const blocks = built();
    for (let contentIndex = 0; contentIndex < maxBlocksPerReply; contentIndex++)
      blocks.apply({ type: "text_start", contentIndex });
    expect(() => blocks.apply({ type: "text_start", contentIndex: maxBlocksPerReply })).toThrow(/more than .* blocks/);
  });

  it.each<[string, StreamEvent[]]>([
    ["a start that skips an index", [{ type: "text_start", contentIndex: 1 }]],
    [
      "a second start",
      [
        { type: "text_start", contentIndex: 0 },
        { type: "text_start", contentIndex: 0 },
      ],
    ],
    ["a delta before its start", [{ type: "text_delta", contentIndex: 0, delta: "x" }]],
    ["an index out of range", [{ type: "text_end", contentIndex: -1 }]],
    [
      "a delta of another kind",
      [
        { type: "text_start", contentIndex: 0 },
        { type: "thinking_delta", contentIndex: 0, delta: "x" },
      ],
    ],
    [
      "a delta after the end",
      [
        { type: "text_start", contentIndex: 0 },
        { type: "text_end", contentIndex: 0 },
        { type: "text_delta", contentIndex: 0, delta: "x" },
      ],
    ],
    [
      "arguments after the end of the call",
      [...callEvents(0, ["{}"]), { type: "toolcall_delta", contentIndex: 0, delta: " " }],
    ],
    ["a second end", [...callEvents(0, []), { type: "toolcall_end", contentIndex: 0 }]],
  ])("refuses %s", (_name, events) => {
    expect(() => built(...events)).toThrow(/out of order/);
  });

  it("keeps what it had after a refused event", () => {
    const builder = built(
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "ok" },
    );
    expect(() => builder.apply({ type: "toolcall_end", contentIndex: 0 })).toThrow();
    expect(builder.finish({ stopReason: "error" }).message.content).toEqual([{ type: "text", text: "ok" }]);
  });

  it("yields the joined deltas under any interleaving, and every snapshot shows its own moment", () => {
    const kind = fc.constantFrom("text" as const, "thinking" as const, "toolcall" as const, "redacted" as const);
    const block = fc.record({
      kind,
      deltas: fc.array(fc.constantFrom("a", "é", '{"k":', "1}", "\\", ""), { maxLength: 4 }),
    });
    const dice = fc.infiniteStream(fc.nat());
    fc.assert(fc.property(fc.array(block, { maxLength: 5 }), dice, interleave), { numRuns: 200 });
  });
});

interface Block {
  kind: "text" | "thinking" | "toolcall" | "redacted";
  deltas: readonly string[];
}

function interleave(blocks: readonly Block[], dice: fc.Stream<number>): void {
  const builder = new ReplyBuilder(fakeModel, 1000);
  const queues = blocks.map(eventsOf);
  const joined: string[] = [];
  const moments: { read: () => { content: AssistantContent[] }; expected: AssistantContent[] }[] = [];
  for (;;) {
    // Any block that has begun may go on; the next one may begin.
    const ready = queues.flatMap((queue, index) => (index <= joined.length && queue.length > 0 ? [index] : []));
    const pick = ready[(dice.next().value as number) % ready.length];
    if (pick === undefined) break;
    const event = queues[pick]?.shift();
    if (!event) break;
    if (pick === joined.length) joined.push("");
    if ("delta" in event) joined[pick] += event.delta;
    builder.apply(event);
    const expected = joined.map((text, index) => contentOf(blocks[index]?.kind ?? "text", index, text));
    moments.push({ read: builder.snapshot(), expected });
  }
  const { message, calls } = builder.finish({ stopReason: "stop" });
  expect(message.content).toEqual(moments.at(-1)?.expected ?? []);
  expect(calls).toHaveLength(blocks.filter(({ kind }) => kind === "toolcall").length);
  for (const { read, expected } of moments.reverse()) {
    expect(read().content).toEqual(expected);
    expect(read()).toBe(read());
  }
}

function eventsOf({ kind, deltas }: Block, contentIndex: number): StreamEvent[] {
  if (kind === "redacted") return [{ type: "redacted_thinking", contentIndex, data: "xx" }];
  if (kind === "toolcall") return callEvents(contentIndex, deltas);
  return [
    { type: `${kind}_start`, contentIndex },
    ...deltas.map((delta): StreamEvent => ({ type: `${kind}_delta`, contentIndex, delta })),
    { type: `${kind}_end`, contentIndex },
  ];
}

function contentOf(kind: Block["kind"], index: number, text: string): AssistantContent {
  if (kind === "text") return { type: "text", text };
  if (kind === "thinking") return { type: "thinking", thinking: text };
  if (kind === "redacted") return { type: "redactedThinking", data: "xx" };
  return { type: "toolCall", id: `c${index}`, name: "work", arguments: parsePartialObject(text) };
}

// The function that an extension brings for its own model: a good one streams, and whatever a bad one says, the reply ends once.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReplyBuilder } from "../../loop/reply-builder.js";
import type { StreamEvent } from "../../provider/provider.js";
import { collect, openAi, streamRequest } from "../../testing/scripted-replies.js";
import { streamOfExtension } from "./provider-stream.js";
import { createAssistantMessageEventStream } from "./pushed-stream.js";

const model = { ...openAi.model("http://127.0.0.1:9"), cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } };
const call = <Result>(work: () => Result): Result => work();
const played = (streamSimple: (...args: never[]) => unknown, options = {}) =>
  collect(streamOfExtension(streamSimple as never, { call })(streamRequest(model, options)));
const whole = (content: unknown[], usage: unknown = { input: 1_000_000, output: 0 }) => ({
  type: "done",
  reason: "toolUse",
  message: { content, usage },
});
async function* saying(...events: unknown[]) {
  yield* events;
}

describe("a function of an extension", () => {
  it("streams texts and thoughts, and calls with the arguments that they ended with", async () => {
    const tool = { type: "toolCall", id: "t1", name: "read", arguments: { path: "a" } };
    const partial = { content: [{ type: "thinking" }, { type: "text" }, tool] };
    const events = await played(() => {
      const stream = createAssistantMessageEventStream();
      for (const event of [
        { type: "start", partial },
        { type: "thinking_start", contentIndex: 0, partial },
        { type: "thinking_delta", contentIndex: 0, delta: "Hm", partial },
        { type: "thinking_end", contentIndex: 0, partial: { content: [{ thinkingSignature: "s" }] } },
        { type: "text_start", contentIndex: 1, partial },
        { type: "text_delta", contentIndex: 1, delta: "Hi", partial },
        { type: "text_end", contentIndex: 1, partial },
        { type: "toolcall_start", contentIndex: 2, partial },
        { type: "toolcall_delta", contentIndex: 2, delta: '{"pa', partial },
        { type: "toolcall_end", contentIndex: 2, toolCall: tool, partial },
        whole(partial.content),
      ])
        stream.push(event);
      stream.end();
      return stream;
    });
    expect(events).toMatchObject([
      { type: "start" },
      { type: "thinking_start" },
      { type: "thinking_delta", delta: "Hm" },
      { type: "thinking_end", thinkingSignature: "s" },
      { type: "text_start" },
      { type: "text_delta", delta: "Hi" },
      { type: "text_end" },
      { type: "toolcall_start", id: "t1", name: "read" },
      { type: "toolcall_delta", delta: '{"path":"a"}' },
      { type: "toolcall_end" },
      { type: "done", reason: "toolUse", usage: { input: 1_000_000, cost: { total: 1 } } },
    ]);
  });

  it("may only say how it ended: the rest is in the message", async () => {
    expect(await played(() => saying(whole([{ type: "text", text: "All" }])))).toMatchObject([
      { type: "start" },
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", delta: "All" },
      { type: "text_end" },
      { type: "done" },
    ]);
  });

  it.each([
    ["throws", () => expect.unreachable()],
    ["returns nothing", () => undefined],
    ["ends early", () => saying({ type: "start" })],
    ["says nonsense", () => saying(7)],
    ["fails", () => saying({ type: "error", reason: "error", error: { errorMessage: "quota" } })],
  ])("that %s is an error", async (_title, streamSimple) => {
    const events = await played(streamSimple);
    expect(events.at(-1)).toMatchObject({ type: "error", reason: "error", errorMessage: expect.stringMatching(/./) });
  });

  it("that never answers is left when the user stops", async () => {
    const stop = new AbortController();
    const events = played(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }), {
      signal: stop.signal,
    });
    stop.abort();
    expect(await events).toEqual([{ type: "error", reason: "aborted", errorMessage: "Request was aborted" }]);
  });

  it("can say anything: every reply is in order and ends exactly once", async () => {
    const index = fc.oneof(fc.nat(3), fc.constantFrom<unknown>(-1, "0", undefined, 1e9));
    const block = fc.oneof(
      fc.record({ type: fc.constantFrom("text", "thinking", "toolCall", "image"), text: fc.anything() }),
      fc.anything(),
    );
    const event = fc.oneof(
      fc.record({
        type: fc.constantFrom(
          ...["text", "thinking", "toolcall"].flatMap((kind) => [`${kind}_start`, `${kind}_delta`, `${kind}_end`]),
        ),
        contentIndex: index,
        delta: fc.oneof(fc.string(), fc.anything()),
        partial: fc.oneof(fc.record({ content: fc.array(block) }), fc.anything()),
        toolCall: fc.anything(),
      }),
      fc.record({
        type: fc.constantFrom("done", "error"),
        reason: fc.constantFrom("stop", "x"),
        message: fc.anything(),
      }),
      fc.array(block).map((content) => whole(content, { input: Number.NaN, output: "many" })),
      fc.anything(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
        const builder = new ReplyBuilder(model, 0);
        const ends: StreamEvent[] = [];
        for await (const one of streamOfExtension((() => saying(...events)) as never, { call })(streamRequest(model))) {
          expect(ends).toEqual([]);
          builder.apply(one); // throws for what is out of order
          if (one.type === "done" || one.type === "error") ends.push(one);
        }
        expect(ends).toHaveLength(1);
      }),
    );
  });
});

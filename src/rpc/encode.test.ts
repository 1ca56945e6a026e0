import { describe, expect, it } from "vitest";
import type { JsonObject } from "../base/json.js";
import type { AssistantMessage } from "../protocol/messages.js";
import { zeroUsage } from "../provider/provider.js";
import { encodeSafely, encodeUpdate, stubOf, type UpdateEvent } from "./encode.js";

const message: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "One" }],
  api: "scripted",
  provider: "test",
  model: "script",
  usage: zeroUsage,
  stopReason: "stop",
  timestamp: 1_767_600_000_000,
};

function textDelta(of: AssistantMessage, delta: string): UpdateEvent {
  const assistantMessageEvent = { type: "text_delta", contentIndex: 0, delta, partial: of } as const;
  return { type: "message_update", message: of, assistantMessageEvent };
}

function decode(line: string): JsonObject {
  expect(line.endsWith("\n")).toBe(true);
  expect(line.slice(0, -1)).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
  return JSON.parse(line) as JsonObject;
}

function nested(levels: number): unknown {
  return JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
}

describe("encodeUpdate", () => {
  const call = { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.ts" } } as const;

  it("writes what JSON.stringify would, for every kind that travels", () => {
    const partial = message;
    const kinds: UpdateEvent["assistantMessageEvent"][] = [
      { type: "text_start", contentIndex: 0, partial },
      { type: "text_delta", contentIndex: 0, delta: 'One "two"', partial },
      { type: "text_end", contentIndex: 0, content: "One", partial },
      { type: "thinking_start", contentIndex: 1, partial },
      { type: "thinking_delta", contentIndex: 1, delta: "", partial },
      { type: "thinking_end", contentIndex: 1, content: "hm", partial },
      { type: "toolcall_start", contentIndex: 2, partial },
      { type: "toolcall_delta", contentIndex: 2, delta: '{"pa', partial },
      { type: "toolcall_end", contentIndex: 2, toolCall: call, partial },
      { type: "toolcall_end", contentIndex: 2, toolCall: call, complete: false, partial },
    ];
    for (const assistantMessageEvent of kinds) {
      const event: UpdateEvent = { type: "message_update", message, assistantMessageEvent };
      expect(decode(encodeUpdate(event, undefined, {}))).toEqual(event);
    }
  });

  it("puts merged deltas in the place of the event's own, and the newest snapshot beside them", () => {
    const frame = decode(encodeUpdate(textDelta(message, "e"), "One", {}));
    expect(frame).toEqual(textDelta(message, "One"));
    expect(decode(encodeUpdate(textDelta(message, "e"), "", {})).assistantMessageEvent).toMatchObject({ delta: "" });
  });

  it("sends the stub in both places without building the message", () => {
    const untouched: UpdateEvent = {
      type: "message_update",
      get message(): AssistantMessage {
        throw new Error("the snapshot was built");
      },
      assistantMessageEvent: {
        type: "text_delta",
        contentIndex: 0,
        delta: "x",
        get partial(): AssistantMessage {
          throw new Error("the snapshot was built");
        },
      },
    };
    const frame = decode(encodeUpdate(untouched, undefined, { stub: stubOf(message), messageId: "msg-2" }));
    const stub = { ...message, content: [] };
    expect(frame).toEqual({ ...textDelta(stub, "x"), messageId: "msg-2" });
  });

  it("keeps only the named members in the stub", () => {
    const rich: AssistantMessage = { ...message, responseId: "resp_1", errorMessage: "late" };
    expect(JSON.parse(stubOf(rich))).toEqual({ ...message, content: [] });
  });

  it("escapes line separators in deltas and snapshots", () => {
    const text = "a\u2028b\u2029c\u0085d";
    const spoken = { ...message, content: [{ type: "text" as const, text }] };
    expect(decode(encodeUpdate(textDelta(spoken, text), undefined, {}))).toEqual(textDelta(spoken, text));
  });

  it("survives arguments that a model nests without end", () => {
    const deep = { ...call, arguments: { v: nested(20_000) } };
    const spoken = { ...message, content: [deep] };
    const event: UpdateEvent = {
      type: "message_update",
      message: spoken,
      assistantMessageEvent: { type: "toolcall_end", contentIndex: 0, toolCall: deep, partial: spoken },
    };
    const frame = decode(encodeUpdate(event, undefined, {}));
    expect(frame.assistantMessageEvent).toMatchObject({
      type: "toolcall_end",
      toolCall: { id: "call_1", name: "read" },
    });
    expect(JSON.stringify(frame)).toContain("[nested too deeply]");
  });
});

describe("encodeSafely", () => {
  const end = (details: unknown) => ({ type: "tool_execution_end", result: { content: [], details }, isError: false });

  it("writes plain frames as JSON.stringify does, without undefined members", () => {
    expect(encodeSafely({ id: undefined, type: "response", at: new Date(0) })).toBe(
      '{"type":"response","at":"1970-01-01T00:00:00.000Z"}\n',
    );
  });

  it("escapes line separators", () => {
    expect(encodeSafely({ type: "x", text: "a\u2028b\u2029c\u0085d" })).toBe(
      '{"type":"x","text":"a\\u2028b\\u2029c\\u0085d"}\n',
    );
  });

  it("shows a cycle, a bigint, a throwing member and endless depth as text, and keeps the rest of the frame", () => {
    const ring: Record<string, unknown> = { name: "ring" };
    ring.self = ring;
    expect(decode(encodeSafely(end(ring)))).toEqual(end({ name: "ring", self: "[cycle]" }));
    expect(decode(encodeSafely(end({ size: 10n ** 20n })))).toEqual(end({ size: "100000000000000000000" }));
    const trap = {
      fine: 1,
      get broken() {
        throw new Error("boom");
      },
    };
    expect(decode(encodeSafely(end(trap)))).toEqual(end({ fine: 1, broken: "[unreadable: boom]" }));
    const refuses = {
      toJSON() {
        throw new Error("no");
      },
    };
    expect(decode(encodeSafely(end([refuses])))).toEqual(end(["[unreadable: no]"]));
    expect(decode(encodeSafely(end(nested(20_000))))).toMatchObject({ type: "tool_execution_end", isError: false });
  });

  it("does not take the same object in two places for a cycle", () => {
    const shared = { path: "a.ts" };
    expect(decode(encodeSafely(end({ first: shared, second: shared, size: 1n, when: new Date(0) })))).toEqual(
      end({ first: shared, second: shared, size: "1", when: "1970-01-01T00:00:00.000Z" }),
    );
  });
});

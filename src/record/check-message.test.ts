import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../protocol/messages.js";
import { checkMessage } from "./check-message.js";

const usage = {
  input: 1,
  output: 2,
  cacheRead: 3,
  cacheWrite: 4,
  totalTokens: 10,
  cost: { input: 0.1, output: 0.2, cacheRead: 0.3, cacheWrite: 0.4, total: 1 },
};
const assistant = {
  role: "assistant",
  content: [
    { type: "text", text: "a" },
    { type: "thinking", thinking: "b" },
    { type: "redactedThinking", data: "c" },
    { type: "toolCall", id: "1", name: "read", arguments: {} },
  ],
  api: "x",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
};
const image = { type: "image", data: "AAAA", mimeType: "image/png" };

describe("a sound message is the same object", () => {
  it.each([
    assistant,
    { role: "user", content: "x", timestamp: 1 },
    { role: "developer", content: [{ type: "text", text: "x" }, image], timestamp: 1 },
    { role: "custom", customType: "c", content: "x", display: false, timestamp: 1 },
    { role: "hookMessage", customType: "c", content: [], display: true, timestamp: 1 },
    { role: "toolResult", toolCallId: "1", toolName: "read", content: [], isError: false, timestamp: 1 },
    { role: "bashExecution", command: "ls", output: "", cancelled: false, truncated: false, timestamp: 1 },
    { role: "pythonExecution", code: "1", output: "", cancelled: false, truncated: false, timestamp: 1 },
    { role: "compactionSummary", summary: "s", tokensBefore: 1, timestamp: 1 },
    { role: "branchSummary", summary: "s", fromId: "root", timestamp: 1 },
    { role: "fileMention", files: [{ path: "a", content: "x" }], timestamp: 1 },
  ])("$role", (message) => {
    expect(checkMessage(message, 9)).toBe(message);
  });
});

describe("small gaps are filled", () => {
  it("a mentioned file without a text, such as a picture", () => {
    const image = { type: "image", data: "aWk=", mimeType: "image/png" };
    const files = [{ path: "a.png", image }, { path: "b", content: "x" }, { path: "c", content: 7 }, { content: "d" }];
    expect(checkMessage({ role: "fileMention", files, timestamp: 1 }, 9)).toEqual({
      role: "fileMention",
      files: [
        { path: "a.png", image, content: "" },
        { path: "b", content: "x" },
      ],
      timestamp: 1,
    });
  });

  it("a missing time", () => {
    expect(checkMessage({ role: "user", content: "x" }, 9)).toEqual({
      role: "user",
      content: "x",
      timestamp: 9,
    });
  });

  it("an assistant's plain text, names and stop reason", () => {
    expect(checkMessage({ role: "assistant", content: "hi" }, 9)).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "hi" }],
      api: "",
      provider: "",
      model: "",
      stopReason: "stop",
      usage: {
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 0,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
      timestamp: 9,
    });
  });

  it("reasoning that is no number is left out, and the rest of the usage stays", () => {
    const { usage: odd } = checkMessage(
      { ...assistant, usage: { ...usage, reasoning: "much" } },
      9,
    ) as AssistantMessage;
    expect(odd).toEqual(usage);
    const told = { ...assistant, usage: { ...usage, reasoning: 3 } };
    expect(checkMessage(told, 9)).toBe(told);
  });

  it("the figures of an older usage are kept and added up", () => {
    const message = checkMessage(
      { ...assistant, usage: { input: 5, output: 7, cost: { input: 0.5, output: 0.25 } } },
      9,
    );
    expect(message).toMatchObject({
      usage: { input: 5, output: 7, cacheRead: 0, totalTokens: 12, cost: { input: 0.5, output: 0.25, total: 0.75 } },
    });
  });

  it("thoughts as other programs write them: unsigned, or hidden behind a placeholder", () => {
    const thought = { type: "thinking", thinking: "hm" };
    const content = [
      { ...thought, thinkingSignature: "" },
      { ...thought, thinkingSignature: null },
      { ...thought, thinkingSignature: "s", redacted: false },
      { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "data", redacted: true },
      { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "", redacted: true },
    ];
    expect(checkMessage({ ...assistant, content }, 9)).toEqual({
      ...assistant,
      content: [
        thought,
        thought,
        { ...thought, thinkingSignature: "s", redacted: false },
        { type: "redactedThinking", data: "data" },
      ],
    });
  });

  it("unknown blocks are left out", () => {
    const content = [
      { type: "document" },
      "text",
      null,
      { type: "text", text: 1 },
      { type: "image", data: "x" },
      image,
    ];
    expect(checkMessage({ role: "user", content, timestamp: 1 }, 9)).toMatchObject({ content: [image] });
    const calls = [
      { type: "toolCall", id: "1", name: "x", arguments: "{}" },
      { type: "text", text: "kept" },
    ];
    expect(checkMessage({ ...assistant, content: calls }, 9)).toMatchObject({
      content: [{ type: "text", text: "kept" }],
    });
  });
});

it.each([
  null,
  "text",
  [],
  {},
  { role: "someone" },
  { role: "constructor", content: "x" },
  { role: "__proto__" },
  { role: "user" },
  { role: "assistant", content: { a: 1 } },
  { role: "toolResult", content: [] },
  { role: "bashExecution", output: "x" },
  { role: "compactionSummary" },
  { role: "fileMention", files: "a" },
])("%j is no message", (value) => {
  expect(checkMessage(value, 9)).toBeUndefined();
});

it("never throws, whatever a file holds", () => {
  const roles = fc.constantFrom(
    "user",
    "assistant",
    "toolResult",
    "custom",
    "bashExecution",
    "fileMention",
    "branchSummary",
  );
  const anything = fc.dictionary(
    fc.constantFrom("content", "files", "usage", "summary", "toolCallId", "command"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(roles, anything, (role, members) => {
      const message = checkMessage({ ...members, role }, 9);
      if (message) expect(message.timestamp).toBe(9);
    }),
  );
});

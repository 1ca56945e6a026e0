// The strict host can say no: every example of the page is a frame it accepts, and every mutation of one breaks a rule
// that it notices. A check that nothing can fail would let any frame through.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.js";
import { StrictReader } from "../kit/strict-frames.mjs";
import { dataByCommand, frames } from "../kit/strict-tables.mjs";

const page = readFileSync(new URL("../../docs/rpc.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/^\{"(?:id|type|messageId)".*$/gm)]
  .map(([line]) => JSON.parse(line) as JsonObject)
  .filter(({ type }) => type === "response" || type === "extension_ui_request" || Object.hasOwn(frames, String(type)))
  .map(withTravellers);

const features = ["delta-updates", "message-ids", "prompt-result", "queue-events", "state-events", "echo-ids"];
const model = {
  ...{ id: "m", name: "M", api: "a", provider: "p", baseUrl: "", reasoning: false, input: ["text"] },
  ...{ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1, maxTokens: 1 },
};
const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const usage = { ...zero, totalTokens: 0, cost: { ...zero, total: 0 } };
const reply = {
  role: "assistant",
  content: [],
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
};
const user = { role: "user", content: "Hi", timestamp: 1 };
const result = { role: "toolResult", toolCallId: "c", toolName: "read", content: [], isError: false, timestamp: 1 };

/** The page shows frames of a host that asked for every feature and of one that asked for none; this one asked. */
function withTravellers(frame: JsonObject): JsonObject {
  if (!String(frame.type).startsWith("message_")) return frame;
  const stub = (value: unknown) => ({ ...(value as JsonObject), content: [] });
  const inner = frame.assistantMessageEvent as JsonObject | undefined;
  return {
    ...frame,
    messageId: "msg-1",
    ...(inner
      ? { message: stub(frame.message), assistantMessageEvent: { ...inner, partial: stub(inner.partial) } }
      : {}),
  };
}

function reader(wanted: string[] | undefined, isVersion2 = false): StrictReader {
  const strict = new StrictReader({ expectReady: false });
  const data = { protocolVersion: isVersion2 ? 2 : 1, features: wanted };
  if (wanted) strict.read(JSON.stringify({ type: "response", command: "negotiate_protocol", success: true, data }));
  return strict;
}

function problemOf(frame: unknown, wanted: string[] | undefined = features): string | undefined {
  const strict = reader(wanted, wanted === features);
  const line = JSON.stringify(frame);
  if ((frame as JsonObject).type !== "ready") return strict.read(line);
  return new StrictReader().read(line);
}

const plain = (frame: unknown) => problemOf(frame, []);
const update = (inner: object) => ({ type: "message_update", message: reply, assistantMessageEvent: inner });
const respond = (command: string, data?: unknown) => ({
  type: "response",
  command,
  success: true,
  ...(data === undefined ? {} : { data }),
});

describe("the examples of docs/rpc.md", () => {
  it("are accepted, and there is one for every row of the tables", () => {
    for (const frame of examples.filter(({ type }) => type !== "rpc_chunk"))
      expect(problemOf(frame), JSON.stringify(frame)).toBeUndefined();
    const types = new Set(examples.map(({ type }) => type));
    expect(Object.keys(frames).filter((type) => !types.has(type))).toEqual([]);
    const answered = new Set(examples.filter(({ success }) => success).map(({ command }) => command));
    expect(Object.keys(dataByCommand).filter((command) => !answered.has(command))).toEqual([]);
  });

  it("are refused with any member of the wrong kind, at any depth, unless anything may stand there", () => {
    const open = /^(?:arguments|args|details|parameters|sourceInfo|entries)$/;
    let mutations = 0;
    for (const frame of examples.filter(({ type }) => type !== "rpc_chunk"))
      for (const mutant of wrongKinds(frame, open)) {
        mutations++;
        expect(problemOf(mutant), JSON.stringify(mutant)).toBeDefined();
      }
    expect(mutations).toBeGreaterThan(800);
  });
});

describe("a strict host refuses", () => {
  it.each([
    ["what is no JSON", () => reader([]).read("galley: loading")],
    ["what is no object", () => reader([]).read("[1]")],
    ["a frame without a type", () => plain({ id: "1" })],
    ["a first frame that is not ready", () => new StrictReader().read('{"type":"agent_start"}')],
    ["ready twice", () => reader([]).read('{"type":"ready"}')],
    ["an unknown role", () => plain({ type: "message_start", message: { ...user, role: "system" } })],
    ["a reply without usage", () => plain({ type: "message_end", message: { ...reply, usage: undefined } })],
    ["an unknown stop reason", () => plain({ type: "message_end", message: { ...reply, stopReason: "tired" } })],
    [
      "a block that nobody speaks in",
      () => plain({ type: "message_end", message: { ...reply, content: [{ type: "image" }] } }),
    ],
    ["an unknown streaming event", () => plain(update({ type: "text_middle", contentIndex: 0, partial: reply }))],
    ["start in an update", () => plain(update({ type: "start", partial: reply }))],
    ["done in an update", () => plain(update({ type: "done", reason: "stop", message: reply }))],
    ["error in an update", () => plain(update({ type: "error", reason: "error", error: reply }))],
    ["an unknown reason of done", () => plain(update({ type: "done", reason: "error", message: reply }))],
    ["a partial of another role", () => plain(update({ type: "text_start", contentIndex: 0, partial: user }))],
    ["an index that is no integer", () => plain(update({ type: "text_start", contentIndex: 0.5, partial: reply }))],
    ["a delta that is no text", () => plain(update({ type: "text_delta", contentIndex: 0, delta: 1, partial: reply }))],
    ["an end without its text", () => plain(update({ type: "text_end", contentIndex: 0, partial: reply }))],
    ["a call's end without the call", () => plain(update({ type: "toolcall_end", contentIndex: 0, partial: reply }))],
    ["a tool result of another role", () => plain({ type: "turn_end", message: reply, toolResults: [user] })],
    [
      "a result without isError",
      () => plain({ type: "turn_end", message: reply, toolResults: [{ ...result, isError: undefined }] }),
    ],
    ["a turn without its reply", () => plain({ type: "turn_end", toolResults: [] })],
    ["an end without isTerminal", () => plain({ type: "agent_end", messages: [] })],
    [
      "isError that is no boolean",
      () =>
        plain({ type: "tool_execution_end", toolCallId: "c", toolName: "t", result: { content: [] }, isError: "no" }),
    ],
    ["an unknown dialog", () => plain({ type: "extension_ui_request", id: "1", method: "open_url", url: "x" })],
    ["a dialog without an id", () => plain({ type: "extension_ui_request", method: "setTitle", title: "x" })],
    [
      "a timeout that is no integer",
      () => plain({ type: "extension_ui_request", id: "1", method: "input", title: "x", timeout: 1.5 }),
    ],
    [
      "an unknown notice",
      () => plain({ type: "extension_ui_request", id: "1", method: "notify", message: "x", notifyType: "fatal" }),
    ],
    [
      "an unknown todo status",
      () =>
        plain(
          respond("set_todos", {
            todoPhases: [{ id: "1", name: "a", tasks: [{ id: "1", content: "x", status: "done" }] }],
          }),
        ),
    ],
    ["a model without a name", () => plain(respond("set_model", { ...model, name: undefined }))],
    ["a model with headers", () => plain(respond("set_model", { ...model, headers: {} }))],
    ["an unknown thinking level", () => plain(respond("cycle_thinking_level", { level: "max" }))],
    [
      "an unknown effort of a model",
      () => plain(respond("set_model", { ...model, thinking: { minLevel: "off", maxLevel: "high", mode: "effort" } })),
    ],
    [
      "an unknown reason of a compaction",
      () => plain({ type: "auto_compaction_start", reason: "manual", action: "context-full" }),
    ],
    [
      "an unknown action of a compaction",
      () => plain({ type: "auto_compaction_end", action: "shake", aborted: false, willRetry: false }),
    ],
    ["an exit code that is no integer", () => plain(respond("bash", { ...bash, exitCode: "0" }))],
    ["a result of bash without totals", () => plain(respond("bash", { ...bash, totalBytes: undefined }))],
    [
      "a system prompt in pieces",
      () => plain({ ...stateExample(), data: { ...(stateExample().data as JsonObject), systemPrompt: ["a"] } }),
    ],
    ["data where there is none", () => plain(respond("abort", {}))],
    ["null where there is none", () => plain(respond("abort", null))],
    ["a prompt of which it is not said what became", () => plain(respond("prompt"))],
    ["no data where there is some", () => plain(respond("get_messages"))],
    ["null where there is data", () => plain(respond("get_messages", null))],
    ["a text left out instead of null", () => plain(respond("get_last_assistant_text", {}))],
    ["an id of null", () => plain({ ...respond("abort"), id: null })],
    ["a success with an error", () => plain({ ...respond("abort"), error: "no" })],
    ["a failure without a sentence", () => plain({ type: "response", command: "abort", success: false })],
    [
      "a code that is no text",
      () => plain({ type: "response", command: "abort", success: false, error: "no", code: 7 }),
    ],
    ["neither success nor failure", () => plain({ type: "response", command: "abort" })],
    ["queue_update unasked", () => plain({ type: "queue_update", steering: [], followUp: [] })],
    [
      "prompt_result unasked",
      () => plain({ type: "prompt_result", agentInvoked: true, status: "completed", sessionSettled: true }),
    ],
    ["available_commands_update unasked", () => plain({ type: "available_commands_update", commands: [] })],
    ["session_settled unasked", () => plain({ type: "session_settled" })],
    ["agentInvoked unasked", () => plain(respond("prompt", { disposition: "handled", agentInvoked: false }))],
    ["a messageId unasked", () => plain({ type: "message_start", message: user, messageId: "msg-1" })],
    ["no messageId although asked", () => problemOf({ type: "message_start", message: user }, ["message-ids"])],
    [
      "a whole message although deltas were asked for",
      () =>
        problemOf(
          {
            ...update({ type: "text_start", contentIndex: 0, partial: reply }),
            message: { ...reply, content: [{ type: "text", text: "a" }] },
          },
          ["delta-updates"],
        ),
    ],
    [
      "another size in ready",
      () =>
        new StrictReader().read(JSON.stringify({ ...examples.find(({ type }) => type === "ready"), maxFrameBytes: 1 })),
    ],
  ])("%s", (_, find) => {
    expect(find()).toBeDefined();
  });

  it("and says so when it is asked at the end", () => {
    const strict = reader([]);
    strict.read("stray");
    expect(() => strict.verify()).toThrow("no JSON in stray");
  });
});

describe("chunks", () => {
  const whole = JSON.stringify(respond("get_last_assistant_text", { text: "é".repeat(600_000) }));
  const bytes = Buffer.from(whole);
  const size = 262_144;
  const count = Math.ceil(bytes.length / size);
  const chunks = Array.from({ length: count }, (_, index) => ({
    ...{ type: "rpc_chunk", chunkId: "rpc-1", index, count, byteLength: bytes.length },
    data: bytes.subarray(index * size, (index + 1) * size).toString("base64"),
  }));
  const readAll = (list: readonly object[], isVersion2 = true) => {
    const strict = reader([], isVersion2);
    for (const chunk of list) strict.read(JSON.stringify(chunk));
    return strict.problems.length;
  };

  it("are joined, and what they hold is checked", () => {
    expect(readAll([...chunks, { type: "agent_start" }])).toBe(0);
    const broken = Buffer.from(whole.replace('"text":"é', '"tex_":"é'));
    const inner = chunks.map((chunk, index) => ({
      ...chunk,
      data: broken.subarray(index * size, (index + 1) * size).toString("base64"),
    }));
    expect(readAll(inner)).toBe(1);
  });

  it.each([
    ["out of order", [chunks[1], chunks[0]]],
    ["with another frame between them", [chunks[0], { type: "agent_start" }]],
    ["of another frame", [chunks[0], { ...chunks[1], chunkId: "rpc-2" }]],
    ["that are too large", [{ ...chunks[0], data: bytes.subarray(0, size + 1).toString("base64") }]],
    ["for a small frame", [{ ...chunks[0], byteLength: 10 }]],
    ["that are one", [{ ...chunks[0], count: 1 }]],
    ["that lose bytes", [...chunks.slice(0, -1), { ...chunks.at(-1), data: "AA==" }]],
  ])("are refused %s", (_, list) => {
    expect(readAll(list as object[])).toBeGreaterThan(0);
  });

  it("are refused without version 2, and a long line is refused with it", () => {
    expect(readAll(chunks, false)).toBeGreaterThan(0);
    expect(reader([], true).read(whole)).toBeDefined();
    expect(reader([], false).read(whole)).toBeUndefined();
  });
});

it("what no table names is tolerated and listed", () => {
  const strict = reader([]);
  strict.read('{"type":"weather_update","degrees":21}');
  strict.read('{"type":"agent_start","mood":"good"}');
  strict.read(JSON.stringify({ type: "agent_end", messages: [user, { ...user, mood: 1 }], isTerminal: true }));
  expect(strict.problems).toEqual([]);
  expect([...strict.unlisted]).toEqual(["weather_update", "agent_start.mood", "agent_end.messages[].mood"]);
});

const bash = {
  ...{ output: "", exitCode: 0, cancelled: false, truncated: false },
  ...{ totalLines: 0, totalBytes: 0, outputLines: 0, outputBytes: 0 },
};

function stateExample(): JsonObject {
  return examples.find(({ command, success }) => command === "get_state" && success) as JsonObject;
}

/** The frame with one member replaced by a value of another kind, for each member at any depth. */
function* wrongKinds(value: JsonObject, open: RegExp): Generator<object> {
  for (const [key, member] of Object.entries(value)) {
    if (open.test(key)) continue;
    const isDeep = typeof member === "object" && member !== null;
    const wrongs = isDeep ? [7, ...wrongKinds(member as JsonObject, open)] : [{ wrong: true }];
    for (const wrong of wrongs) {
      const copy = (Array.isArray(value) ? [...value] : { ...value }) as JsonObject;
      copy[key] = wrong;
      yield copy;
    }
  }
}

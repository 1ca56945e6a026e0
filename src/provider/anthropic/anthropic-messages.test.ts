import { afterEach, describe, expect, it } from "vitest";
import { anthropic, argumentTexts, collect, streamRequest } from "../../testing/scripted-replies.js";
import {
  cut,
  many,
  type Reply,
  raw,
  type ScriptedServer,
  type Step,
  sse,
  stall,
  startScriptedServer,
} from "../../testing/scripted-server.js";
import type { ProviderModel, StreamEvent, StreamOptions } from "../provider.js";
import { streamAnthropicMessages } from "./anthropic-messages.js";

let server: ScriptedServer;
afterEach(() => server.close());

async function ask(
  reply: Reply | Step[],
  options: Partial<StreamOptions> = {},
  changes: Partial<ProviderModel> = {},
): Promise<StreamEvent[]> {
  server = await startScriptedServer([Array.isArray(reply) ? { steps: reply } : reply]);
  return collect(streamAnthropicMessages(streamRequest(anthropic.model(server.url, changes), options)));
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = (output: number) => ({ input: 10, output, cacheRead: 0, cacheWrite: 0, totalTokens: 10 + output, cost });
const start = { type: "start", responseId: "msg_1", usage: usage(1) };
const done = (reason: string) => ({ type: "done", reason, usage: usage(5), responseId: "msg_1" });

describe("a reply", () => {
  it("streams text", async () => {
    const headers = { "X-Own": "1", "x-api-key": "from the model" };
    expect(await ask(anthropic.text("Hel", "lo"), { apiKey: "k", headers: { "x-more": "2" } }, { headers })).toEqual([
      start,
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Hello" },
      { type: "text_end", contentIndex: 0 },
      done("stop"),
    ]);
    expect(server.requests[0]).toMatchObject({
      path: "/v1/messages",
      headers: { "x-api-key": "from the model", "anthropic-version": "2023-06-01", "x-own": "1", "x-more": "2" },
    });
  });

  it("is asked for with the token of a login as such, and with an API key as such", async () => {
    const apiKey = "sk-ant-oat01-abcdef";
    await ask(anthropic.text("x"), { apiKey });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${apiKey}`,
      "anthropic-beta": "oauth-2025-04-20",
    });
    expect(server.requests[0]?.headers).not.toHaveProperty("x-api-key");
    await server.close();
    await ask(anthropic.text("x"), { apiKey, headers: { "Anthropic-Beta": "one, two" } });
    expect(server.requests[0]?.headers).toMatchObject({ "anthropic-beta": "one, two,oauth-2025-04-20" });
    await server.close();
    await ask(anthropic.text("x"), { apiKey: "sk-ant-api03-abcdef" });
    expect(server.requests[0]?.headers).toMatchObject({ "x-api-key": "sk-ant-api03-abcdef" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]?.headers).not.toHaveProperty("anthropic-beta");
  });

  it("streams signed and redacted thinking", async () => {
    const steps = [
      anthropic.start(),
      anthropic.event("ping"),
      ...anthropic.block(0, { type: "thinking", thinking: "" }, [
        { type: "thinking_delta", thinking: "hm" },
        { type: "signature_delta", signature: "si" },
        { type: "signature_delta", signature: "g" },
      ]),
      ...anthropic.block(1, { type: "redacted_thinking", data: "x" }, []),
      ...anthropic.block(2, { type: "server_tool_use", name: "search" }, [
        { type: "input_json_delta", partial_json: "{}" },
      ]),
      ...anthropic.block(3, { type: "text", text: "y" }, [
        { type: "citations_delta" },
        { type: "text_delta", text: "es" },
      ]),
      anthropic.event("yet_to_be_invented"),
      ...anthropic.finish("end_turn"),
    ];
    expect(await ask(steps)).toEqual([
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0, thinkingSignature: "sig" },
      { type: "redacted_thinking", contentIndex: 1, data: "x" },
      { type: "text_start", contentIndex: 2 },
      { type: "text_delta", contentIndex: 2, delta: "yes" },
      { type: "text_end", contentIndex: 2 },
      done("stop"),
    ]);
  });

  it("streams tool calls", async () => {
    const calls = [
      { id: "toolu_1", name: "read", arguments: { path: "src/one.ts" } },
      { id: "toolu_2", name: "todo", arguments: "" },
      { id: "toolu_3", name: "grep", arguments: { pattern: "x" } },
    ];
    const events = await ask(anthropic.toolCalls(calls));
    expect(argumentTexts(events)).toEqual(['{"path":"src/one.ts"}', "{}", '{"pattern":"x"}']);
    expect(events.filter((event) => event.type === "toolcall_start").map(({ id }) => id)).toEqual(
      calls.map(({ id }) => id),
    );
    expect(events.filter((event) => event.type === "toolcall_end")).toHaveLength(3);
    expect(events.at(-1)).toEqual(done("toolUse"));
  });

  it("takes arguments that come whole, and calls that end in a plain stop", async () => {
    const block = anthropic.block(0, { type: "tool_use", id: "a", name: "read", input: { path: "x" } }, []);
    const events = await ask(anthropic.reply(block, "end_turn"));
    expect(argumentTexts(events)).toEqual(['{"path":"x"}']);
    expect(events.at(-1)).toEqual(done("toolUse"));
  });

  it("keeps length, with calls as they were cut", async () => {
    const calls = [
      { id: "a", name: "write", arguments: '{"path":"x' },
      { id: "b", name: "write", arguments: "" },
    ];
    const events = await ask(anthropic.toolCalls(calls, "max_tokens"));
    expect(argumentTexts(events)).toEqual(['{"path":"x', ""]);
    expect(events.at(-1)).toEqual(done("length"));
  });

  it("knows that a call without arguments was whole when another block follows it", async () => {
    const calls = ["", "", '{"path":"x'].map((text, index) => ({ id: `c${index}`, name: "todo", arguments: text }));
    const events = await ask(anthropic.toolCalls(calls, "max_tokens"));
    expect(argumentTexts(events)).toEqual(["{}", "{}", '{"path":"x']);
    expect(events.filter((event) => event.type === "toolcall_end")).toHaveLength(3);
  });

  it("is not lost to an empty event", async () => {
    const reply = [anthropic.start(), raw("data:\n\n"), ...anthropic.finish("end_turn")];
    expect((await ask(reply)).at(-1)).toEqual(done("stop"));
  });

  it("counts and prices usage", async () => {
    const steps = [
      anthropic.start({
        input_tokens: 100,
        cache_read_input_tokens: 400,
        cache_creation_input_tokens: 50,
        output_tokens: 1,
      }),
      ...anthropic.finish("end_turn", { output_tokens: 200, input_tokens: null }),
    ];
    const rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const last = (await ask(steps, {}, { cost: rates })).at(-1);
    expect(last).toMatchObject({
      usage: { input: 100, output: 200, cacheRead: 400, cacheWrite: 50, totalTokens: 750 },
    });
    expect(last?.type === "done" && last.usage.cost.total).toBeCloseTo((300 + 3000 + 120 + 187.5) / 1e6);
  });

  it("prices cache writes of an hour apart, and tells the reasoning", async () => {
    const written = { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 };
    const steps = [
      anthropic.start({
        input_tokens: 100,
        cache_creation_input_tokens: 100,
        cache_creation: written,
        output_tokens: 1,
      }),
      ...anthropic.finish("end_turn", { output_tokens: 200, output_tokens_details: { thinking_tokens: 150 } }),
    ];
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const last = (await ask(steps, {}, { cost })).at(-1);
    expect(last).toMatchObject({
      usage: { input: 100, output: 200, cacheWrite: 100, reasoning: 150, totalTokens: 400 },
    });
    expect(last?.type === "done" && last.usage.cost.total).toBeCloseTo((300 + 3000 + 40 * 3.75 + 60 * 6) / 1e6, 12);
  });

  it("names the session in the service's own header", async () => {
    await ask(anthropic.text("x"), { sessionId: "s1" }, { compat: { sessionHeader: "X-Session-Id" } });
    expect(server.requests[0]?.headers["x-session-id"]).toBe("s1");
  });

  it.each(["stop_sequence", "pause_turn"])("of reason %s is a stop", async (reason) => {
    expect((await ask(anthropic.reply([], reason))).at(-1)).toEqual(done("stop"));
  });
});

describe("a failure", () => {
  const terminal = (events: StreamEvent[]) => {
    expect(events.filter((event) => event.type === "done" || event.type === "error")).toEqual([events.at(-1)]);
    return events.at(-1);
  };

  it.each([
    ["refusal", "refusal"],
    ["sensitive", "content_filter"],
    ["model_context_window_exceeded", "overflow"],
    ["toString", "unknown"],
  ])("named %s is told by its name", async (reason, kind) => {
    expect(terminal(await ask(anthropic.reply([], reason)))).toMatchObject({
      errorMessage: `Provider stop_reason: ${reason}`,
      failure: { kind, code: reason },
      usage: usage(5),
    });
  });

  const text = anthropic.block(0, { type: "text", text: "" }, []);
  it.each<[string, Step[]]>([
    ["the stream ended without message_start", []],
    ["content_block_start came before message_start", text.slice(0, 1)],
    ["message_stop came before message_start", [anthropic.event("message_stop")]],
    [
      "the stream ended without message_stop",
      [anthropic.start(), ...text, ...anthropic.finish("end_turn").slice(0, 1)],
    ],
    ["message_start came twice", [anthropic.start(), anthropic.start()]],
    ["message_stop came without a stop_reason", [anthropic.start(), anthropic.event("message_stop")]],
    ["content block 0 started twice", [anthropic.start(), ...text.slice(0, 1), ...text.slice(0, 1)]],
    [
      "a delta for content block 7, which is not open",
      [anthropic.start(), anthropic.event("content_block_delta", { index: 7 })],
    ],
  ])("of the envelope: %s", async (message, steps) => {
    expect(terminal(await ask(steps))).toMatchObject({
      errorMessage: `Anthropic stream envelope error: ${message}.`,
      failure: { kind: "network" },
    });
  });

  it("inside the stream keeps what came before", async () => {
    const error = anthropic.event("error", { error: { type: "overloaded_error", message: "Overloaded" } });
    const half = anthropic.block(0, { type: "text", text: "" }, [{ type: "text_delta", text: "half" }]).slice(0, 2);
    const events = await ask([anthropic.start(), ...half, error]);
    expect(events.map((event) => event.type)).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(terminal(events)).toMatchObject({
      errorMessage: "overloaded_error: Overloaded",
      failure: { kind: "overloaded", code: "overloaded_error" },
      responseId: "msg_1",
    });
  });

  it("of status, connection, patience and form", async () => {
    const body = '{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}';
    expect(await ask({ status: 429, headers: { "retry-after": "7" }, body })).toMatchObject([
      { type: "error", failure: { kind: "rate_limit", retryAfterMs: 7000, code: "rate_limit_error" } },
    ]);
    await server.close();
    expect(terminal(await ask([anthropic.start(), cut]))).toMatchObject({ failure: { kind: "network" } });
    await server.close();
    expect(terminal(await ask([anthropic.start(), stall], { idleTimeoutMs: 20 }))).toMatchObject({
      errorMessage: "The service timed out: nothing more came for 0.02 s.",
    });
    await server.close();
    expect(terminal(await ask([anthropic.start(), sse("{")]))).toMatchObject({
      errorMessage: "The service sent a malformed event: {",
    });
  });

  it("of a call without a name, and of 10,000 calls", async () => {
    const nameless = anthropic.block(0, { type: "tool_use", id: "a" }, []).slice(0, 1);
    expect(terminal(await ask([anthropic.start(), ...nameless]))).toMatchObject({
      errorMessage: "The service sent a tool call without a name.",
    });
    await server.close();
    const call = (index: number) =>
      `data: ${JSON.stringify({ type: "content_block_start", index, content_block: { type: "tool_use", id: `c${index}`, name: "read" } })}\n\n`;
    const events = await ask({ steps: [anthropic.start(), many(10_000, call)], mayBeLeft: true });
    expect(events.filter((event) => event.type === "toolcall_start")).toHaveLength(128);
    expect(terminal(events)).toMatchObject({ errorMessage: "The model made more than 128 tool calls in one turn." });
  });

  it("on abort is one aborted event, and the connection closes", async () => {
    const abort = new AbortController();
    server = await startScriptedServer([{ steps: [anthropic.start(), stall] }]);
    const events: StreamEvent[] = [];
    for await (const event of streamAnthropicMessages(
      streamRequest(anthropic.model(server.url), { signal: abort.signal }),
    )) {
      events.push(event);
      if (event.type === "start") abort.abort();
    }
    expect(events.slice(1)).toEqual([
      { type: "error", reason: "aborted", errorMessage: "Request was aborted", responseId: "msg_1", usage: usage(1) },
    ]);
    await server.requests[0]?.closed;
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { argumentTexts, collect, streamRequest } from "../../testing/scripted-replies.js";
import { openAiResponses as wire } from "../../testing/scripted-responses.js";
import {
  cut,
  many,
  type Reply,
  raw,
  type ScriptedServer,
  type Step,
  sse,
  startScriptedServer,
} from "../../testing/scripted-server.js";
import type { ProviderModel, StreamEvent, StreamOptions } from "../provider.js";
import { streamByApi } from "../stream-by-api.js";

let server: ScriptedServer;
afterEach(() => server.close());

async function ask(
  reply: Reply | Step[],
  changes: Partial<ProviderModel> = {},
  options: Partial<StreamOptions> = {},
): Promise<StreamEvent[]> {
  server = await startScriptedServer([Array.isArray(reply) ? { steps: reply } : reply]);
  return collect(streamByApi(streamRequest(wire.model(server.url, changes), options)));
}

const usage = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const start = { type: "start", responseId: "resp_1" };
const done = (reason: string) => ({ type: "done", reason, usage, responseId: "resp_1" });
const thinks = { reasoning: true };
const calls = [
  { id: "call_a", name: "read", arguments: { path: "src/one.ts", limit: 10 } },
  { id: "call_b", name: "grep", arguments: { pattern: "interleaved" } },
];

describe("a reply", () => {
  it("streams text, and remembers the id and the phase of its message", async () => {
    const item = wire.message(["Hel", "lo"], { phase: "final_answer" });
    const named = { compat: { sessionHeader: "X-Session" } };
    expect(await ask(wire.reply([item]), named, { apiKey: "k", sessionId: "s1" })).toEqual([
      start,
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Hello" },
      { type: "text_end", contentIndex: 0, textSignature: '{"v":1,"id":"msg_1","phase":"final_answer"}' },
      done("stop"),
    ]);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      path: "/v1/responses",
      headers: { authorization: "Bearer k", accept: "text/event-stream", "x-session": "s1" },
    });
  });

  it("streams reasoning, its parts as paragraphs, and keeps the sealed item as it came", async () => {
    const item = wire.reasoning(["First.", "Then."]);
    expect(await ask(wire.reply([item, wire.message(["yes"])]), thinks)).toEqual([
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "First.\n\nThen." },
      { type: "thinking_end", contentIndex: 0, thinkingSignature: JSON.stringify(item.done) },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "yes" },
      { type: "text_end", contentIndex: 1, textSignature: '{"v":1,"id":"msg_1"}' },
      done("stop"),
    ]);
  });

  it("takes a seal that comes only with the end of the reply", async () => {
    const [late, text] = [wire.reasoning(["hm"], null), wire.message(["yes"])];
    const sealed = { ...late.done, encrypted_content: "late" };
    const steps = [...wire.start(), ...wire.inOrder([late, text]), wire.completed([sealed, text.done])];
    const events = await ask(steps, thinks);
    expect(events.filter(({ type }) => type === "thinking_end")).toEqual([
      { type: "thinking_end", contentIndex: 0, thinkingSignature: JSON.stringify(sealed) },
    ]);
    expect(events.slice(-2)).toMatchObject([{ type: "thinking_end" }, { type: "done", reason: "stop" }]);
  });

  it("signs no reasoning without a seal, and ends it at once where none was asked for", async () => {
    const items = [wire.reasoning(["hm"], null), wire.message(["yes"])];
    const unsealed = { type: "thinking_end", contentIndex: 0 };
    expect(await ask(wire.reply(items), thinks)).toContainEqual(unsealed);
    await server.close();
    const never = { ...thinks, compat: { supportsEncryptedReasoning: false } };
    const events = await ask(wire.reply(items), never);
    expect(events.findIndex(({ type }) => type === "thinking_end")).toBeLessThan(
      events.findIndex(({ type }) => type === "text_start"),
    );
    expect(events).toContainEqual(unsealed);
  });

  it("reads reasoning that is sent openly", async () => {
    const item = { ...wire.reasoning([], "x"), events: [{ type: "response.reasoning_text.delta", delta: "open" }] };
    expect(await ask(wire.reply([item]), thinks)).toContainEqual({
      type: "thinking_delta",
      contentIndex: 0,
      delta: "open",
    });
  });

  it.each(["inOrder" as const, "interleaved" as const])("keeps parallel calls apart: %s", async (how) => {
    const events = await ask(wire.reply([...calls.map(wire.call), wire.message(["so"])], how));
    expect(events.filter(({ type }) => type === "toolcall_start")).toEqual([
      { type: "toolcall_start", contentIndex: 0, id: "call_a|fc_call_a", name: "read" },
      { type: "toolcall_start", contentIndex: 1, id: "call_b|fc_call_b", name: "grep" },
    ]);
    expect(argumentTexts(events).map((text) => JSON.parse(text))).toEqual(calls.map((call) => call.arguments));
    expect(events.at(-1)).toEqual(done("toolUse"));
  });

  it("tells items apart by their id where the service gives no index", async () => {
    const play = wire.interleaved(calls.map(wire.call)).map(withoutIndex);
    const events = await ask([...wire.start(), ...play, wire.completed([])]);
    expect(argumentTexts(events).map((text) => JSON.parse(text))).toEqual(calls.map((call) => call.arguments));
  });

  it("counts what an item says as a whole where no delta came", async () => {
    const items = [wire.reasoning(["a", "b"]), wire.message(["Hello"]), wire.call(calls[0]!)];
    const bare = items.map((item) => ({ ...item, events: [] }));
    const only = bare.map(({ done: item }, output_index) =>
      wire.event("response.output_item.done", { output_index, item }),
    );
    const whole = await ask(wire.reply(items), thinks);
    await server.close();
    expect(await ask(wire.reply(bare), thinks)).toEqual(whole);
    await server.close();
    const output = bare.map((item) => item.done);
    expect(await ask([...wire.start(), ...only, wire.completed(output)], thinks)).toEqual(whole);
    await server.close();
    expect((await ask([wire.completed(output)], thinks)).slice(1)).toEqual(whole.slice(1));
  });

  it("gives a call without arguments an empty object, and a name to one without an id", async () => {
    const events = await ask(wire.reply([wire.call({ id: "", name: "now", arguments: "" })]));
    expect(argumentTexts(events)).toEqual(["{}"]);
    expect(events).toContainEqual({
      type: "toolcall_start",
      contentIndex: 0,
      id: expect.stringMatching(/^fc_\|fc_$/),
      name: "now",
    });
  });

  it("takes a refusal for text that ends the reply", async () => {
    const part = { type: "refusal", refusal: "I will not." };
    const item = {
      ...wire.message([]),
      events: [{ type: "response.refusal.delta", item_id: "msg_1", content_index: 0, delta: "I will not." }],
      done: { ...wire.message([]).done, content: [part] },
    };
    const events = await ask(wire.reply([item]));
    expect(events).toContainEqual({ type: "text_delta", contentIndex: 0, delta: "I will not." });
    expect(events.at(-1)).toEqual(done("stop"));
    await server.close();
    expect(await ask(wire.reply([{ ...item, events: [] }]))).toEqual(events);
  });

  it("ignores items and events that it does not know, and empty events", async () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed" };
    const events = await ask([
      raw("data: \n\n"),
      wire.event("response.queued"),
      ...wire.start(),
      wire.event("response.output_item.added", { output_index: 7, item: search }),
      wire.event("response.web_search_call.searching", { output_index: 7, item_id: "ws_1" }),
      wire.event("response.output_item.done", { output_index: 7, item: search }),
      wire.event("response.moods.delta", { output_index: 0, delta: "joy" }),
      wire.event("constructor", { output_index: 0, delta: "joy" }),
      sse({ type: "keepalive" }),
      sse({}),
      ...wire.inOrder([wire.message(["Hello"])]),
      wire.event("response.output_text.delta", { output_index: 0, delta: "after its end" }),
      wire.completed([search]),
    ]);
    expect(events.map((event) => ("delta" in event ? event.delta : event.type))).toEqual([
      ...["start", "text_start", "Hello", "text_end", "done"],
    ]);
  });

  it("counts cached tokens once, and reasoning as the output that it is", async () => {
    const counts = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 25 },
      total_tokens: 140,
    };
    const cost = { input: 1e6, output: 2e6, cacheRead: 1e5, cacheWrite: 3e6 };
    const events = await ask([...wire.start(), wire.completed([], { usage: counts })], { cost });
    expect(events.at(-1)).toMatchObject({
      usage: { input: 10, output: 40, cacheRead: 60, cacheWrite: 30, reasoning: 25, totalTokens: 140 },
    });
    expect(events.at(-1)).toMatchObject({
      usage: { cost: { input: 10, output: 80, cacheRead: 6, cacheWrite: 90, total: 186 } },
    });
  });
});

describe("a reply that does not end well", () => {
  const incomplete = (reason: string | undefined) =>
    wire.event("response.incomplete", {
      response: wire.response("incomplete", {
        ...(reason === undefined ? {} : { incomplete_details: { reason } }),
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      }),
    });
  const begun = (...last: Step[]) => [...wire.start(), ...wire.inOrder([wire.message(["Hel"])]).slice(0, 3), ...last];

  it.each(["max_output_tokens", undefined])("is cut at the limit: %s", async (reason) => {
    const call = wire.inOrder([wire.call(calls[0]!)]).slice(0, 2);
    const events = await ask([...wire.start(), ...call, incomplete(reason)]);
    expect(events.slice(-2)).toEqual([{ type: "toolcall_end", contentIndex: 0 }, done("length")]);
    expect(argumentTexts(events)).toEqual(['{"path"']);
  });

  it("gives no arguments to a call that was cut before they came", async () => {
    const events = await ask([
      ...wire.start(),
      ...wire.inOrder([wire.call(calls[0]!)]).slice(0, 1),
      incomplete("max_output_tokens"),
    ]);
    expect(argumentTexts(events)).toEqual([""]);
  });

  it.each<[string, Reply | Step[], object]>([
    [
      "a content filter",
      begun(incomplete("content_filter")),
      {
        errorMessage: "Provider incomplete_details: content_filter",
        failure: { kind: "content_filter", code: "content_filter" },
        usage,
      },
    ],
    [
      "a failed response",
      begun(
        wire.event("response.failed", {
          response: wire.response("failed", { error: { code: "server_error", message: "Something broke." } }),
        }),
      ),
      { errorMessage: "server_error: Something broke.", failure: { kind: "server", code: "server_error" } },
    ],
    [
      "a failed response that says nothing",
      begun(wire.event("response.failed", { response: wire.response("failed") })),
      { errorMessage: "The service reported an error without saying which.", failure: { kind: "unknown" } },
    ],
    [
      "an error event",
      [wire.event("error", { code: "rate_limit_exceeded", message: "Slow down.", param: null })],
      { errorMessage: "rate_limit_exceeded: Slow down.", failure: { kind: "rate_limit", code: "rate_limit_exceeded" } },
    ],
    [
      "an error event with an object",
      [
        wire.event("error", {
          error: { type: "invalid_request_error", code: "context_length_exceeded", message: "Big." },
        }),
      ],
      { errorMessage: "context_length_exceeded: Big.", failure: { kind: "overflow", code: "context_length_exceeded" } },
    ],
    [
      "an error without a type",
      begun(sse({ error: { message: "Overloaded, try later", code: 503 } })),
      { errorMessage: "Overloaded, try later", failure: { kind: "overloaded", status: 503 } },
    ],
    [
      "an overflow by status",
      {
        status: 400,
        body: JSON.stringify({
          error: {
            message: "Your input exceeds the context window of this model.",
            type: "invalid_request_error",
            code: "context_length_exceeded",
          },
        }),
      },
      {
        errorMessage: "HTTP 400 context_length_exceeded: Your input exceeds the context window of this model.",
        failure: { kind: "overflow", status: 400, code: "context_length_exceeded" },
      },
    ],
    ["a cut connection", begun(cut), { failure: { kind: "network", code: "ECONNRESET" } }],
    [
      "a stream without an end",
      begun(sse("[DONE]")),
      {
        errorMessage: "The stream ended before the reply did: no response.completed came.",
        failure: { kind: "network" },
      },
    ],
    [
      "truncated JSON",
      begun(raw('data: {"type":"response.output_te\n\n')),
      {
        errorMessage: 'The service sent a malformed event: {"type":"response.output_te',
        failure: { kind: "server" },
      },
    ],
    [
      "a page of HTML",
      { status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" },
      { errorMessage: "The service answered with a web page instead of a stream of events: <html>Sign in</html>" },
    ],
    [
      "a call without a name",
      [...wire.start(), ...wire.inOrder([wire.call({ id: "a", name: "", arguments: {} })])],
      { errorMessage: "The service sent a tool call without a name.", failure: { kind: "server" } },
    ],
    [
      "a flood of calls",
      {
        steps: [
          many(200, (output_index) => {
            const item = { type: "function_call", id: `fc_${output_index}`, call_id: `c${output_index}`, name: "x" };
            return `data: ${JSON.stringify({ type: "response.output_item.added", output_index, item })}\n\n`;
          }),
        ],
        mayBeLeft: true,
      },
      { errorMessage: "The model made more than 128 tool calls in one turn." },
    ],
  ])("fails once: %s", async (_name, reply, expected) => {
    const events = await ask(reply);
    expect(events.filter(({ type }) => type === "done" || type === "error")).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ type: "error", reason: "error", ...expected });
  });
});

function withoutIndex(step: Step): Step {
  if (step.type !== "bytes") return step;
  return raw(
    Buffer.from(step.bytes)
      .toString()
      .replace(/"output_index":\d+,/, ""),
  );
}

import { getEventListeners, once } from "node:events";
import { globalAgent } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { argumentTexts, collect, openAi, streamRequest } from "../../testing/scripted-replies.js";
import {
  comment,
  cut,
  Gate,
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
import { streamOpenAiCompletions } from "./openai-completions.js";

let server: ScriptedServer;
afterEach(() => server.close());

async function ask(
  reply: Reply | Step[],
  options: Partial<StreamOptions> = {},
  changes: Partial<ProviderModel> = {},
): Promise<StreamEvent[]> {
  server = await startScriptedServer([Array.isArray(reply) ? { steps: reply } : reply]);
  return collect(streamOpenAiCompletions(streamRequest(openAi.model(server.url, changes), options)));
}

const usage = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const done = (reason: string) => ({ type: "done", reason, usage, responseId: "chatcmpl-1" });
const start = { type: "start", responseId: "chatcmpl-1" };

describe("a key that the service repeats", () => {
  const apiKey = "sk-live/0123456789+abc=";
  const messageOf = async (reply: Reply | Step[], options: Partial<StreamOptions> = { apiKey }) => {
    const [event] = (await ask(reply, options)).slice(-1);
    return event?.type === "error" ? event.errorMessage : event;
  };

  it.each([
    ["as it is", apiKey],
    ["in an address", encodeURIComponent(apiKey)],
    ["in base64", Buffer.from(apiKey).toString("base64")],
  ])("is not told: %s", async (_form, text) => {
    const complaint = JSON.stringify({ error: { message: `Incorrect API key provided: ${text}. Try another.` } });
    const message = await messageOf({ status: 401, body: complaint });
    expect(message).toContain("Incorrect API key provided: [secret:openai]");
    expect(message).toContain("Try another.");
  });

  it("is not told when an excerpt ends within it, nor in the middle of a reply, nor out of a header", async () => {
    const long = `${"x".repeat(480)} ${apiKey.repeat(40)}`;
    const cutOff = String(await messageOf({ status: 500, body: long }));
    expect(cutOff).toContain("[secret:openai]");
    for (let length = 4; length <= apiKey.length; length++) expect(cutOff).not.toContain(apiKey.slice(0, length));
    const late = [openAi.chunk({ content: "a" }), sse({ error: { message: `bad key ${apiKey}` } })];
    expect(await messageOf(late)).toBe("bad key [secret:openai]");
    const headers = { "X-Api-Key": apiKey, "X-Team": "visible-name" };
    expect(await messageOf({ status: 403, body: `${apiKey} of visible-name` }, { headers })).toMatch(
      /\[secret:openai\] of visible-name/,
    );
  });
});

describe("a reply", () => {
  it("streams text", async () => {
    expect(await ask(openAi.text("Hel", "lo"), { apiKey: "k" })).toEqual([
      start,
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Hello" },
      { type: "text_end", contentIndex: 0 },
      done("stop"),
    ]);
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer k", accept: "text/event-stream" },
    });
  });

  it("streams thinking, and remembers the field it came in", async () => {
    expect(await ask(openAi.thinking("hm", "yes"))).toEqual([
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0, thinkingSignature: "reasoning_content" },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "yes" },
      { type: "text_end", contentIndex: 1 },
      done("stop"),
    ]);
  });

  it.each(["reasoning", "reasoning_text"])("takes %s for thinking once, whatever else repeats it", async (field) => {
    const steps = [openAi.chunk({ [field]: "hm", reasoning_content: "" }), ...openAi.finish("stop")];
    expect(await ask(steps)).toContainEqual({ type: "thinking_end", contentIndex: 0, thinkingSignature: field });
  });

  it("keeps interleaved tool calls apart", async () => {
    const calls = [
      { id: "a", name: "read", arguments: { path: "src/one.ts", limit: 10 } },
      { id: "b", name: "grep", arguments: { pattern: '{"}[', path: "." } },
    ];
    const events = await ask(openAi.toolCalls(calls));
    expect(callsIn(events)).toEqual(calls);
    expect(events.at(-1)).toEqual(done("toolUse"));
    expect(events.filter((event) => event.type === "toolcall_end")).toHaveLength(2);
  });

  it("is toolUse when calls end in a plain stop", async () => {
    const calls = [{ id: "a", name: "read", arguments: {} }];
    expect((await ask(openAi.toolCalls(calls, "stop"))).at(-1)).toEqual(done("toolUse"));
  });

  it("keeps length, with calls as they were cut", async () => {
    const events = await ask(openAi.toolCalls([{ id: "a", name: "write", arguments: '{"path":"x' }], "length"));
    expect(argumentTexts(events)).toEqual(['{"path":"x']);
    expect(events.at(-1)).toEqual(done("length"));
  });

  it("tells no arguments from lost arguments", async () => {
    const bare = [{ id: "a", name: "todo", arguments: "" }];
    expect(argumentTexts(await ask(openAi.toolCalls(bare)))).toEqual(["{}"]);
    await server.close();
    expect(argumentTexts(await ask(openAi.toolCalls(bare, "length")))).toEqual([""]);
  });

  it("takes content that comes as a list of parts", async () => {
    const steps = [
      openAi.chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "h" }] }] }),
      openAi.chunk({
        content: [{ type: "thinking", thinking: [{ type: "text", text: "m" }, { type: "reference" }, 7] }],
      }),
      openAi.chunk({ content: [{ type: "reference", reference_ids: [1] }, null, { type: "text", text: "4" }] }),
      openAi.chunk({ content: "2" }),
      ...openAi.finish("stop"),
    ];
    expect(await ask(steps)).toEqual([
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0 },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "42" },
      { type: "text_end", contentIndex: 1 },
      done("stop"),
    ]);
  });

  it("takes arguments that come as an object", async () => {
    const call = { index: 0, id: "a", function: { name: "read", arguments: { path: "x" } } };
    const events = await ask([openAi.chunk({ tool_calls: [call] }), ...openAi.finish("tool_calls")]);
    expect(argumentTexts(events)).toEqual(['{"path":"x"}']);
  });

  it("is not lost to what follows its end, nor to an empty event", async () => {
    const settled = [openAi.chunk({ content: "x" }), openAi.chunk({}, "stop")];
    for (const after of ["[DONE] ", "", "<!-- served by acme -->"]) {
      const events = await ask([raw("data:\n\n"), ...settled, raw(`data: ${after}\n\n`)]);
      expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop" });
      await server.close();
    }
    const events = await ask({ steps: [openAi.chunk({ content: "x" }), raw("data: [DONE] \n\n")], mayBeLeft: true });
    expect(events.at(-1)).toMatchObject({ errorMessage: expect.stringContaining("no finish_reason") as string });
  });

  it("puts up with services that number badly", async () => {
    const call = (part: object) => openAi.chunk({ tool_calls: [part] });
    const steps = [
      call({ index: 0, id: "a", function: { name: "one", arguments: "{}" } }),
      call({ index: 0, id: "b", function: { name: "two", arguments: "{}" } }),
      call({ id: "c", function: { name: "three", arguments: "{" } }),
      call({ function: { arguments: "}" } }),
      call({ id: "a", function: { name: "four", arguments: "{}" } }),
      call({ index: 9, id: "e" }),
      call({ index: 9, function: { arguments: '{"x":' } }),
      call({ index: 9, function: { name: "five", arguments: "1}" } }),
      call({ index: 10, function: { name: "six", arguments: "{}" } }),
      ...openAi.finish("tool_calls"),
    ];
    const calls = callsIn(await ask(steps));
    expect(calls.map((each) => [each.name, each.arguments])).toEqual([
      ["one", {}],
      ["two", {}],
      ["three", {}],
      ["four", {}],
      ["five", { x: 1 }],
      ["six", {}],
    ]);
    expect(new Set(calls.map((each) => each.id)).size).toBe(6);
    expect(calls[3]?.id).toMatch(/^call_[0-9a-f]{16}$/); // "a" was taken
  });

  it("counts and prices usage: cached tokens apart, reasoning once", async () => {
    const counts = {
      prompt_tokens: 1000,
      completion_tokens: 300,
      total_tokens: 1300,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 200 },
    };
    const cost = { input: 2, output: 10, cacheRead: 1, cacheWrite: 0 };
    const events = await ask([openAi.chunk({ content: "x" }), ...openAi.finish("stop", counts)], {}, { cost });
    expect(events.at(-1)).toMatchObject({
      usage: {
        input: 600,
        output: 300,
        cacheRead: 400,
        reasoning: 200,
        totalTokens: 1300,
        cost: { input: 0.0012, output: 0.003, cacheRead: 0.0004, total: 0.0046 },
      },
    });
  });

  it("counts cache writes apart, and never more tokens than the prompt has", async () => {
    const counts = (cached_tokens: number, cache_write_tokens: number) => ({
      prompt_tokens: 1000,
      completion_tokens: 10,
      total_tokens: 1010,
      prompt_tokens_details: { cached_tokens, cache_write_tokens },
    });
    const cost = { input: 2, output: 10, cacheRead: 1, cacheWrite: 4 };
    const first = await ask(openAi.finish("stop", counts(400, 500)), {}, { cost });
    expect(first.at(-1)).toMatchObject({
      usage: { input: 100, cacheRead: 400, cacheWrite: 500, cost: { total: (200 + 100 + 400 + 2000) / 1e6 } },
    });
    await server.close();
    const odd = await ask(openAi.finish("stop", counts(900, 500)), {}, { cost });
    expect(odd.at(-1)).toMatchObject({ usage: { input: 0, cacheRead: 900, cacheWrite: 100 } });
  });

  it("believes a router's bill before its own price list", async () => {
    const counts = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010, cost: 0.0123 };
    const cost = { input: 2, output: 10, cacheRead: 1, cacheWrite: 4 };
    const total = async (usage: object) => {
      const last = (await ask(openAi.finish("stop", usage), {}, { cost })).at(-1);
      await server.close();
      return last?.type === "done" ? last.usage.cost.total : undefined;
    };
    expect(await total(counts)).toBe(0.0123);
    expect(await total({ ...counts, cost_details: { upstream_inference_cost: 1 } })).toBe(0.0123);
    expect(await total({ ...counts, is_byok: true, cost_details: { upstream_inference_cost: 1 } })).toBeCloseTo(1.0123);
    for (const odd of ["1", -1, null]) expect(await total({ ...counts, cost: odd })).toBeCloseTo(0.0021);
  });

  it("names the session in the service's own header", async () => {
    const compat = { sessionHeader: "X-Session-Id" };
    await ask(openAi.text("x"), { sessionId: "s1" }, { compat });
    expect(server.requests[0]?.headers["x-session-id"]).toBe("s1");
  });

  it("survives characters cut in two, comments, CRLF and a missing [DONE]", async () => {
    const gate = new Gate();
    const bytes = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: "héé😀" } }] })}\r\n\r\n`);
    const half = bytes.indexOf(Buffer.from("😀")) + 2;
    const steps = [
      raw(bytes.subarray(0, half)),
      gate.step,
      raw(bytes.subarray(half)),
      comment("ping"),
      openAi.chunk({}, "stop"),
    ];
    const events = ask(steps);
    await gate.reached;
    gate.open();
    expect(await events).toContainEqual({ type: "text_delta", contentIndex: 0, delta: "héé😀" });
    expect((await events).at(-1)).toMatchObject({ type: "done", reason: "stop" });
  });

  it("stands once its end was told, even if the connection breaks then", async () => {
    const events = await ask([openAi.chunk({ content: "x" }), openAi.chunk({}, "stop"), cut]);
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop", usage: { totalTokens: 0 } });
  });

  it("reads 50,000 deltas", async () => {
    const events = await ask(openAi.manyDeltas(50_000));
    const text = events.map((event) => ("delta" in event ? event.delta : "")).join("");
    expect(text).toBe("word ".repeat(50_000));
  });
});

describe("a failure", () => {
  const terminal = (events: StreamEvent[]) => {
    expect(events.filter((event) => event.type === "done" || event.type === "error")).toEqual([events.at(-1)]);
    return events.at(-1);
  };

  it("is rate_limit with the time to wait, and comes without start", async () => {
    const events = await ask({ status: 429, headers: { "retry-after": "7" }, body: '{"error":{"message":"slow"}}' });
    expect(events).toEqual([
      {
        type: "error",
        reason: "error",
        errorMessage: "HTTP 429: slow",
        failure: { kind: "rate_limit", status: 429, retryAfterMs: 7000 },
      },
    ]);
  });

  it.each([
    [500, "oops", "server"],
    [400, '{"error":{"message":"prompt is too long: 9 tokens"}}', "overflow"],
    [400, '{"error":{"message":"max_tokens 45000 is too large"}}', "invalid_request"],
    [401, "who?", "auth"],
  ])("of status %i %s is %s", async (status, body, kind) => {
    expect(terminal(await ask({ status, body }))).toMatchObject({ failure: { kind, status } });
  });

  it("inside the stream keeps what came before", async () => {
    const error = sse({ error: { message: "Overloaded", type: "overloaded_error" } });
    const events = await ask({ steps: [openAi.chunk({ content: "half" }), error], mayBeLeft: true });
    expect(events.map((event) => event.type)).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(terminal(events)).toMatchObject({
      errorMessage: "overloaded_error: Overloaded",
      failure: { kind: "overloaded" },
      responseId: "chatcmpl-1",
    });
  });

  it("of the connection is network", async () => {
    expect(terminal(await ask([openAi.chunk({ content: "half" }), cut]))).toMatchObject({
      errorMessage: "Connection failed: the service closed the connection before its reply ended (ECONNRESET)",
      failure: { kind: "network", code: "ECONNRESET" },
    });
    await server.close();
    expect(terminal(await ask([cut]))).toMatchObject({ failure: { kind: "network" } });
    const { url } = server;
    const dead = openAi.model(url);
    await server.close();
    const events = await collect(streamOpenAiCompletions(streamRequest(dead)));
    const errorMessage = `Nothing listens at ${url}. Is the server running?`;
    expect(events).toMatchObject([{ type: "error", errorMessage, failure: { kind: "network", code: "ECONNREFUSED" } }]);
  });

  it("of patience is network: no first event, no next event", async () => {
    expect(terminal(await ask([stall], { firstEventTimeoutMs: 20 }))).toMatchObject({
      errorMessage: "The service timed out: no answer within 0.02 s.",
      failure: { kind: "network", code: "timeout" },
    });
    await server.close();
    const events = await ask([openAi.chunk({ content: "half" }), stall], { idleTimeoutMs: 20 });
    expect(events.map((event) => event.type)).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(terminal(events)).toMatchObject({ errorMessage: "The service timed out: nothing more came for 0.02 s." });
  });

  it("of the end is network", async () => {
    expect(terminal(await ask([openAi.chunk({ content: "half" }), sse("[DONE]")]))).toMatchObject({
      errorMessage: "The stream ended before the reply did: no finish_reason came.",
      failure: { kind: "network" },
    });
    await server.close();
    expect(terminal(await ask([openAi.chunk({ content: "half" })]))).toMatchObject({ failure: { kind: "network" } });
  });

  it.each([
    ["content_filter", "content_filter"],
    ["network_error", "network"],
    ["constructor", "unknown"],
  ])("named %s is told by its name", async (reason, kind) => {
    expect(terminal(await ask([openAi.chunk({ content: "x" }), ...openAi.finish(reason)]))).toMatchObject({
      errorMessage: `Provider finish_reason: ${reason}`,
      failure: { kind, code: reason },
    });
  });

  it("of form is told cleanly", async () => {
    for (const data of ["{broken", "[1]", "null", '"text"']) {
      const events = await ask({ steps: [openAi.chunk({ content: "x" }), sse(data)], mayBeLeft: true });
      expect(terminal(events)).toMatchObject({
        errorMessage: `The service sent a malformed event: ${data}`,
        failure: { kind: "server" },
      });
      await server.close();
    }
    const odd = [
      sse({ choices: "x", usage: 7 }),
      sse({ choices: [null] }),
      sse({ choices: [{ delta: { tool_calls: [1, {}] } }] }),
    ];
    expect(terminal(await ask([...odd, ...openAi.finish("stop")]))).toMatchObject({
      errorMessage: "The service sent a tool call without a name.",
    });
  });

  it("ends a reply of 10,000 tool calls at the 129th", async () => {
    const call = (index: number) =>
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index, id: `c${index}`, function: { name: "read", arguments: "{}" } }] } }] })}\n\n`;
    const events = await ask({ steps: [many(10_000, call), ...openAi.finish("tool_calls")], mayBeLeft: true });
    expect(events.filter((event) => event.type === "toolcall_start")).toHaveLength(128);
    expect(terminal(events)).toMatchObject({ errorMessage: "The model made more than 128 tool calls in one turn." });
  });

  it("of the configuration comes before any request", async () => {
    server = await startScriptedServer([]);
    const model = openAi.model(server.url, { baseUrl: "http://example.com/v1" });
    expect(await collect(streamOpenAiCompletions(streamRequest(model, { apiKey: "sk-secret" })))).toMatchObject([
      { type: "error", failure: { kind: "invalid_request" } },
    ]);
  });

  it("of a redirect does not send the key on", async () => {
    const stranger = await startScriptedServer([]);
    const [event] = await ask({ status: 302, headers: { location: `${stranger.url}/v1` } }, { apiKey: "sk-secret" });
    expect(event).toMatchObject({ type: "error", failure: { kind: "invalid_request" } });
    expect(stranger.requests).toEqual([]);
    await stranger.close();
  });
});

describe("stopping", () => {
  it("on abort ends in one aborted event and closes the connection", async () => {
    const abort = new AbortController();
    server = await startScriptedServer([{ steps: [openAi.chunk({ content: "half" }), stall] }]);
    const events: StreamEvent[] = [];
    for await (const event of streamOpenAiCompletions(
      streamRequest(openAi.model(server.url), { signal: abort.signal }),
    )) {
      events.push(event);
      if (event.type === "text_delta") abort.abort();
    }
    expect(events.slice(2)).toEqual([
      { type: "text_delta", contentIndex: 0, delta: "half" },
      { type: "error", reason: "aborted", errorMessage: "Request was aborted", responseId: "chatcmpl-1" },
    ]);
    await server.requests[0]?.closed;
  });

  it.each([
    ["is over", [openAi.chunk({ content: "a" }), openAi.chunk({}, "stop")]],
    ["breaks off", [openAi.chunk({ content: "a" }), cut]],
  ])("leaves nothing on the signal of a run when a reply %s", async (_how, reply) => {
    const { signal } = new AbortController();
    await ask(reply, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("on abort while waiting for the answer", async () => {
    const abort = new AbortController();
    const gate = new Gate();
    const events = ask({ steps: [gate.step], mayBeLeft: true }, { signal: abort.signal });
    await gate.reached;
    abort.abort();
    expect(await events).toEqual([{ type: "error", reason: "aborted", errorMessage: "Request was aborted" }]);
  });

  it("with a signal that has already fired sends no request", async () => {
    server = await startScriptedServer([]);
    const signal = AbortSignal.abort();
    const events = await collect(streamOpenAiCompletions(streamRequest(openAi.model(server.url), { signal })));
    expect(events).toMatchObject([{ type: "error", reason: "aborted" }]);
  });

  it("by leaving closes the connection", async () => {
    server = await startScriptedServer([{ steps: [openAi.chunk({ content: "half" }), stall] }]);
    for await (const event of streamOpenAiCompletions(streamRequest(openAi.model(server.url)))) {
      if (event.type === "text_delta") break;
    }
    await server.requests[0]?.closed;
  });

  it("with the last event leaves a connection that serves the next call", async () => {
    server = await startScriptedServer([openAi.text("a"), openAi.text("b")]);
    for (let turn = 0; turn < 2; turn += 1) {
      const freed = once(globalAgent, "free");
      for await (const event of streamOpenAiCompletions(streamRequest(openAi.model(server.url)))) {
        if (event.type === "done") break;
      }
      await freed;
    }
    expect(server.requests[1]?.port).toBe(server.requests[0]?.port);
  });

  it("lets the payload be seen first", async () => {
    const seen: unknown[] = [];
    await ask(openAi.text("x"), { onPayload: (payload) => seen.push(payload) });
    expect(seen).toEqual([server.requests[0]?.body]);
  });
});

function callsIn(events: StreamEvent[]) {
  const texts = argumentTexts(events);
  return events
    .filter((event) => event.type === "toolcall_start")
    .map(({ id, name }, index) => ({ id, name, arguments: JSON.parse(texts[index] ?? "") as unknown }));
}

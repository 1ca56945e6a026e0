import { afterEach, describe, expect, it } from "vitest";
import { google } from "../../testing/scripted-google.js";
import { argumentTexts, collect, streamRequest } from "../../testing/scripted-replies.js";
import {
  comment,
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
import { streamGoogleGenerativeAi } from "./google-generative-ai.js";

let server: ScriptedServer;
afterEach(() => server.close());

async function ask(
  reply: Reply | Step[],
  options: Partial<StreamOptions> = {},
  changes: Partial<ProviderModel> = {},
): Promise<StreamEvent[]> {
  server = await startScriptedServer([Array.isArray(reply) ? { steps: reply } : reply]);
  return collect(streamGoogleGenerativeAi(streamRequest(google.model(server.url, changes), options)));
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
const start = { type: "start", responseId: "resp_1" };
const done = (reason: string) => ({ type: "done", reason, usage, responseId: "resp_1" });

describe("a request", () => {
  const asked = async (path: string, changes: Partial<ProviderModel> = {}, options: Partial<StreamOptions> = {}) => {
    server = await startScriptedServer([google.text("x")]);
    const model = google.model(server.url, { ...changes, baseUrl: `${server.url}${path}` });
    await collect(streamGoogleGenerativeAi(streamRequest(model, options)));
    return server.requests[0];
  };

  it.each([
    ["", "/v1beta/models/"],
    ["/", "/v1beta/models/"],
    ["/v1beta/", "/v1beta/models/"],
    ["/v1/projects/p/locations/l/publishers/google", "/v1/projects/p/locations/l/publishers/google/models/"],
  ])("to a base with the path %j goes to %s", async (path, root) => {
    expect((await asked(path))?.path).toBe(`${root}gemini-3.8-flash:streamGenerateContent?alt=sse`);
  });

  it.each([
    ["models/gemini-2.5-pro", "models/gemini-2.5-pro"],
    ["tunedModels/mine", "tunedModels/mine"],
    ["odd?id#1", "models/odd%3Fid%231"],
  ])("for the model %s names it as %s", async (id, path) => {
    expect((await asked("/v1", { id }))?.path).toBe(`/v1/${path}:streamGenerateContent?alt=sse`);
  });

  it("has the key in one header, and no key beside a bearer token", async () => {
    const own = await asked("", { headers: { "X-Own": "1" } }, { apiKey: "key-1\n", headers: { "x-more": "2" } });
    expect(own?.headers).toMatchObject({ "x-goog-api-key": "key-1", "x-own": "1", "x-more": "2" });
    expect(JSON.stringify({ ...own, headers: { ...own?.headers, "x-goog-api-key": "" } })).not.toContain("key-1");
    await server.close();
    const token = await asked("", {}, { apiKey: "key-1", headers: { Authorization: "Bearer t" } });
    expect(token?.headers.authorization).toBe("Bearer t");
    expect(token?.headers).not.toHaveProperty("x-goog-api-key");
  });
});

describe("a reply", () => {
  it("streams text", async () => {
    expect(await ask(google.text("Hel", "lo"))).toEqual([
      start,
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Hello" },
      { type: "text_end", contentIndex: 0 },
      done("stop"),
    ]);
  });

  it("streams thoughts, and keeps every signed part apart, the empty ones too", async () => {
    const parts = [
      { text: "h", thought: true },
      { text: "m", thought: true },
      { text: "so", thought: true, thoughtSignature: "t1" },
      { text: "", thought: true },
      { text: "a" },
      { text: "" },
      { text: "b" },
      { text: "c", thoughtSignature: "s1" },
      { text: "d", thoughtSignature: "s2" },
      { text: "e" },
      { thoughtSignature: "s3" },
      { text: "", thoughtSignature: "" },
    ];
    expect(await ask(google.reply(parts))).toEqual([
      start,
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0 },
      { type: "thinking_start", contentIndex: 1 },
      { type: "thinking_delta", contentIndex: 1, delta: "so" },
      { type: "thinking_end", contentIndex: 1, thinkingSignature: "t1" },
      { type: "text_start", contentIndex: 2 },
      { type: "text_delta", contentIndex: 2, delta: "ab" },
      { type: "text_end", contentIndex: 2 },
      { type: "text_start", contentIndex: 3 },
      { type: "text_delta", contentIndex: 3, delta: "c" },
      { type: "text_end", contentIndex: 3, textSignature: "s1" },
      { type: "text_start", contentIndex: 4 },
      { type: "text_delta", contentIndex: 4, delta: "d" },
      { type: "text_end", contentIndex: 4, textSignature: "s2" },
      { type: "text_start", contentIndex: 5 },
      { type: "text_delta", contentIndex: 5, delta: "e" },
      { type: "text_end", contentIndex: 5 },
      { type: "text_start", contentIndex: 6 },
      { type: "text_end", contentIndex: 6, textSignature: "s3" },
      done("stop"),
    ]);
  });

  it("streams parallel calls, signed or not, with their own ids or ours", async () => {
    const parts = [
      { text: "Look." },
      { functionCall: { id: "f1", name: "read", args: { path: "a" } }, thoughtSignature: "c1" },
      { functionCall: { id: "f1", name: "read", args: { path: "b" } } },
      { functionCall: { name: "todo" } },
      { functionCall: { id: "f2", name: "todo", args: {} } },
    ];
    const events = await ask([google.chunk(parts), google.finish("STOP")]);
    const ids = events.flatMap((event) => (event.type === "toolcall_start" ? [event.id] : []));
    expect(ids).toEqual(["f1", expect.stringMatching(/^call_/), expect.stringMatching(/^call_/), "f2"]);
    expect(new Set(ids).size).toBe(4);
    expect(argumentTexts(events)).toEqual(['{"path":"a"}', '{"path":"b"}', "{}", "{}"]);
    expect(events.slice(1, 10)).toEqual([
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Look." },
      { type: "text_end", contentIndex: 0 },
      { type: "toolcall_start", contentIndex: 1, id: "f1", name: "read" },
      { type: "toolcall_delta", contentIndex: 1, delta: '{"path":"a"}' },
      { type: "toolcall_end", contentIndex: 1, thoughtSignature: "c1" },
      { type: "toolcall_start", contentIndex: 2, id: ids[1], name: "read" },
      { type: "toolcall_delta", contentIndex: 2, delta: '{"path":"b"}' },
      { type: "toolcall_end", contentIndex: 2 },
    ]);
    expect(events.at(-1)).toEqual(done("toolUse"));
  });

  it("that reached its length keeps that", async () => {
    expect((await ask(google.reply([{ text: "half" }], "MAX_TOKENS"))).at(-1)).toEqual(done("length"));
    await server.close();
    const call = { functionCall: { name: "read", args: {} } };
    expect((await ask(google.reply([call], "MAX_TOKENS"))).at(-1)).toEqual(done("length"));
  });

  it("is not lost to events, fields and parts that are not known", async () => {
    const odd = [
      { executableCode: { code: "1" } },
      { inlineData: { data: "AA" } },
      7,
      null,
      { text: 7 },
      { text: "x" },
    ];
    const events = await ask([
      comment("alive"),
      raw("data:\n\n"),
      sse({ modelVersion: "gemini-9", responseId: "resp_1", mood: { is: "fine" } }),
      sse({ candidates: [] }),
      sse({ candidates: [null] }),
      sse({ candidates: "many", promptFeedback: { safetyRatings: [] }, usageMetadata: null }),
      raw("event: weather\ndata: {}\n\n"),
      google.chunk(odd as object[], { groundingMetadata: {}, finishReason: "" }),
      google.finish("STOP"),
      sse("[DONE]"),
    ]);
    expect(events).toEqual([
      start,
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "x" },
      { type: "text_end", contentIndex: 0 },
      done("stop"),
    ]);
  });

  it("with whole calls and an end that is not known is a call", async () => {
    const call = { functionCall: { name: "read", args: {} } };
    expect((await ask(google.reply([call], "YET_TO_COME"))).at(-1)).toEqual(done("toolUse"));
  });

  it("counts and prices the last usage that came", async () => {
    const last = {
      promptTokenCount: 500,
      cachedContentTokenCount: 400,
      toolUsePromptTokenCount: 20,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 100,
      totalTokenCount: 820,
    };
    const steps = [
      sse({ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 7 } }),
      google.finish("STOP", last),
      sse({ usageMetadata: last }),
    ];
    const rates = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 5 };
    const event = (await ask(steps, {}, { cost: rates })).at(-1);
    expect(event).toMatchObject({
      usage: { input: 120, output: 300, cacheRead: 400, cacheWrite: 0, totalTokens: 820, reasoning: 100 },
    });
    expect(event?.type === "done" && event.usage.cost.total).toBeCloseTo((120 + 3000 + 40) / 1e6);
  });

  it("reads counts that make no sense as none", async () => {
    const odd = {
      promptTokenCount: 5,
      cachedContentTokenCount: 9,
      candidatesTokenCount: "many",
      thoughtsTokenCount: -1,
    };
    expect((await ask([google.finish("STOP", odd)])).at(-1)).toMatchObject({
      usage: { input: 0, output: 0, cacheRead: 5, totalTokens: 5 },
    });
  });
});

describe("a failure", () => {
  const terminal = (events: StreamEvent[]) => {
    expect(events.filter((event) => event.type === "done" || event.type === "error")).toEqual([events.at(-1)]);
    return events.at(-1);
  };

  it.each([
    ...["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"].map((word) => [
      word,
      "content_filter",
    ]),
    ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"].map((word) => [word, "server"]),
    ...["OTHER", "FINISH_REASON_UNSPECIFIED", "toString"].map((word) => [word, "unknown"]),
  ])("named %s is told by its name", async (reason, kind) => {
    const events = await ask(google.reply([{ text: "half" }], reason));
    expect(events.map((event) => event.type)).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(terminal(events)).toMatchObject({
      errorMessage: `Provider finishReason: ${reason}`,
      failure: { kind, code: reason },
      usage,
    });
  });

  it("named by the service is one in spite of calls", async () => {
    const call = { functionCall: { name: "read", args: {} } };
    expect(terminal(await ask(google.reply([call], "SAFETY")))).toMatchObject({ failure: { kind: "content_filter" } });
  });

  it("of a prompt that was blocked", async () => {
    const blocked = sse({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 3 },
    });
    expect(terminal(await ask({ steps: [blocked], mayBeLeft: true }))).toMatchObject({
      errorMessage: "Prompt blocked: PROHIBITED_CONTENT",
      failure: { kind: "content_filter", code: "PROHIBITED_CONTENT" },
      usage: { input: 3 },
    });
  });

  it("inside the stream keeps what came before", async () => {
    const error = sse({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } });
    const events = await ask([google.chunk([{ text: "half" }]), error]);
    expect(events.map((event) => event.type)).toEqual(["start", "text_start", "text_delta", "error"]);
    expect(terminal(events)).toMatchObject({
      errorMessage: expect.stringContaining("The model is overloaded."),
      failure: { kind: "overloaded", status: 503 },
      responseId: "resp_1",
    });
  });

  it("of an input that is too long", async () => {
    const message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    const body = JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
    expect(await ask({ status: 400, headers: { "content-type": "application/json" }, body })).toMatchObject([
      { type: "error", failure: { kind: "overflow", status: 400 } },
    ]);
  });

  it("of connection, patience and form", async () => {
    const half = google.chunk([{ text: "half" }]);
    expect(terminal(await ask([half, cut]))).toMatchObject({ failure: { kind: "network" } });
    await server.close();
    expect(terminal(await ask([half]))).toMatchObject({
      errorMessage: "The stream ended before the reply did: no finishReason came.",
      failure: { kind: "network" },
    });
    await server.close();
    expect(terminal(await ask([half, stall], { idleTimeoutMs: 20 }))).toMatchObject({
      errorMessage: "The service timed out: nothing more came for 0.02 s.",
    });
    await server.close();
    expect(terminal(await ask({ steps: [half, sse('{"candidates":[{"con')], mayBeLeft: true }))).toMatchObject({
      errorMessage: 'The service sent a malformed event: {"candidates":[{"con',
      failure: { kind: "server" },
    });
    await server.close();
    expect(terminal(await ask([half, raw('data: {"candidates":[{"con')]))).toMatchObject({
      failure: { kind: "network" },
    });
  });

  it("of an answer in HTML, and of one in JSON", async () => {
    const html = { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Sign in</h1>" };
    expect(await ask(html)).toMatchObject([{ type: "error", errorMessage: expect.stringContaining("Sign in") }]);
    await server.close();
    const json = { status: 200, headers: { "content-type": "application/json" }, body: '[{"candidates":[]}]' };
    expect(await ask(json)).toMatchObject([
      { type: "error", errorMessage: expect.stringContaining("JSON instead of a stream of events") },
    ]);
  });

  it("after the end of the reply undoes nothing", async () => {
    expect((await ask([google.finish("STOP"), cut])).at(-1)).toEqual(done("stop"));
    await server.close();
    expect((await ask([google.finish("STOP"), stall], { idleTimeoutMs: 20 })).at(-1)).toEqual(done("stop"));
  });

  it("of a call without a name, and of 10,000 calls", async () => {
    const nameless = { steps: [google.chunk([{ functionCall: { args: {} } }])], mayBeLeft: true };
    expect(terminal(await ask(nameless))).toMatchObject({
      errorMessage: "The service sent a tool call without a name.",
      failure: { kind: "server" },
    });
    await server.close();
    const chunk = JSON.stringify({ candidates: [{ content: { parts: [{ functionCall: { name: "read" } }] } }] });
    const events = await ask({ steps: [many(10_000, () => `data: ${chunk}\n\n`)], mayBeLeft: true });
    expect(events.filter((event) => event.type === "toolcall_start")).toHaveLength(128);
    expect(terminal(events)).toMatchObject({ errorMessage: "The model made more than 128 tool calls in one turn." });
  });

  it("on abort is one aborted event, and the connection closes", async () => {
    const abort = new AbortController();
    server = await startScriptedServer([{ steps: [google.chunk([{ text: "x" }]), stall] }]);
    const request = streamRequest(google.model(server.url), { signal: abort.signal });
    const events: StreamEvent[] = [];
    for await (const event of streamGoogleGenerativeAi(request)) {
      events.push(event);
      if (event.type === "start") abort.abort();
    }
    expect(events.slice(1)).toEqual([
      { type: "error", reason: "aborted", errorMessage: "Request was aborted", responseId: "resp_1" },
    ]);
    await server.requests[0]?.closed;
  });
});

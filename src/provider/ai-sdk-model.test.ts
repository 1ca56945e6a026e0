import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../base/json.js";
import type { AssistantContent, InputContent } from "../protocol/content.js";
import { argumentTexts, collect, streamRequest } from "../testing/scripted-replies.js";
import { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from "./ai-sdk-model.js";
import { type ModelMessage, type ProviderModel, type StreamOptions, type ToolSpec, zeroUsage } from "./provider.js";

const counts = {
  inputTokens: { total: 100, noCache: 10, cacheRead: 60, cacheWrite: 30 },
  outputTokens: { total: 40, text: 15, reasoning: 25 },
};
const finish = (unified: string, raw?: string) => ({ type: "finish", usage: counts, finishReason: { unified, raw } });
const head = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", id: "resp_1" },
];

/** A model that plays its parts, and what it was asked. Null: it says nothing more. */
function played(parts: readonly (object | null)[], specificationVersion = "v4") {
  const asked: JsonObject[] = [];
  let isCancelled = false;
  const model: AiSdkLanguageModel = {
    specificationVersion,
    provider: "acme.chat",
    modelId: "quill",
    async doStream(options) {
      asked.push(options as JsonObject);
      const left = [...parts];
      const stream = new ReadableStream({
        pull(controller) {
          const part = left.shift();
          if (part === null) return new Promise(() => {});
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
        cancel() {
          isCancelled = true;
        },
      });
      return { stream };
    },
  };
  return { model, asked, isCancelled: () => isCancelled };
}

async function ask(source: AiSdkLanguageModel, { adapter = {}, options = {}, messages, tools = [] }: Asked = {}) {
  const { model, streamFn } = aiSdkModel(source, adapter);
  const request = streamRequest(model, options, { tools, ...(messages ? { messages: messages(model) } : {}) });
  return collect(streamFn(request));
}
interface Asked {
  adapter?: AiSdkModelOptions;
  options?: Partial<StreamOptions>;
  messages?: (model: ProviderModel) => ModelMessage[];
  tools?: ToolSpec[];
}

const metadata = (value: string) => ({ providerMetadata: { acme: { seal: value } } });

describe("a model of the AI SDK", () => {
  it.each(["v1", "v2", "v5", undefined])("of the specification %s is refused", (version) => {
    const { model } = played([], version as string);
    const refused = version === undefined ? { ...model, specificationVersion: undefined } : model;
    expect(() => aiSdkModel(refused as AiSdkLanguageModel)).toThrow(
      expect.objectContaining({
        code: "unsupported",
        message: `aiSdkModel takes AI SDK models of the specification v3 or v4; acme.chat/quill has ${version}.`,
      }),
    );
    expect(() => aiSdkModel("acme/quill" as unknown as AiSdkLanguageModel)).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
  });

  it("has the window, price and input that the caller gives, and says when a price is not known", () => {
    const { model } = played([]);
    expect(aiSdkModel(model).model).toEqual({
      ...{ id: "quill", name: "quill", api: "ai-sdk", provider: "acme.chat", baseUrl: "", reasoning: false },
      ...{ input: ["text"], contextWindow: 128_000, maxTokens: 16_384 },
    });
    const cost = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 };
    const given = { contextWindow: 1000, maxTokens: 100, cost, reasoning: true, input: ["text", "image"] } as const;
    expect(aiSdkModel(model, given).model).toMatchObject(given);
  });
});

describe("a reply", () => {
  it("has thoughts, text and calls with their signatures, and usage", async () => {
    const events = await ask(
      played([
        ...head,
        { type: "ping" },
        { type: "reasoning-start", id: "0" },
        { type: "reasoning-delta", id: "0", delta: "hm" },
        { type: "reasoning-delta", id: "0", delta: "", ...metadata("r") },
        { type: "reasoning-end", id: "0" },
        { type: "text-start", id: "0", ...metadata("t") },
        { type: "text-delta", id: "0", delta: "Hel" },
        { type: "tool-input-start", id: "c1", toolName: "read" },
        { type: "text-delta", id: "0", delta: "lo" },
        { type: "text-end", id: "0" },
        { type: "tool-input-delta", id: "c1", delta: '{"path"' },
        { type: "tool-call", toolCallId: "c2", toolName: "now", input: "", ...metadata("c") },
        { type: "tool-input-delta", id: "c1", delta: ':"a"}' },
        { type: "tool-input-end", id: "c1" },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: '{"path":"a"}' },
        { type: "source", id: "s" },
        finish("tool-calls", "tool_use"),
        { type: "text-delta", id: "9", delta: "never read" },
      ]).model,
      { adapter: { cost: { input: 1e6, output: 2e6, cacheRead: 1e5, cacheWrite: 3e6 } } },
    );
    expect(events).toEqual([
      { type: "start", responseId: "resp_1" },
      { type: "thinking_start", contentIndex: 0 },
      { type: "thinking_delta", contentIndex: 0, delta: "hm" },
      { type: "thinking_end", contentIndex: 0, thinkingSignature: '{"acme":{"seal":"r"}}' },
      { type: "text_start", contentIndex: 1 },
      { type: "text_delta", contentIndex: 1, delta: "Hel" },
      { type: "toolcall_start", contentIndex: 2, id: "c1", name: "read" },
      { type: "text_delta", contentIndex: 1, delta: "lo" },
      { type: "text_end", contentIndex: 1, textSignature: '{"acme":{"seal":"t"}}' },
      { type: "toolcall_delta", contentIndex: 2, delta: '{"path"' },
      { type: "toolcall_start", contentIndex: 3, id: "c2", name: "now" },
      { type: "toolcall_delta", contentIndex: 3, delta: "{}" },
      { type: "toolcall_end", contentIndex: 3, thoughtSignature: '{"acme":{"seal":"c"}}' },
      { type: "toolcall_delta", contentIndex: 2, delta: ':"a"}' },
      { type: "toolcall_end", contentIndex: 2 },
      {
        type: "done",
        reason: "toolUse",
        responseId: "resp_1",
        usage: {
          ...{ input: 10, output: 40, cacheRead: 60, cacheWrite: 30, reasoning: 25, totalTokens: 140 },
          cost: { input: 10, output: 80, cacheRead: 6, cacheWrite: 90, total: 186 },
        },
      },
    ]);
  });

  it("leaves out tools that the provider runs, and warns once", async () => {
    const parts = [
      ...head,
      { type: "tool-input-start", id: "w1", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "w1", delta: "{}" },
      { type: "tool-input-end", id: "w1" },
      { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: "{}", providerExecuted: true },
      { type: "tool-result", toolCallId: "w1", toolName: "web_search", result: {} },
      { type: "text-delta", id: "1", delta: "Found." },
      finish("tool-calls"),
    ];
    const onWarning = vi.fn();
    const events = await ask(played(parts).model, { options: { onWarning } });
    expect(events.map(({ type }) => type)).toEqual(["start", "text_start", "text_delta", "text_end", "done"]);
    expect(onWarning.mock.calls).toEqual([
      ["acme.chat/quill runs tools of its own: galley ignores such calls and their results."],
    ]);
  });

  it.each([
    ["stop", "end", { type: "done", reason: "stop" }],
    ["length", "max", { type: "done", reason: "length" }],
    [
      "content-filter",
      "SAFETY",
      { errorMessage: "Provider finishReason: SAFETY", failure: { kind: "content_filter" } },
    ],
    ["error", undefined, { errorMessage: "Provider finishReason: error", failure: { kind: "unknown" } }],
    ["other", "odd", { errorMessage: "Provider finishReason: odd", failure: { kind: "unknown", code: "odd" } }],
    ["other", undefined, { failure: { kind: "network" } }],
    ["interrupted", undefined, { failure: { kind: "network" } }],
  ])("ends as its finish says: %s %s", async (unified, raw, expected) => {
    const events = await ask(played([...head, finish(unified, raw)]).model);
    expect(events.at(-1)).toMatchObject(expected);
  });

  it("gives no arguments to a call that was cut, and needs a finish", async () => {
    const start = { type: "tool-input-start", id: "c1", toolName: "read" };
    expect(argumentTexts(await ask(played([...head, start, finish("length")]).model))).toEqual([""]);
    expect((await ask(played([...head, start]).model)).at(-1)).toMatchObject({
      errorMessage: "The stream ended before the reply did: no finish reason came.",
      failure: { kind: "network" },
    });
  });

  it("is an error with more calls than a reply may have", async () => {
    const calls = Array.from({ length: 200 }, (_, n) => ({
      type: "tool-call",
      toolCallId: `c${n}`,
      toolName: "x",
      input: "{}",
    }));
    const { model, isCancelled } = played(calls);
    expect((await ask(model)).at(-1)).toMatchObject({
      errorMessage: expect.stringContaining("more than 128 tool calls"),
    });
    expect(isCancelled()).toBe(true);
  });
});

describe("a failure", () => {
  const apiCallError = Object.assign(new Error("Slow down"), {
    name: "AI_APICallError",
    statusCode: 429,
    requestBodyValues: { key: "secret" },
    responseHeaders: { "retry-after": "7" },
    responseBody: '{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}',
  });
  const limited = {
    errorMessage: "HTTP 429 rate_limit_exceeded: Slow down",
    failure: { kind: "rate_limit", status: 429, code: "rate_limit_exceeded", retryAfterMs: 7000 },
  };

  it("before the stream has the status and the delay of the service", async () => {
    const { model } = played([]);
    const failing = { ...model, doStream: () => Promise.reject(apiCallError) };
    expect(await ask(failing)).toEqual([{ type: "error", reason: "error", ...limited }]);
    const bare = { ...model, doStream: () => Promise.reject(Object.assign(new Error("No key"), { statusCode: 401 })) };
    expect(await ask(bare)).toMatchObject([
      { errorMessage: "HTTP 401: No key", failure: { kind: "auth", status: 401 } },
    ]);
  });

  it.each<[string, unknown, object]>([
    ["an error of the package", apiCallError, limited],
    ["an object of the service", { type: "overloaded_error", message: "Later" }, { failure: { kind: "overloaded" } }],
    ["a text", "internal server error", { errorMessage: "internal server error", failure: { kind: "server" } }],
    [
      "a lost connection",
      new Error("Cannot connect", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) }),
      { failure: { kind: "network", code: "ECONNREFUSED" } },
    ],
  ])("inside the stream is the end: %s", async (_name, error, expected) => {
    const events = await ask(played([...head, { type: "error", error }, finish("error")]).model);
    expect(events.map(({ type }) => type)).toEqual(["start", "error"]);
    expect(events.at(-1)).toMatchObject({ type: "error", reason: "error", ...expected });
  });

  it("is an abort when the caller asks for it, also of a model that does not heed its signal", async () => {
    const controller = new AbortController();
    const { model, asked, isCancelled } = played([...head, null]);
    const adapted = aiSdkModel(model);
    const types: string[] = [];
    for await (const event of adapted.streamFn(streamRequest(adapted.model, { signal: controller.signal }))) {
      types.push(event.type === "error" ? `${event.reason}: ${event.errorMessage}` : event.type);
      controller.abort();
    }
    expect(types).toEqual(["start", "aborted: Request was aborted"]);
    expect(asked[0]?.abortSignal).toMatchObject({ aborted: true });
    expect(isCancelled()).toBe(true);
  });

  it("is a time limit that passed", async () => {
    const events = await ask(played([...head, null]).model, { options: { firstEventTimeoutMs: 1, idleTimeoutMs: 1 } });
    expect(events.at(-1)).toMatchObject({ type: "error", failure: { kind: "network", code: "timeout" } });
  });
});

describe("a request", () => {
  const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
  const text = (value: string): InputContent => ({ type: "text", text: value });
  const messages = ({ provider, api, id }: ProviderModel): ModelMessage[] => {
    const reply = (content: AssistantContent[], model = id): ModelMessage => ({
      ...{ role: "assistant", content, api, provider, model, usage: zeroUsage, stopReason: "toolUse", timestamp: 1 },
    });
    const result = (toolCallId: string, content: InputContent[], isError = false): ModelMessage => ({
      ...{ role: "toolResult", toolCallId, toolName: "read", content, isError, timestamp: 1 },
    });
    const signature = '{"acme":{"seal":"x"}}';
    const content: AssistantContent[] = [
      { type: "thinking", thinking: "", thinkingSignature: signature },
      { type: "text", text: "So", textSignature: signature },
      { type: "toolCall", id: "c|1", name: "read", arguments: { path: "a" }, thoughtSignature: signature },
      { type: "toolCall", id: "c2", name: "read", arguments: {} },
    ];
    return [
      { role: "developer", content: "Careful.", timestamp: 1 },
      { role: "user", content: [text("Look"), image], timestamp: 1 },
      reply(content),
      result("c|1", [text("a"), image]),
      result("c2", [text("not there")], true),
      reply([{ type: "thinking", thinking: "hm", thinkingSignature: signature }, ...content.slice(1, 3)], "another"),
      result("c|1", [text("a"), text("b")]),
    ];
  };
  const own = { providerOptions: { acme: { seal: "x" } } };
  const tools: ToolSpec[] = [{ name: "read", description: "Reads.", parameters: { type: "object" }, strict: true }];
  const options: Partial<StreamOptions> = {
    ...{ toolChoice: { type: "tool", name: "read" }, temperature: 0.5, sampling: { topK: 3 }, maxTokens: 50 },
    ...{ reasoning: "high", headers: { "x-a": "b" } },
  };
  const asked = async (version: string) => {
    const source = played([...head, finish("stop")], version);
    await ask(source.model, { adapter: { reasoning: true, input: ["text", "image"] }, options, messages, tools });
    const { abortSignal: _signal, ...call } = source.asked[0] as JsonObject;
    return call;
  };

  it.each([
    ["v3", "AAAA", { type: "image-data", data: "AAAA", mediaType: "image/png" }, {}],
    [
      "v4",
      { type: "data", data: "AAAA" },
      { type: "file", data: { type: "data", data: "AAAA" }, mediaType: "image/png" },
      { reasoning: "high" },
    ],
  ])(
    "of %s gives back what the package said of its own, to the same model only",
    async (version, data, picture, more) => {
      const call = (toolCallId: string, input: object, options: object = {}) => ({
        ...{ type: "tool-call", toolCallId, toolName: "read", input },
        ...options,
      });
      const result = (toolCallId: string, output: object) => ({
        ...{ type: "tool-result", toolCallId, toolName: "read", output },
      });
      expect(await asked(version)).toEqual({
        prompt: [
          { role: "system", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "Careful." }] },
          {
            role: "user",
            content: [
              { type: "text", text: "Look" },
              { type: "file", mediaType: "image/png", data },
            ],
          },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "", ...own },
              { type: "text", text: "So", ...own },
              call("c|1", { path: "a" }, own),
              call("c2", {}),
            ],
          },
          {
            role: "tool",
            content: [
              result("c|1", { type: "content", value: [{ type: "text", text: "a" }, picture] }),
              result("c2", { type: "error-text", value: "not there" }),
            ],
          },
          {
            role: "assistant",
            content: [{ type: "text", text: "hm" }, { type: "text", text: "So" }, call("call_1", { path: "a" })],
          },
          { role: "tool", content: [result("call_1", { type: "text", value: "a\nb" })] },
        ],
        maxOutputTokens: 50,
        temperature: 0.5,
        topK: 3,
        headers: { "x-a": "b" },
        tools: [
          { type: "function", name: "read", description: "Reads.", inputSchema: { type: "object" }, strict: true },
        ],
        toolChoice: { type: "tool", toolName: "read" },
        ...more,
      });
    },
  );

  it("tells a thinking model of v4 when it should not", async () => {
    const source = played([...head, finish("stop")]);
    const onPayload = vi.fn();
    await ask(source.model, { adapter: { reasoning: true }, options: { onPayload, toolChoice: "any" }, tools });
    expect(source.asked[0]).toMatchObject({ reasoning: "none", toolChoice: { type: "required" } });
    expect(onPayload.mock.calls[0]?.[0]).toMatchObject({ reasoning: "none" });
  });
});

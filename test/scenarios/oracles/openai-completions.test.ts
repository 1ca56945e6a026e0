// The dialect of chat completions beside OpenAI's own client and the AI SDK's for compatible services: they read the same
// bytes and agree, and OpenAI's types accept every kind of body that OpenAI is sent.

import { afterEach, expect, it } from "vitest";
import type { AssistantContent, InputContent } from "../../../src/protocol/content.js";
import type { AssistantMessage } from "../../../src/protocol/messages.js";
import { streamOpenAiCompletions } from "../../../src/provider/openai/openai-completions.js";
import { completionsPayload } from "../../../src/provider/openai/request.js";
import type { ModelMessage, ProviderModel, StreamOptions, ToolSpec } from "../../../src/provider/provider.js";
import { zeroUsage } from "../../../src/provider/provider.js";
import { collect, openAi, streamRequest } from "../../../src/testing/scripted-replies.js";
import {
  cut,
  type Reply,
  raw,
  type ScriptedServer,
  sse,
  startScriptedServer,
} from "../../../src/testing/scripted-server.js";
import { describeWithOracles, type Heard, heardByAiSdk, heardByGalley, oracle, typeErrors } from "./oracle.test-kit.js";

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

/** The same reply, read by three. */
async function readByAll(reply: Reply): Promise<{ galley: Heard; vendor: Heard | "failed"; aiSdk: Heard | "failed" }> {
  server = await startScriptedServer([reply, reply, reply]);
  const { url } = server;
  const galley = heardByGalley(await collect(streamOpenAiCompletions(streamRequest(openAi.model(url)))));
  const vendor = await byVendor(`${url}/v1`).catch(() => "failed" as const);
  const { createOpenAICompatible } = oracle("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({ name: "scripted", baseURL: `${url}/v1`, apiKey: "k", includeUsage: true });
  return { galley, vendor, aiSdk: await heardByAiSdk(provider("scripted")).catch(() => "failed" as const) };
}

async function byVendor(baseURL: string): Promise<Heard> {
  const { OpenAI } = oracle("openai");
  const client = new OpenAI({ apiKey: "k", baseURL, maxRetries: 0, logLevel: "off" });
  const body = { model: "scripted", messages: [{ role: "user", content: "Hello" }] };
  const completion = await client.chat.completions.stream(body).finalChatCompletion();
  const { message, finish_reason } = completion.choices[0];
  const stops: Record<string, Heard["stop"]> = { stop: "stop", length: "length", tool_calls: "toolUse" };
  const { prompt_tokens = 0, completion_tokens = 0, prompt_tokens_details: details } = completion.usage ?? {};
  const cacheRead = details?.cached_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  const calls: { id: string; function: { name: string; arguments: string } }[] = message.tool_calls ?? [];
  return {
    text: message.content ?? message.refusal ?? "",
    thinking: message.reasoning_content ?? "",
    calls: calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: JSON.parse(text) })),
    usage: { input: prompt_tokens - cacheRead - cacheWrite, output: completion_tokens, cacheRead, cacheWrite },
    stop: stops[finish_reason] ?? "error",
  };
}

const [read, grep] = [
  { id: "call_1", name: "read" },
  { id: "call_2", name: "grep" },
] as const;
const counts = {
  prompt_tokens: 5000,
  completion_tokens: 300,
  total_tokens: 5300,
  prompt_tokens_details: { cached_tokens: 4000, cache_write_tokens: 600 },
  completion_tokens_details: { reasoning_tokens: 200 },
};

/** As OpenAI sends them, with all that its own client insists on. */
const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "scripted" };
const chunk = (delta: object, finish_reason: string | null = null) =>
  sse({ ...head, choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }] });
const finish = (reason: string, usage: object = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }) => [
  chunk({}, reason),
  sse({ ...head, choices: [], usage }),
  sse("[DONE]"),
];
const begin = (index: number, { id, name }: { id: string; name: string }) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
const more = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] });

describeWithOracles("chat completions: what is read", () => {
  it.each<[string, Reply]>([
    ["text", { steps: [...["Hel", "lo ", "wörld 😀"].map((content) => chunk({ content })), ...finish("stop")] }],
    [
      "parallel calls",
      {
        steps: [
          begin(0, read),
          more(0, '{"path":'),
          more(0, '"a"}'),
          begin(1, grep),
          more(1, "{}"),
          ...finish("tool_calls"),
        ],
      },
    ],
    [
      "calls whose fragments take turns",
      {
        steps: [
          begin(0, read),
          begin(1, grep),
          ...[more(1, '{"b":'), more(0, '{"a":'), more(1, "1}"), more(0, "2}")],
          ...finish("tool_calls"),
        ],
      },
    ],
    [
      "unknown events",
      { steps: [sse({ ...head, choices: [], weather: "fine" }), chunk({ content: "x", mood: 1 }), ...finish("stop")] },
    ],
    ["a cut at the limit", { steps: [chunk({ content: "half" }), ...finish("length")] }],
  ])("%s: all three agree", async (_name, reply) => {
    const { galley, vendor, aiSdk } = await readByAll(reply);
    expect(vendor).toEqual(galley);
    expect(aiSdk).toEqual(galley);
  });

  it("thoughts of a compatible service: the AI SDK agrees, OpenAI's client does not know them", async () => {
    const { galley, vendor, aiSdk } = await readByAll({
      steps: [chunk({ reasoning_content: "Let me see." }), chunk({ content: "Yes." }), ...finish("stop")],
    });
    expect(galley).toMatchObject({ thinking: "Let me see.", text: "Yes." });
    expect(aiSdk).toEqual(galley);
    expect(vendor).toMatchObject({ text: "Yes.", usage: galley.usage });
  });

  it("usage: all agree on reads; the AI SDK does not tell cache writes of compatible services", async () => {
    const { galley, vendor, aiSdk } = await readByAll({
      steps: [chunk({ content: "x" }), ...finish("stop", counts)],
    });
    expect(galley.usage).toEqual({ input: 400, output: 300, cacheRead: 4000, cacheWrite: 600 });
    expect(vendor).toEqual(galley);
    expect(aiSdk).toMatchObject({ text: "x", usage: { input: 1000, output: 300, cacheRead: 4000 } });
  });

  it("a refusal is text that ends as usual", async () => {
    const { galley, vendor } = await readByAll({ steps: [chunk({ refusal: "No." }), ...finish("stop")] });
    expect(galley).toMatchObject({ text: "No.", stop: "stop" });
    expect(vendor).toEqual(galley);
  });

  it.each<[string, Reply]>([
    ["safety", { steps: [chunk({ content: "I can" }), ...finish("content_filter")] }],
    ["an error inside", { steps: [chunk({ content: "x" }), sse({ error: { message: "busy", code: 502 } })] }],
    ["truncated JSON", { steps: [chunk({ content: "x" }), raw('data: {"choices":[{"del\n\n')] }],
    ["an overflow", { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' }],
    ["a reply that is cut off", { steps: [chunk({ content: "half" }), cut] }],
  ])("%s: an error for all three", async (_name, reply) => {
    const { galley, vendor, aiSdk } = await readByAll(reply);
    expect(galley.stop).toBe("error");
    for (const heard of [vendor, aiSdk]) expect(heard === "failed" ? "error" : heard.stop).toBe("error");
  });

  it("a page in place of a stream is an error", async () => {
    const page: Reply = { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Log in</h1>" };
    expect((await readByAll(page)).galley.stop).toBe("error");
  });
});

describeWithOracles("chat completions: what OpenAI is sent", () => {
  const base = openAi.model("http://127.0.0.1:1");
  const thinker: ProviderModel = {
    ...base,
    reasoning: true,
    thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "effort", levels: { off: "none" } },
  };
  const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
  const text: InputContent = { type: "text", text: "ok" };
  const reply = (...content: AssistantContent[]): AssistantMessage => {
    const { api, provider, id } = base;
    return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason: "stop", timestamp: 1 };
  };
  const messages: ModelMessage[] = [
    { role: "user", content: [text, image], timestamp: 1 },
    reply(
      { type: "text", text: "Reading." },
      { type: "toolCall", id: "a", name: "read", arguments: { path: "a" } },
      { type: "toolCall", id: "b", name: "read", arguments: {} },
    ),
    { role: "toolResult", toolCallId: "a", toolName: "read", content: [text, image], isError: false, timestamp: 1 },
    { role: "toolResult", toolCallId: "b", toolName: "read", content: [], isError: true, timestamp: 1 },
    { role: "developer", content: "hint", timestamp: 1 },
    reply({ type: "toolCall", id: "c", name: "read", arguments: {} }),
  ];
  const tools: ToolSpec[] = ["read", "grep"].map((name) => ({
    name,
    description: "Does.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    strict: name === "read",
  }));
  const bodyOf = (model: ProviderModel, options: Partial<StreamOptions> = {}) =>
    JSON.parse(JSON.stringify(completionsPayload(streamRequest(model, options, { messages, tools }))));

  it("fits the vendor's type in every kind of body, and a wrong one does not", async () => {
    const levels = ["minimal", "low", "medium", "high", "xhigh"] as const;
    const choices = ["auto", "none", "any", { type: "tool", name: "read" }] as const;
    const sampling = { temperature: 0.5, sampling: { topP: 0.9, topK: 40, minP: 0.1, presencePenalty: 1 } };
    const bodies = [
      JSON.parse(JSON.stringify(completionsPayload(streamRequest(base)))),
      bodyOf(base, { ...sampling, cacheRetention: "long", sessionId: "s" }),
      bodyOf(thinker),
      ...levels.map((reasoning) => bodyOf(thinker, { reasoning })),
      ...choices.map((toolChoice) => bodyOf(base, { toolChoice })),
    ];
    const type = { name: "ChatCompletionCreateParamsStreaming", from: "openai/resources/chat/completions" };
    expect(typeErrors(type, bodies)).toBe("");
    expect(typeErrors(type, [{ ...bodies[0], top_k: 1 }])).toContain("top_k");
  });
});

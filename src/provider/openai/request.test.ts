import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import { openAi, streamRequest } from "../../testing/scripted-replies.js";
import { encodeBody } from "../http/json-body.js";
import { type ModelMessage, type ProviderModel, type StreamOptions, type ToolSpec, zeroUsage } from "../provider.js";
import { completionsPayload } from "./request.js";

const base = openAi.model("http://127.0.0.1:1");
const elsewhere = { ...base, provider: "somewhere" };
const read: ToolSpec = { name: "read", description: "Reads.", parameters: { type: "object" }, strict: true };
const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };

function payload(
  model: ProviderModel,
  options: Partial<StreamOptions> = {},
  messages?: ModelMessage[],
  tools: ToolSpec[] = [],
) {
  const request = streamRequest(model, options, { tools, ...(messages ? { messages } : {}) });
  return JSON.parse(Buffer.concat(encodeBody(completionsPayload(request))).toString()) as JsonObject;
}

function reply(model: ProviderModel, content: AssistantContent[]): AssistantMessage {
  const { api, provider, id } = model;
  return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason: "stop", timestamp: 1 };
}

const call = (id: string): AssistantContent => ({ type: "toolCall", id, name: "read", arguments: { path: "a" } });
const result = (toolCallId: string, content: InputContent[]): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError: false,
  timestamp: 1,
});
const text = (value: string): InputContent => ({ type: "text", text: value });
const question: ModelMessage = { role: "user", content: "q", timestamp: 1 };

it("sends sampling parameters: to OpenAI those it supports, to other services all of them", () => {
  const sampling = { topP: 0.9, topK: 40, minP: 0.1, presencePenalty: -0.5, repetitionPenalty: 1.1 };
  const own = { top_p: 0.9, presence_penalty: -0.5 };
  expect(payload(base, { sampling })).toMatchObject(own);
  expect(payload(base, { sampling })).not.toHaveProperty("top_k");
  expect(payload(elsewhere, { sampling })).toMatchObject({ ...own, top_k: 40, min_p: 0.1, repetition_penalty: 1.1 });
  expect(payload(elsewhere, { sampling: { topK: 1 } })).not.toHaveProperty("top_p");
});

describe("the whole body", () => {
  it("for OpenAI", () => {
    expect(payload(base, { sessionId: "s1", temperature: 0.5 }, undefined, [read])).toEqual({
      model: "scripted",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 16_384,
      temperature: 0.5,
      prompt_cache_key: "s1",
      tools: [
        {
          type: "function",
          function: { name: "read", description: "Reads.", parameters: { type: "object" }, strict: true },
        },
      ],
    });
  });

  it("for an unknown service", () => {
    expect(payload(elsewhere, { sessionId: "s1" }, undefined, [read])).toEqual({
      model: "scripted",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 16_384,
      tools: [{ type: "function", function: { name: "read", description: "Reads.", parameters: { type: "object" } } }],
    });
  });

  it("asks for 32,000 tokens at most unless told", () => {
    const large = { ...base, maxTokens: 100_000 };
    expect(payload(large)).toMatchObject({ max_completion_tokens: 32_000 });
    expect(payload(large, { maxTokens: 90_000 })).toMatchObject({ max_completion_tokens: 90_000 });
  });

  it("recognises services by address, too", () => {
    expect(payload({ ...elsewhere, baseUrl: "https://api.openai.com/v1" })).toMatchObject({ store: false });
    expect(payload({ ...elsewhere, baseUrl: "https://api.openai.com.evil.test/v1" })).not.toHaveProperty("store");
  });
});

describe("tool choice", () => {
  it.each([
    ["auto", "auto"],
    ["none", "none"],
    ["any", "required"],
    ["required", "required"],
    [
      { type: "tool", name: "read" },
      { type: "function", function: { name: "read" } },
    ],
    [
      { type: "function", name: "read" },
      { type: "function", function: { name: "read" } },
    ],
    [
      { type: "function", function: { name: "read" } },
      { type: "function", function: { name: "read" } },
    ],
    [{ type: "tool", name: "absent" }, undefined],
  ] as const)("%j is sent as %j", (toolChoice, sent) => {
    expect(payload(base, { toolChoice }, undefined, [read]).tool_choice).toEqual(sent);
  });

  it("is left out without tools or support", () => {
    expect(payload(base, { toolChoice: "required" })).not.toHaveProperty("tool_choice");
    const without = { ...base, compat: { supportsToolChoice: false } };
    expect(payload(without, { toolChoice: "required" }, undefined, [read])).not.toHaveProperty("tool_choice");
  });
});

describe("reasoning", () => {
  const thinker = { ...base, reasoning: true };
  const format = (thinkingFormat: string) => ({ ...thinker, compat: { thinkingFormat } });

  it.each([
    ["openai", { reasoning_effort: "high" }, {}],
    ["openrouter", { reasoning: { effort: "high" } }, {}],
    ["deepseek", { thinking: { type: "enabled" }, reasoning_effort: "high" }, { thinking: { type: "disabled" } }],
    ["zai", { thinking: { type: "enabled" } }, { thinking: { type: "disabled" } }],
    ["qwen", { enable_thinking: true }, { enable_thinking: false }],
    [
      "qwen-chat-template",
      { chat_template_kwargs: { enable_thinking: true } },
      { chat_template_kwargs: { enable_thinking: false } },
    ],
  ])("in the format %s", (name, on, off) => {
    const plain = payload(base);
    expect(payload(format(name), { reasoning: "high" })).toEqual({ ...plain, ...on });
    expect(payload(format(name))).toEqual({ ...plain, ...off });
  });

  it("pauses for a forced choice where the service refuses both, as DeepSeek does", () => {
    const body = (toolChoice: StreamOptions["toolChoice"], model = format("deepseek")) =>
      payload(model, { reasoning: "high", ...(toolChoice && { toolChoice }) }, undefined, [read]);
    for (const forced of ["any", { type: "tool", name: "read" }] as const) {
      expect(body(forced)).toMatchObject({ thinking: { type: "disabled" }, tool_choice: expect.anything() });
      expect(body(forced)).not.toHaveProperty("reasoning_effort");
      expect(body(forced, format("openai"))).toMatchObject({ reasoning_effort: "high" });
    }
    expect(body("auto")).toMatchObject({ thinking: { type: "enabled" } });
  });

  it("uses the service's own words, and none where it has none", () => {
    const mapped = { ...thinker, compat: { reasoningEffortMap: { xhigh: "max" } } };
    expect(payload(mapped, { reasoning: "xhigh" })).toMatchObject({ reasoning_effort: "max" });
    expect(payload(mapped, { reasoning: "low" })).toMatchObject({ reasoning_effort: "low" });
    const none = { ...thinker, compat: { supportsReasoningEffort: false } };
    expect(payload(none, { reasoning: "low" })).not.toHaveProperty("reasoning_effort");
    expect(payload(base, { reasoning: "low" })).not.toHaveProperty("reasoning_effort");
  });

  const levelled = (levels: Partial<Record<ThinkingLevel, string | null>>, compat = {}): ProviderModel => ({
    ...thinker,
    thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "effort", levels },
    compat,
  });

  it("uses the model's own words first, also for off", () => {
    const model = levelled({ off: "none", xhigh: "max" }, { reasoningEffortMap: { xhigh: "most", low: "least" } });
    expect(payload(model, { reasoning: "xhigh" })).toMatchObject({ reasoning_effort: "max" });
    expect(payload(model, { reasoning: "low" })).toMatchObject({ reasoning_effort: "least" });
    expect(payload(model)).toMatchObject({ reasoning_effort: "none" });
    expect(payload(levelled({ off: "none" }, { thinkingFormat: "openrouter" }))).toMatchObject({
      reasoning: { effort: "none" },
    });
  });

  it("asks for the nearest of the levels that the model has, and for the least where it always thinks", () => {
    const model = levelled({ off: null, minimal: null, medium: null });
    expect(payload(model, { reasoning: "medium" })).toMatchObject({ reasoning_effort: "low" });
    expect(payload(model, { reasoning: "minimal" })).toMatchObject({ reasoning_effort: "low" });
    expect(payload(model)).toMatchObject({ reasoning_effort: "low" });
    expect(payload(levelled({ off: null }, { thinkingFormat: "zai" }))).toMatchObject({
      thinking: { type: "enabled" },
    });
    expect(payload({ ...model, reasoning: false })).not.toHaveProperty("reasoning_effort");
  });
});

describe("compat", () => {
  const messagesWith = (compat: ProviderModel["compat"], messages: ModelMessage[]) => {
    const body = payload({ ...elsewhere, ...(compat ? { compat } : {}) }, {}, messages);
    return (body.messages as object[]).slice(1);
  };

  it("fields change the body; fields of the wrong kind do not", () => {
    const compat = {
      supportsStore: true,
      supportsUsageInStreaming: false,
      maxTokensField: "max_completion_tokens",
      openRouterRouting: { only: ["x"] },
      vercelGatewayRouting: { order: ["y"] },
      extraBody: { top_k: 3 },
      thinkingFormat: "unheard of",
      supportsDeveloperRole: "yes",
    };
    const body = payload({ ...elsewhere, compat });
    expect(body).toMatchObject({
      store: false,
      max_completion_tokens: 16_384,
      provider: { only: ["x"] },
      providerOptions: { gateway: { order: ["y"] } },
      top_k: 3,
      messages: [{ role: "system" }, { role: "user" }],
    });
    expect(body).not.toHaveProperty("stream_options");
  });

  it("developer messages become user messages where the role is unknown", () => {
    const hint: ModelMessage = { role: "developer", content: "hint", timestamp: 1 };
    expect(messagesWith(undefined, [hint])).toEqual([{ role: "user", content: "hint" }]);
    expect(messagesWith({ supportsDeveloperRole: true }, [hint])).toEqual([{ role: "developer", content: "hint" }]);
  });

  it("requiresToolResultName and requiresAssistantAfterToolResult", () => {
    const turn = [reply(elsewhere, [call("a")]), result("a", [text("ok")]), question];
    expect(
      messagesWith({ requiresToolResultName: true, requiresAssistantAfterToolResult: true }, turn).slice(1),
    ).toEqual([
      { role: "tool", tool_call_id: "a", name: "read", content: "ok" },
      { role: "assistant", content: "Tool results received." },
      { role: "user", content: "q" },
    ]);
  });

  it("thoughts go back in their own field, or as text", () => {
    const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "reasoning_content" };
    const turn = [reply(elsewhere, [thought, { type: "text", text: "yes" }])];
    expect(messagesWith(undefined, turn)).toEqual([{ role: "assistant", content: "yes", reasoning_content: "hm" }]);
    expect(messagesWith({ requiresThinkingAsText: true }, turn)).toEqual([{ role: "assistant", content: "hm\n\nyes" }]);
    expect(messagesWith(undefined, [reply(elsewhere, [thought])])).toEqual([]);
  });

  it("requiresReasoningContent: calls carry their thoughts, or say that there were none", () => {
    const deepseek = { ...base, provider: "deepseek", reasoning: true };
    const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "reasoning" };
    const turns = [
      reply(deepseek, [thought, call("a")]),
      result("a", [text("ok")]),
      reply(deepseek, [call("b")]),
      result("b", [text("ok")]),
      reply(deepseek, [{ type: "text", text: "done" }]),
    ];
    const replies = (model: ProviderModel) =>
      (payload(model, {}, turns).messages as JsonObject[]).filter(({ role }) => role === "assistant");
    expect(replies(deepseek).map(({ reasoning_content }) => reasoning_content)).toEqual(["hm", "", undefined]);
    expect(replies({ ...deepseek, compat: { requiresReasoningContent: false } })[1]).not.toHaveProperty(
      "reasoning_content",
    );
  });

  it("supportsTemperature: false sends no sampling options, and tells", () => {
    const warnings: string[] = [];
    const options = {
      temperature: 1,
      sampling: { topP: 0.5 },
      onWarning: (warning: string) => void warnings.push(warning),
    };
    const body = payload({ ...base, compat: { supportsTemperature: false } }, options);
    expect(body).toEqual(payload(base));
    expect(warnings).toEqual(["openai/scripted takes no sampling options: temperature, topP not sent."]);
    expect(payload(base, options)).toMatchObject({ temperature: 1, top_p: 0.5 });
  });

  it("supportsLongCacheRetention: OpenAI keeps a cache for a day, unless it cannot", () => {
    const options = { cacheRetention: "long", sessionId: "s".repeat(70) } as const;
    expect(payload(base, options)).toMatchObject({
      prompt_cache_retention: "24h",
      prompt_cache_key: "s".repeat(64),
    });
    const short = { ...base, compat: { supportsLongCacheRetention: false } };
    expect(payload(short, options)).not.toHaveProperty("prompt_cache_retention");
    expect(payload(elsewhere, options)).not.toHaveProperty("prompt_cache_retention");
  });

  it("cacheControlFormat marks what Anthropic's models cache", () => {
    const claude = { ...base, provider: "openrouter", id: "anthropic/claude" };
    const mark = { cache_control: { type: "ephemeral" } };
    const turns: ModelMessage[] = [
      question,
      reply(claude, [call("a"), call("b")]),
      result("a", [text("one")]),
      result("b", [text("two")]),
      reply(claude, [{ type: "text", text: "hm" }]),
      { role: "user", content: [text("look"), image], timestamp: 1 },
    ];
    const body = payload(claude, {}, turns, [read, { ...read, name: "grep" }]);
    expect(body.messages).toMatchObject([
      { role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] },
      { role: "user", content: "q" },
      { role: "assistant" },
      { role: "tool", content: "one" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "two", ...mark }] },
      { role: "assistant", content: "hm" },
      { role: "user", content: [{ type: "text", text: "look", ...mark }, { type: "image_url" }] },
    ]);
    expect(body.tools).toMatchObject([{ function: { name: "read" } }, { function: { name: "grep" }, ...mark }]);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(JSON.stringify(payload(claude, { cacheRetention: "long" }, turns)).match(/"ttl":"1h"/g)).toHaveLength(3);
    expect(JSON.stringify(payload({ ...claude, id: "openai/gpt" }, {}, turns))).not.toContain("cache_control");
    const told = { ...elsewhere, compat: { cacheControlFormat: "anthropic" } };
    expect(JSON.stringify(payload(told, {}, turns))).toContain("cache_control");
  });

  it("gives Mistral ids of nine letters and digits", () => {
    const mistral = { ...base, provider: "mistral" };
    const body = payload(mistral, {}, [reply(base, [call("toolu_1")]), result("toolu_1", [text("ok")])]);
    expect(body.messages).toMatchObject([
      { role: "system" },
      { tool_calls: [{ id: "c00000001" }] },
      { tool_call_id: "c00000001", name: "read" },
    ]);
  });
});

describe("messages", () => {
  const wire = (...messages: ModelMessage[]) => (payload(base, {}, messages).messages as object[]).slice(1);

  it("carry calls, and pictures of results behind all results of the turn", () => {
    const messages = [
      reply(base, [call("a"), call("b")]),
      result("a", [image]),
      result("b", [text("1"), image, text("2")]),
      question,
    ];
    const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const wireCall = (id: string) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a"}' } });
    expect(wire(...messages)).toEqual([
      { role: "assistant", content: null, tool_calls: [wireCall("a"), wireCall("b")] },
      { role: "tool", tool_call_id: "a", content: "(the result is an image, below)" },
      { role: "tool", tool_call_id: "b", content: "1\n2" },
      { role: "user", content: [{ type: "text", text: "Images from the tool results:" }, picture, picture] },
      { role: "user", content: "q" },
    ]);
  });

  it("of the user in a row are one where all of them are text, however they come in", () => {
    const said = (content: string | InputContent[]): ModelMessage => ({ role: "user", content, timestamp: 1 });
    const list: ModelMessage[] = [said("one"), said([text("two")]), said([text("see"), image]), said("three")];
    const parts = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ];
    const wanted = [
      { role: "user", content: "one\n\ntwo" },
      { role: "user", content: parts },
      { role: "user", content: "three" },
    ];
    expect((payload(base, {}, list).messages as JsonObject[]).slice(1)).toEqual(wanted);
    const growing: ModelMessage[] = [];
    for (const message of list) {
      growing.push(message);
      expect(payload(base, {}, growing)).toEqual(payload(base, {}, [...growing]));
    }
    const told: ModelMessage = { role: "developer", content: "mind", timestamp: 1 };
    const roles = (payload(base, {}, [said("a"), told, told, said("b")]).messages as JsonObject[]).map(
      ({ role }) => role,
    );
    expect(roles.slice(1)).toEqual(["user", "developer", "developer", "user"]);
  });

  it("carry pictures of the user as parts, and plain text as text", () => {
    expect(wire({ role: "user", content: [text("look"), image], timestamp: 1 })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ]);
    expect(wire({ role: "user", content: [text("a"), text("b")], timestamp: 1 })).toEqual([
      { role: "user", content: "a\nb" },
    ]);
  });
});

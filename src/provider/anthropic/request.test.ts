import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { anthropic, streamRequest } from "../../testing/scripted-replies.js";
import { encodeBody } from "../http/json-body.js";
import { type ModelMessage, type ProviderModel, type StreamOptions, type ToolSpec, zeroUsage } from "../provider.js";
import { fitBudget, messagesPayload } from "./request.js";

const base: ProviderModel = anthropic.model("http://127.0.0.1:1", { maxTokens: 64_000 });
const thinker = { ...base, reasoning: true };
const tool = (name: string): ToolSpec => ({ name, description: "Does.", parameters: { type: "object" } });
const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
const text = (value: string): InputContent => ({ type: "text", text: value });
const cache_control = { type: "ephemeral" };

function payload(
  options: Partial<StreamOptions> = {},
  messages?: ModelMessage[],
  { model = base, tools = [] as ToolSpec[] } = {},
) {
  const request = streamRequest(model, options, { tools, ...(messages ? { messages } : {}) });
  return JSON.parse(Buffer.concat(encodeBody(messagesPayload(request))).toString()) as JsonObject;
}

function reply(content: AssistantContent[], model = base): AssistantMessage {
  const { api, provider, id } = model;
  return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason: "stop", timestamp: 1 };
}

const call = (id: string): AssistantContent => ({ type: "toolCall", id, name: "read", arguments: { path: "a" } });
const user = (content: string | InputContent[]): ModelMessage => ({ role: "user", content, timestamp: 1 });
const result = (toolCallId: string, content: InputContent[], isError = false): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError,
  timestamp: 1,
});
const thought: AssistantContent = { type: "thinking", thinking: "hm", thinkingSignature: "sig" };

describe("the whole body", () => {
  it("marks system, last tool and last two user messages for the cache", () => {
    const messages = [
      user("1"),
      reply([{ type: "text", text: "a" }]),
      user("2"),
      reply([{ type: "text", text: "b" }]),
      user("3"),
    ];
    expect(payload({}, messages, { tools: [tool("read"), tool("grep")] })).toEqual({
      model: "scripted",
      max_tokens: 32_000,
      stream: true,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      messages: [
        { role: "user", content: [{ type: "text", text: "1" }] },
        { role: "assistant", content: [{ type: "text", text: "a" }] },
        { role: "user", content: [{ type: "text", text: "2", cache_control }] },
        { role: "assistant", content: [{ type: "text", text: "b" }] },
        { role: "user", content: [{ type: "text", text: "3", cache_control }] },
      ],
      tools: [
        { name: "read", description: "Does.", input_schema: { type: "object" } },
        { name: "grep", description: "Does.", input_schema: { type: "object" }, cache_control },
      ],
    });
  });

  it("keeps a long cache for an hour", () => {
    expect(payload({ cacheRetention: "long" })).toMatchObject({
      system: [{ cache_control: { type: "ephemeral", ttl: "1h" } }],
    });
    const model = { ...base, compat: { supportsLongCacheRetention: false } };
    expect(payload({ cacheRetention: "long" }, undefined, { model })).toMatchObject({ system: [{ cache_control }] });
  });

  it("sends sampling options to services that take them, and tells when it does not", () => {
    const warnings: string[] = [];
    const options: Partial<StreamOptions> = {
      temperature: 0.5,
      sampling: { topP: 0.9, topK: 40, minP: 0.1 },
      onWarning: (warning) => void warnings.push(warning),
    };
    const sent = { temperature: 0.5, top_p: 0.9, top_k: 40 };
    expect(payload(options)).not.toHaveProperty("temperature");
    expect(payload(options)).not.toHaveProperty("top_p");
    const told = "anthropic/scripted takes no sampling options: temperature, topP, topK, minP not sent.";
    expect(new Set(warnings)).toEqual(new Set([told]));
    expect(payload(options, undefined, { model: { ...base, provider: "minimax" } })).toMatchObject(sent);
    expect(payload(options, undefined, { model: { ...base, compat: { supportsTemperature: true } } })).toMatchObject(
      sent,
    );
    const elsewhere = { ...base, provider: "mine", baseUrl: "https://api.anthropic.com" };
    expect(payload(options, undefined, { model: elsewhere })).not.toHaveProperty("temperature");
  });
});

describe("tool choice", () => {
  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["any", { type: "any" }],
    ["required", { type: "any" }],
    [
      { type: "tool", name: "read" },
      { type: "tool", name: "read" },
    ],
    [
      { type: "function", function: { name: "read" } },
      { type: "tool", name: "read" },
    ],
    [{ type: "function", name: "absent" }, undefined],
  ] as const)("%j is sent as %j", (toolChoice, sent) => {
    expect(payload({ toolChoice }, undefined, { tools: [tool("read")] }).tool_choice).toEqual(sent);
  });
});

describe("thinking", () => {
  const adaptive = (levels: NonNullable<ProviderModel["thinking"]>["levels"] = {}): ProviderModel => ({
    ...thinker,
    thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "anthropic-adaptive", levels },
  });
  const think = (options: Partial<StreamOptions>, messages?: ModelMessage[], model: ProviderModel = thinker) =>
    payload(options, messages, { model, tools: [tool("read")] });

  it.each([
    ["minimal", 1024],
    ["low", 2048],
    ["medium", 8192],
    ["high", 16_384],
  ] as const)("at %s has a budget of %i", (reasoning, budget_tokens) => {
    expect(think({ reasoning, temperature: 0.5 })).toMatchObject({
      thinking: { type: "enabled", budget_tokens, display: "summarized" },
      max_tokens: 32_000,
    });
  });

  it("raises max_tokens to the model's limit where the budget needs it", () => {
    expect(think({ reasoning: "xhigh" })).toMatchObject({ thinking: { budget_tokens: 32_768 }, max_tokens: 64_000 });
    expect(think({ reasoning: "low", thinkingBudgets: { low: 5000 }, maxTokens: 100 })).toMatchObject({
      thinking: { budget_tokens: 5000 },
      max_tokens: 64_000,
    });
  });

  it("then shrinks the budget, then goes without", () => {
    // A limit of the session holds for what makes room for thoughts, too.
    const limited = think({ reasoning: "xhigh", maxTokens: 5000, outputLimit: 20_000 });
    expect(limited).toMatchObject({ thinking: { budget_tokens: 18_976 }, max_tokens: 20_000 });
    expect(fitBudget({ wanted: 8192, maxTokens: 4096, limit: 4096 })).toEqual({ budget: 3072, maxTokens: 4096 });
    expect(fitBudget({ wanted: 8192, maxTokens: 2047, limit: 2047 })).toBeUndefined();
    expect(fitBudget({ wanted: 2048, maxTokens: 3072, limit: 64_000 })).toEqual({ budget: 2048, maxTokens: 3072 });
    expect(think({ reasoning: "high" }, undefined, { ...thinker, maxTokens: 2000 })).not.toHaveProperty("thinking");
  });

  it.each([
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["xhigh", "xhigh"],
  ] as const)("adapts at %s to effort %s", (reasoning, effort) => {
    expect(think({ reasoning }, undefined, adaptive())).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort },
    });
  });

  it("uses the model's own words, and the nearest level for one that it has not", () => {
    const model = adaptive({ xhigh: "max", medium: null, minimal: null });
    const effort = (reasoning: "minimal" | "medium" | "xhigh") => think({ reasoning }, undefined, model).output_config;
    expect([effort("minimal"), effort("medium"), effort("xhigh")]).toEqual([
      { effort: "low" },
      { effort: "low" },
      { effort: "max" },
    ]);
    const levels = { medium: null };
    const budgets = { ...thinker, thinking: { minLevel: "low", maxLevel: "high", mode: "budget", levels } as const };
    expect(think({ reasoning: "medium" }, undefined, budgets)).toMatchObject({ thinking: { budget_tokens: 2048 } });
  });

  it("tells adaptive models not to think, and asks for the least of those that always do", () => {
    const seen = [user("q"), reply([thought, { type: "text", text: "a" }], thinker), user("r")];
    const off = think({}, seen, adaptive());
    expect(off).toMatchObject({ thinking: { type: "disabled" } });
    expect(off).not.toHaveProperty("output_config");
    expect(JSON.stringify(off)).not.toContain("hm");
    const least = think({}, seen, adaptive({ off: null, minimal: null }));
    expect(least).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "low" } });
    expect(JSON.stringify(least)).toContain("hm");
    expect(think({}, seen)).not.toHaveProperty("thinking");
  });

  it("makes an adaptive model pause for a forced choice", () => {
    const forced = { reasoning: "high", toolChoice: "any" } as const;
    expect(think(forced, undefined, adaptive())).toMatchObject({ thinking: { type: "disabled" } });
    const always = think(forced, undefined, adaptive({ off: null }));
    expect(always).not.toHaveProperty("thinking");
    expect(always).toMatchObject({ output_config: { effort: "high" } });
  });

  it("takes no temperature, and needs a model that thinks", () => {
    expect(think({ reasoning: "low", temperature: 0.5 })).not.toHaveProperty("temperature");
    const sampling = { topP: 0.9, topK: 40, minP: 0.1 };
    expect(think({ reasoning: "low", sampling })).not.toHaveProperty("top_p");
    expect(think({ reasoning: "low" }, undefined, base)).not.toHaveProperty("thinking");
  });

  it.each(["any", "required", { type: "tool", name: "read" }] as const)(
    "pauses for a forced choice %j",
    (toolChoice) => {
      const messages = [user("q"), reply([thought, call("a")]), result("a", [text("ok")])];
      const body = think({ reasoning: "high", toolChoice }, messages);
      expect(body).not.toHaveProperty("thinking");
      expect(body).toMatchObject({ max_tokens: 32_000 });
      // The service refuses thoughts in the reply in progress while thinking is off.
      expect(JSON.stringify(body)).not.toContain("hm");
    },
  );

  it("resumes only with a reply that began with a thought, or with the next one", () => {
    const forced = [user("q"), reply([call("a")]), result("a", [text("ok")])];
    expect(think({ reasoning: "high" }, forced)).not.toHaveProperty("thinking");
    expect(think({ reasoning: "high" }, [...forced, user("steer")])).not.toHaveProperty("thinking");
    expect(
      think({ reasoning: "high" }, [...forced, reply([{ type: "text", text: "done" }]), user("next")]),
    ).toHaveProperty("thinking");
    const opened = (first: AssistantContent) => [user("q"), reply([first, call("a")]), result("a", [text("ok")])];
    expect(think({ reasoning: "high" }, opened(thought))).toHaveProperty("thinking");
    expect(think({ reasoning: "high" }, opened({ ...thought, thinkingSignature: "" }))).not.toHaveProperty("thinking");
  });
});

describe("messages", () => {
  const wire = (messages: ModelMessage[], options: Partial<StreamOptions> = {}) =>
    JSON.parse(
      JSON.stringify(payload(options, messages, { model: thinker, tools: [] }).messages, (key, value: unknown) =>
        key === "cache_control" ? undefined : value,
      ),
    ) as unknown;

  it("carry thoughts back with their signatures, without them as text", () => {
    const content: AssistantContent[] = [thought, { type: "redactedThinking", data: "x" }, { type: "text", text: "a" }];
    expect(wire([user("q"), reply(content), user("r")], { reasoning: "low" })).toMatchObject([
      {},
      {
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "redacted_thinking", data: "x" },
          { type: "text", text: "a" },
        ],
      },
      {},
    ]);
    expect(wire([{ ...reply(content), stopReason: "aborted" }], { reasoning: "low" })).toEqual([
      { role: "assistant", content: [text("hm"), text("a")] },
    ]);
    const empty: AssistantContent = { ...thought, thinkingSignature: "" };
    expect(wire([reply([empty])], { reasoning: "low" })).toEqual([{ role: "assistant", content: [text("hm")] }]);
  });

  it("put all results of a turn, and what follows, into one user message", () => {
    const messages: ModelMessage[] = [
      user("q"),
      reply([call("a|1"), call("b")], { ...base, id: "other" }),
      result("b", [image], true),
      result("a|1", []),
      { role: "developer", content: "hint", timestamp: 1 },
      user([text("  "), image]),
    ];
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(wire(messages)).toEqual([
      { role: "user", content: [text("q")] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
          { type: "tool_use", id: "b", name: "read", input: { path: "a" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: [text("(no output)")] },
          { type: "tool_result", tool_use_id: "b", content: [picture], is_error: true },
          text("hint"),
          picture,
        ],
      },
    ]);
  });

  it("leave out what holds nothing but space", () => {
    const nothing: AssistantContent[] = [
      { type: "text", text: "\n" },
      { type: "thinking", thinking: "" },
    ];
    expect(wire([user(" "), reply(nothing), user("q")])).toEqual([{ role: "user", content: [text("q")] }]);
    expect(wire([user("q"), reply([...nothing, { type: "text", text: "a" }])])).toMatchObject([
      {},
      { content: [text("a")] },
    ]);
  });

  it("tell the model of a prompt without text, so that a list is never empty and ends in the prompt", () => {
    const blank = { role: "user", content: [text("(no text)")] };
    expect(wire([user("  ")])).toEqual([blank]);
    expect(wire([])).toEqual([blank]);
    expect(wire([user("q"), reply([{ type: "text", text: "a" }]), user("\n")])).toEqual([
      { role: "user", content: [text("q")] },
      { role: "assistant", content: [text("a")] },
      blank,
    ]);
    const long = [1, 2, 3].flatMap((n) => [user(`q${n}`), reply([{ type: "text", text: "a" }])]);
    expect(wire([...long, user(" ")])).toMatchObject([{}, {}, {}, {}, {}, {}, blank]);
  });
});

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent } from "../../protocol/content.js";
import type { AssistantMessage, StopReason, ToolResultMessage } from "../../protocol/messages.js";
import { anthropic, streamRequest } from "../../testing/scripted-replies.js";
import { openAiResponses } from "../../testing/scripted-responses.js";
import { encodeBody } from "../http/json-body.js";
import { type ModelMessage, type ProviderModel, type StreamOptions, type ToolSpec, zeroUsage } from "../provider.js";
import { responsesPayload } from "./responses-request.js";

const base = openAiResponses.model("http://127.0.0.1:1");
const thinker: ProviderModel = { ...base, reasoning: true };
const read: ToolSpec = { name: "read", description: "Reads.", parameters: { type: "object" } };
const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };

function payload(
  model: ProviderModel,
  options: Partial<StreamOptions> = {},
  messages?: ModelMessage[],
  tools: ToolSpec[] = [],
): JsonObject {
  const request = streamRequest(model, options, { tools, ...(messages ? { messages } : {}) });
  return JSON.parse(Buffer.concat(encodeBody(responsesPayload(request))).toString()) as JsonObject;
}

const input = (messages: ModelMessage[], model = thinker) => payload(model, {}, messages).input;

function reply(content: AssistantContent[], stopReason: StopReason = "stop", author = thinker): AssistantMessage {
  const { api, provider, id } = author;
  return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason, timestamp: 1 };
}

const item = (id: string, seal: string | null = "sealed") => ({
  id,
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: seal,
});
const thought = (id: string, seal: string | null = "sealed"): AssistantContent => ({
  type: "thinking",
  thinking: "hm",
  thinkingSignature: JSON.stringify(item(id, seal)),
});
const said = (text: string, textSignature?: string): AssistantContent => ({
  type: "text",
  text,
  ...(textSignature === undefined ? {} : { textSignature }),
});
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
const wireMessage = (id: string, value: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  id,
  status: "completed",
  content: [{ type: "output_text", text: value, annotations: [] }],
  ...more,
});
const wireCall = (call_id: string, more: object = {}) => ({
  type: "function_call",
  ...more,
  call_id,
  name: "read",
  arguments: '{"path":"a"}',
});

describe("the body", () => {
  it("of a plain model", () => {
    expect(payload(base, { sessionId: "s".repeat(80), temperature: 0.5, sampling: { topP: 0.9, topK: 3 } })).toEqual({
      model: "scripted",
      instructions: "Be brief.",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      stream: true,
      store: false,
      max_output_tokens: 16_384,
      temperature: 0.5,
      top_p: 0.9,
      prompt_cache_key: "s".repeat(64),
    });
  });

  it("of a reasoning model with tools and long caching", () => {
    const options = { reasoning: "high", cacheRetention: "long", maxTokens: 3 } as const;
    expect(payload(thinker, options, [], [read, { ...read, name: "exact", strict: true }])).toEqual({
      model: "scripted",
      instructions: "Be brief.",
      input: [],
      stream: true,
      store: false,
      max_output_tokens: 16,
      tools: [
        { type: "function", ...read, strict: false },
        { type: "function", ...read, name: "exact", strict: true },
      ],
      parallel_tool_calls: true,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      prompt_cache_retention: "24h",
    });
  });

  it("leaves out what the model's compat says is not supported, and adds its extra fields", () => {
    const compat = {
      ...{ supportsEncryptedReasoning: false, supportsLongCacheRetention: false, supportsTemperature: false },
      extraBody: { service_tier: "flex" },
    };
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    const options = { cacheRetention: "long", temperature: 1, sampling: { topP: 0.5 }, onWarning } as const;
    const body = payload({ ...thinker, compat }, options);
    for (const field of ["include", "prompt_cache_retention", "temperature", "top_p"])
      expect(body).not.toHaveProperty(field);
    expect(warnings).toEqual(["openai/scripted takes no sampling options: temperature, topP not sent."]);
    expect(body.service_tier).toBe("flex");
    expect(payload({ ...thinker, compat: { supportsReasoningEffort: false } })).not.toHaveProperty("reasoning");
  });

  it.each([
    ["auto", "auto"],
    ["none", "none"],
    ["any", "required"],
    ["required", "required"],
    [
      { type: "tool", name: "read" },
      { type: "function", name: "read" },
    ],
    [{ type: "tool", name: "absent" }, undefined],
  ] as const)("takes the choice %j", (toolChoice, expected) => {
    expect(payload(base, { toolChoice }, undefined, [read]).tool_choice).toEqual(expected);
  });

  type Levels = NonNullable<ProviderModel["thinking"]>["levels"];
  it.each<[StreamOptions["reasoning"], Levels, object | undefined]>([
    [undefined, {}, { effort: "none" }],
    [undefined, { off: "minimal" }, { effort: "minimal" }],
    [undefined, { off: null }, { effort: "minimal" }],
    [undefined, { off: null, minimal: null, low: "slow" }, { effort: "slow" }],
    ["low", {}, { effort: "low", summary: "auto" }],
    ["xhigh", { xhigh: "max" }, { effort: "max", summary: "auto" }],
    ["xhigh", { xhigh: null }, { effort: "high", summary: "auto" }],
    ["minimal", { minimal: null }, { effort: "low", summary: "auto" }],
    ["high", { off: null, minimal: null, low: null, medium: null, high: null, xhigh: null }, undefined],
  ])("asks for %s with the words %j", (level, levels, expected) => {
    const thinking = { minLevel: "minimal", maxLevel: "xhigh", mode: "effort", levels } as const;
    const options = level === undefined ? {} : { reasoning: level };
    expect(
      payload({ ...thinker, thinking: thinking as ProviderModel["thinking"] & object }, options).reasoning,
    ).toEqual(expected);
  });
});

describe("the conversation", () => {
  it("has texts and images of the user, the developer and the results", () => {
    const picture = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AAAA" };
    const messages: ModelMessage[] = [
      { role: "developer", content: "Careful.", timestamp: 1 },
      { role: "user", content: [text("Look"), image], timestamp: 1 },
      reply([call("c1|fc_1"), call("c2|fc_2")], "toolUse"),
      result("c1|fc_1", [text("one"), text("two")]),
      result("c2|fc_2", [text("here"), image]),
    ];
    expect(input(messages)).toEqual([
      { role: "developer", content: [{ type: "input_text", text: "Careful." }] },
      { role: "user", content: [{ type: "input_text", text: "Look" }, picture] },
      wireCall("c1", { id: "fc_1" }),
      wireCall("c2", { id: "fc_2" }),
      { type: "function_call_output", call_id: "c1", output: "one\ntwo" },
      { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "here" }, picture] },
    ]);
  });

  it("gives reasoning back as it came, directly before the item that it led to", () => {
    const content = [
      thought("rs_1"),
      said("So", '{"v":1,"id":"msg_7","phase":"commentary"}'),
      thought("rs_2"),
      thought("rs_3"),
      call("c1|fc_1"),
    ];
    expect(input([reply(content, "toolUse"), result("c1|fc_1", [text("ok")])])).toEqual([
      item("rs_1"),
      wireMessage("msg_7", "So", { phase: "commentary" }),
      item("rs_2"),
      item("rs_3"),
      wireCall("c1", { id: "fc_1" }),
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });

  it("drops reasoning that led to nothing", () => {
    expect(input([reply([said("So", '{"v":1,"id":"msg_7"}'), thought("rs_1")])])).toEqual([wireMessage("msg_7", "So")]);
    expect(input([reply([thought("rs_1"), said("")])])).toEqual([]);
  });

  it.each(["length", "error", "aborted"] as const)("drops reasoning and ids of a reply that was cut: %s", (reason) => {
    const content = [thought("rs_1"), said("So", '{"v":1,"id":"msg_7"}'), call("c1|fc_1")];
    expect(input([reply(content, reason), result("c1|fc_1", [text("ok")])])).toEqual([
      wireMessage("msg_g1", "So"),
      wireCall("c1"),
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });

  it("sends reasoning without a seal as text, and then no ids of items", () => {
    const content = [thought("rs_1", null), said("So", '{"v":1,"id":"msg_7"}'), call("c1|fc_1")];
    expect(input([reply(content, "toolUse"), result("c1|fc_1", [text("ok")])])).toEqual([
      wireMessage("msg_g1", "hm"),
      wireMessage("msg_g2", "So"),
      wireCall("c1"),
      { type: "function_call_output", call_id: "c1", output: "ok" },
    ]);
  });

  it("numbers the ids that it makes, also when the conversation grows", () => {
    const messages: ModelMessage[] = [];
    const ids = () => (input(messages) as JsonObject[]).map(({ id }) => id);
    for (let turn = 1; turn <= 3; turn++) {
      messages.push(reply([said("a"), said("b")]));
      expect(ids()).toEqual(Array.from({ length: 2 * turn }, (_, index) => `msg_g${index + 1}`));
    }
  });

  it.each([
    ["another model of the api", { ...thinker, id: "other" }],
    ["another provider", { ...thinker, provider: "azure" }],
    ["another api", { ...anthropic.model("http://127.0.0.1:1"), reasoning: true }],
  ])("carries no signature, item or item id of %s", (_name, author) => {
    const content = [thought("rs_1"), said("So", '{"v":1,"id":"msg_7","phase":"commentary"}'), call("c1|fc_1")];
    expect(input([reply(content, "toolUse", author), result("c1|fc_1", [text("ok")])])).toEqual([
      wireMessage("msg_g1", "hm"),
      wireMessage("msg_g2", "So"),
      wireCall("call_1"),
      { type: "function_call_output", call_id: "call_1", output: "ok" },
    ]);
  });

  it.each(["", "sig-1", "[]", "null", '{"v":2,"id":"x"}', '{"type":"message"}'])("reads no meaning into %j", (odd) => {
    const content: AssistantContent[] = [{ type: "thinking", thinking: "hm", thinkingSignature: odd }, said("So", odd)];
    expect(input([reply(content)])).toEqual([wireMessage("msg_g1", "hm"), wireMessage("msg_g2", "So")]);
  });
});

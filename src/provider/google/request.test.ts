import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { google } from "../../testing/scripted-google.js";
import { streamRequest } from "../../testing/scripted-replies.js";
import { encodeBody } from "../http/json-body.js";
import { type ModelMessage, type ProviderModel, type StreamOptions, type ToolSpec, zeroUsage } from "../provider.js";
import { generateContentPayload, isBeforeGemini3 } from "./request.js";

const base = google.model("http://127.0.0.1:1");
const older = { ...base, id: "gemini-2.5-flash" };
const parameters = {
  type: "object",
  properties: { path: { type: "string", pattern: "^a" } },
  additionalProperties: false,
};
const tool = (name: string): ToolSpec => ({ name, description: "Does.", parameters });
const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } };
const text = (value: string) => ({ type: "text" as const, text: value });

function payload(
  options: Partial<StreamOptions> = {},
  messages?: ModelMessage[],
  { model = base, tools = [] as ToolSpec[] }: { model?: ProviderModel; tools?: ToolSpec[] } = {},
) {
  const request = streamRequest(model, options, { tools, ...(messages ? { messages } : {}) });
  return JSON.parse(Buffer.concat(encodeBody(generateContentPayload(request))).toString()) as JsonObject;
}

const contents = (messages: ModelMessage[], model: ProviderModel = base) => payload({}, messages, { model }).contents;

function reply(content: AssistantContent[], model: ProviderModel = base): AssistantMessage {
  const { api, provider, id } = model;
  return { role: "assistant", content, api, provider, model: id, usage: zeroUsage, stopReason: "stop", timestamp: 1 };
}

const call = (id: string, thoughtSignature?: string): AssistantContent => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: { path: id },
  ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
});
const user = (content: string | InputContent[]): ModelMessage => ({ role: "user", content, timestamp: 1 });
const result = (toolCallId: string, content: InputContent[], isError = false): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError,
  timestamp: 1,
});

describe("the whole body", () => {
  it("has contents, system prompt, tools and limits", () => {
    const options = { temperature: 0.5, sampling: { topP: 0.9, topK: 40, minP: 0.1 }, maxTokens: 100 };
    expect(payload(options, [user("q")], { tools: [tool("read"), tool("grep")] })).toEqual({
      contents: [{ role: "user", parts: [{ text: "q" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "read", description: "Does.", parametersJsonSchema: parameters },
            { name: "grep", description: "Does.", parametersJsonSchema: parameters },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 100, temperature: 0.5, topP: 0.9, topK: 40 },
    });
  });

  it("leaves out what is not there, and the sampling that a model does not take", () => {
    const model = { ...base, compat: { supportsTemperature: false } };
    const options = { temperature: 0.5, sampling: { topP: 0.9, topK: 40 } };
    const request = streamRequest(model, options, { systemPrompt: "" });
    expect(JSON.parse(Buffer.concat(encodeBody(generateContentPayload(request))).toString())).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: { maxOutputTokens: 16_384 },
    });
  });
});

it.each([
  ["gemini-1.5-pro", true],
  ["gemini-2.5-pro", true],
  ["models/gemini-2.0-flash", true],
  ["publishers/google/models/Gemini-2.5-Flash", true],
  ["gemini-live-2.5-flash", true],
  ["gemini-3-pro-preview", false],
  ["models/gemini-3.1-pro", false],
  ["gemini-3.8-flash", false],
  ["gemini-10", false],
  ["gemini-20.5-pro", false],
  ["gemini-flash-latest", false],
  ["gemini-exp-1206", false],
  ["something-else-2", false],
])("%s is older than Gemini 3: %s", (id, isOlder) => {
  expect(isBeforeGemini3(id)).toBe(isOlder);
});

describe("tool choice", () => {
  it.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["any", { mode: "ANY" }],
    ["required", { mode: "ANY" }],
    [
      { type: "tool", name: "read" },
      { mode: "ANY", allowedFunctionNames: ["read"] },
    ],
  ] as const)("%j is sent as %j", (toolChoice, functionCallingConfig) => {
    expect(payload({ toolChoice }, undefined, { tools: [tool("read")] }).toolConfig).toEqual({ functionCallingConfig });
  });

  it("of a tool that is not offered is not sent", () => {
    const options = { toolChoice: { type: "function", name: "absent" } } as const;
    expect(payload(options, undefined, { tools: [tool("read")] })).not.toHaveProperty("toolConfig");
  });
});

describe("contents", () => {
  it("carry every signature back on its part, and merge no signed part", () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: "hm" },
      { type: "thinking", thinking: "so", thinkingSignature: "t1" },
      { type: "thinking", thinking: "", thinkingSignature: "t2" },
      { type: "text", text: "a" },
      { type: "text", text: "b", textSignature: "s1" },
      { type: "text", text: "", textSignature: "s2" },
      { type: "text", text: "" },
      call("f1", "c1"),
      call("f2"),
    ];
    expect(contents([user("q"), reply(content), result("f1", [text("1")]), result("f2", [text("2")])])).toMatchObject([
      { role: "user" },
      {
        role: "model",
        parts: [
          { text: "hm", thought: true },
          { text: "so", thought: true, thoughtSignature: "t1" },
          { text: "", thought: true, thoughtSignature: "t2" },
          { text: "a" },
          { text: "b", thoughtSignature: "s1" },
          { text: "", thoughtSignature: "s2" },
          { functionCall: { id: "f1", name: "read", args: { path: "f1" } }, thoughtSignature: "c1" },
          { functionCall: { id: "f2", name: "read", args: { path: "f2" } } },
        ],
      },
      { role: "user" },
    ]);
  });

  it("put all results of a turn, and what follows, into one content in the order of the calls", () => {
    const messages: ModelMessage[] = [
      user("q"),
      reply([call("a", "c1"), call("b")]),
      result("b", [text("no"), text("way")], true),
      result("a", []),
      { role: "developer", content: "hint", timestamp: 1 },
      user([text(""), image, text("more")]),
    ];
    expect(contents(messages)).toMatchObject([
      {},
      {},
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "read", response: { output: "" } } },
          { functionResponse: { id: "b", name: "read", response: { error: "no\nway" } } },
          { text: "hint" },
          picture,
          { text: "more" },
        ],
      },
    ]);
  });

  it("have the images of a result in it from Gemini 3 on, before that after the results", () => {
    const messages = (model: ProviderModel): ModelMessage[] => [
      user("q"),
      reply([call("a", "c1"), call("b")], model),
      result("a", [text("seen"), image]),
      result("b", [image]),
      user("next"),
    ];
    const last = (model: ProviderModel) => (contents(messages(model), model) as { parts: unknown[] }[]).at(-1)?.parts;
    const told = "(the result is an image)";
    expect(last(base)).toEqual([
      { functionResponse: { id: "a", name: "read", response: { output: "seen" }, parts: [picture] } },
      { functionResponse: { id: "b", name: "read", response: { output: told }, parts: [picture] } },
      { text: "next" },
    ]);
    expect(last(older)).toEqual([
      { functionResponse: { name: "read", response: { output: "seen" } } },
      { functionResponse: { name: "read", response: { output: told } } },
      picture,
      picture,
      { text: "next" },
    ]);
  });

  it("replace the missing signature of a first call from Gemini 3 on", () => {
    const calls = [reply([call("a"), call("b")], { ...base, id: "other" }), result("a", []), result("b", [])];
    expect(contents([user("q"), ...calls])).toMatchObject([
      {},
      {
        parts: [
          { functionCall: { id: "a" }, thoughtSignature: "skip_thought_signature_validator" },
          { functionCall: { id: "b" } },
        ],
      },
      {},
    ]);
    expect(JSON.stringify(contents([user("q"), ...calls])).match(/skip_thought/g)).toHaveLength(1);
    const toOlder = JSON.stringify(contents([user("q"), ...calls], older));
    expect(toOlder).not.toContain("skip_thought");
    expect(toOlder).not.toContain('"id"');
  });

  it("carry no signature of another model, nor of a reply that failed", () => {
    const content: AssistantContent[] = [
      { type: "thinking", thinking: "hm", thinkingSignature: "t1" },
      { type: "redactedThinking", data: "r1" },
      { type: "text", text: "a", textSignature: "s1" },
      { type: "text", text: "", textSignature: "s2" },
      call("f|1", "c1"),
    ];
    const foreign = contents([user("q"), reply(content, { ...base, provider: "vertex" }), result("f|1", [])]);
    expect(foreign).toMatchObject([
      {},
      { parts: [{ text: "hm" }, { text: "a" }, { functionCall: { id: "call_1" } }] },
      { parts: [{ functionResponse: { id: "call_1" } }] },
    ]);
    const failed = contents([user("q"), { ...reply(content), stopReason: "error" }, result("f|1", [])]);
    expect(failed).toMatchObject([{}, { parts: [{ text: "hm", thought: true }, { text: "a" }, {}] }, {}]);
    for (const sent of [foreign, failed]) expect(JSON.stringify(sent)).not.toMatch(/"[tsc]\d"|r1/);
  });

  it("are never empty and never end in a reply without a prompt", () => {
    const blank = { role: "user", parts: [{ text: "(no text)" }] };
    expect(contents([])).toEqual([blank]);
    expect(contents([user("")])).toEqual([blank]);
    expect(contents([user("q"), reply([text("a")]), user("")])).toEqual([
      { role: "user", parts: [{ text: "q" }] },
      { role: "model", parts: [{ text: "a" }] },
      blank,
    ]);
    expect(contents([user("1"), user("2"), reply([text("a")]), reply([text("b")])])).toEqual([
      { role: "user", parts: [{ text: "1" }, { text: "2" }] },
      { role: "model", parts: [{ text: "a" }, { text: "b" }] },
    ]);
  });
});

// Google's own client and the AI SDK read the same bytes as galley and agree on what they say; what galley sends fits the
// client's types, and the client sends the same.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { ReplyBuilder } from "../../../src/loop/reply-builder.js";
import type { AssistantContent, InputContent } from "../../../src/protocol/content.js";
import { streamGoogleGenerativeAi } from "../../../src/provider/google/google-generative-ai.js";
import {
  type ModelContext,
  type ModelMessage,
  type ProviderModel,
  type StreamOptions,
  zeroUsage,
} from "../../../src/provider/provider.js";
import { google } from "../../../src/testing/scripted-google.js";
import { streamRequest } from "../../../src/testing/scripted-replies.js";
import { raw, type ScriptedServer, type Step, sse, startScriptedServer } from "../../../src/testing/scripted-server.js";
import { projectRoot } from "../../kit/run-galley.js";
import { googleTypeProblems } from "../../oracles/google-types.js";

const oracles = join(projectRoot, "test/oracles");
const isInstalled = existsSync(join(oracles, "node_modules/@google/genai"));
const load = createRequire(join(oracles, "package.json"));

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

/** What a reader makes of a reply. */
interface Reading {
  text: string;
  thoughts: string;
  calls: { name: string; args: unknown }[];
  usage: { input: number; output: number };
  hasFailed: boolean;
}

async function ours(url: string): Promise<Reading> {
  const model = google.model(url);
  const builder = new ReplyBuilder(model, 0);
  let hasFailed = false;
  for await (const event of streamGoogleGenerativeAi(streamRequest(model, { apiKey: "k" }))) {
    builder.apply(event);
    hasFailed ||= event.type === "error";
  }
  const { content, usage } = builder.finish({ stopReason: "stop" }).message;
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thoughts: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    calls: content.flatMap((block) => (block.type === "toolCall" ? [{ name: block.name, args: block.arguments }] : [])),
    usage: { input: usage.input + usage.cacheRead, output: usage.output },
    hasFailed,
  };
}

interface Client {
  models: {
    generateContentStream(request: {
      model: string;
      contents: unknown;
      config?: object;
    }): Promise<AsyncIterable<Chunk>>;
  };
}
interface Chunk {
  candidates?: { content?: { parts?: Part[] }; finishReason?: string }[];
  promptFeedback?: { blockReason?: string };
  usageMetadata?: { [name: string]: number };
}
interface Part {
  text?: string;
  thought?: boolean;
  functionCall?: { name: string; args?: unknown };
}

function clientOf(url: string): Client {
  const { GoogleGenAI } = load("@google/genai") as { GoogleGenAI: new (options: object) => Client };
  return new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } });
}

async function theirs(url: string): Promise<Reading> {
  const parts: Part[] = [];
  let usage: Chunk["usageMetadata"] = {};
  let end = "";
  try {
    const request = { model: "gemini-3.8-flash", contents: "Hello" };
    for await (const chunk of await clientOf(url).models.generateContentStream(request)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      usage = chunk.usageMetadata ?? usage;
      end = chunk.candidates?.[0]?.finishReason ?? end;
    }
  } catch {
    end = "thrown";
  }
  const count = (name: string) => usage?.[name] ?? 0;
  return {
    text: parts.map(({ text, thought }) => (thought ? "" : (text ?? ""))).join(""),
    thoughts: parts.map(({ text, thought }) => (thought ? (text ?? "") : "")).join(""),
    calls: parts.flatMap(({ functionCall: call }) => (call ? [{ name: call.name, args: call.args ?? {} }] : [])),
    usage: {
      input: count("promptTokenCount") + count("toolUsePromptTokenCount"),
      output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    },
    hasFailed: end !== "STOP" && end !== "MAX_TOKENS",
  };
}

interface SdkPart {
  type: string;
  delta?: string;
  toolName?: string;
  input?: string;
  finishReason?: { unified: string };
  usage?: { inputTokens: { total?: number }; outputTokens: { total?: number } };
}

async function aiSdk(url: string): Promise<Reading> {
  const { createGoogleGenerativeAI } = load("@ai-sdk/google") as {
    createGoogleGenerativeAI(options: object): (id: string) => {
      doStream(options: object): Promise<{ stream: AsyncIterable<SdkPart> }>;
    };
  };
  const model = createGoogleGenerativeAI({ apiKey: "k", baseURL: `${url}/v1beta` })("gemini-3.8-flash");
  const prompt = [{ role: "user", content: [{ type: "text", text: "Hello" }] }];
  const seen: SdkPart[] = [];
  for await (const part of (await model.doStream({ prompt })).stream) seen.push(part);
  const joined = (type: string) => seen.map((part) => (part.type === type ? part.delta : "")).join("");
  const finish = seen.find(({ type }) => type === "finish");
  return {
    text: joined("text-delta"),
    thoughts: joined("reasoning-delta"),
    calls: seen.flatMap((part) =>
      part.type === "tool-call" ? [{ name: part.toolName ?? "", args: JSON.parse(part.input ?? "") as unknown }] : [],
    ),
    usage: { input: finish?.usage?.inputTokens.total ?? 0, output: finish?.usage?.outputTokens.total ?? 0 },
    hasFailed: !["stop", "length", "tool-calls"].includes(finish?.finishReason?.unified ?? ""),
  };
}

const usage = {
  promptTokenCount: 1000,
  cachedContentTokenCount: 400,
  candidatesTokenCount: 50,
  thoughtsTokenCount: 30,
  totalTokenCount: 1080,
};
const call = (name: string, args?: object) => ({ functionCall: { id: `id-${name}`, name, ...(args ? { args } : {}) } });
const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
const utf8 = Buffer.from(
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "naïve 日本 😀" }] } }] })}\r\n\r\n`,
);

const replies: { name: string; steps: Step[] }[] = [
  {
    name: "text",
    steps: [google.chunk([{ text: "Hel" }]), google.chunk([{ text: "lo" }]), google.finish("STOP", usage)],
  },
  {
    name: "text cut within a character",
    steps: [
      ...Array.from({ length: Math.ceil(utf8.length / 3) }, (_, n) => raw(utf8.subarray(n * 3, n * 3 + 3))),
      google.finish("STOP"),
    ],
  },
  {
    name: "signed thinking",
    steps: [
      google.chunk([
        { text: "hm", thought: true },
        { text: " so", thought: true, thoughtSignature: "c2ln" },
      ]),
      google.chunk([{ text: "Yes" }, { text: ".", thoughtSignature: "c2ln" }, { text: "", thoughtSignature: "c2ln" }]),
      google.finish("STOP", usage),
    ],
  },
  {
    name: "parallel calls in one chunk and in several",
    steps: [
      google.chunk([{ text: "I look." }, { ...call("read", { path: "a" }), thoughtSignature: "c2ln" }, call("todo")]),
      google.chunk([call("grep", { pattern: 'x "y"', deep: [1, { a: null }] })]),
      google.finish("STOP", usage),
    ],
  },
  { name: "length", steps: [google.chunk([{ text: "half" }]), google.finish("MAX_TOKENS", usage)] },
  { name: "safety", steps: [google.chunk([{ text: "half" }]), google.finish("SAFETY", usage)] },
  { name: "a blocked prompt", steps: [sse({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: usage })] },
  { name: "an error inside", steps: [google.chunk([{ text: "half" }]), sse(error)] },
  { name: "an end without a reason", steps: [google.chunk([{ text: "half" }])] },
  {
    name: "unknown fields and parts",
    steps: [
      sse({ modelVersion: "9", mood: "fine" }),
      google.chunk([{ oddPart: {} }, { text: "x", oddField: 1 }], { oddField: [] }),
      google.finish("STOP", { ...usage, oddCount: 5 }),
    ],
  },
];

describe.runIf(isInstalled)("the same bytes", () => {
  it.each(replies)("mean the same to all three: $name", async ({ steps }) => {
    server = await startScriptedServer([{ steps }, { steps }, { steps }]);
    const read = await ours(server.url);
    expect(await theirs(server.url)).toEqual(read);
    expect(await aiSdk(server.url)).toEqual(read);
    expect(new Set(server.requests.map(({ path }) => path)).size).toBe(1);
    expect(new Set(server.requests.map(({ headers }) => headers["x-goog-api-key"]))).toEqual(new Set(["k"]));
  });
});

const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
const user = (content: string | InputContent[]): ModelMessage => ({ role: "user", content, timestamp: 1 });
const conversation = ({ api, provider, id }: ProviderModel): ModelMessage[] => {
  const content: AssistantContent[] = [
    { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" },
    { type: "text", text: "I look.", textSignature: "c2ln" },
    { type: "toolCall", id: "f1", name: "read", arguments: { path: "a" }, thoughtSignature: "c2ln" },
    { type: "toolCall", id: "f2", name: "read", arguments: {} },
  ];
  const reply = {
    role: "assistant",
    content,
    api,
    provider,
    usage: zeroUsage,
    stopReason: "toolUse",
    timestamp: 1,
  } as const;
  const result = (toolCallId: string, isError: boolean): ModelMessage => ({
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text: "seen" }, image],
    isError,
    timestamp: 1,
  });
  const results = [result("f1", false), result("f2", true)];
  return [
    user([{ type: "text", text: "look" }, image]),
    { ...reply, model: id },
    ...results,
    user("go on"),
    { ...reply, model: "another" },
    ...results,
  ];
};
const parameters = {
  type: "object",
  properties: { path: { type: "string", pattern: "^." } },
  additionalProperties: false,
};
const tools = [{ name: "read", description: "Reads.", parameters }];
const levels = { minLevel: "minimal", maxLevel: "xhigh" } as const;

const asked: { changes: Partial<ProviderModel>; options: Partial<StreamOptions> }[] = [
  { changes: {}, options: { temperature: 0.5, sampling: { topP: 0.9, topK: 40 }, toolChoice: "auto" } },
  { changes: { id: "gemini-2.5-pro" }, options: { toolChoice: { type: "tool", name: "read" } } },
  { changes: { reasoning: true, thinking: { ...levels, mode: "google-level" } }, options: { reasoning: "xhigh" } },
  { changes: { reasoning: true, thinking: { ...levels, mode: "google-level" } }, options: { toolChoice: "none" } },
  {
    changes: { reasoning: true, thinking: { ...levels, mode: "budget" } },
    options: { reasoning: "high", toolChoice: "any" },
  },
  { changes: { reasoning: true, input: ["text"] }, options: {} },
];

async function bodies(): Promise<JsonObject[]> {
  server = await startScriptedServer(asked.map(() => google.text("x")));
  for (const { changes, options } of asked) {
    const model = google.model(server.url, changes);
    const context: Partial<ModelContext> = { messages: conversation(model), tools };
    for await (const event of streamGoogleGenerativeAi(streamRequest(model, options, context)))
      expect(event.type).not.toBe("error");
  }
  return server.requests.map(({ body }) => body as JsonObject);
}

describe.runIf(isInstalled)("what is sent", () => {
  it("fits the types of Google's client, which refuse a wrong name and a wrong word", {
    timeout: 120_000,
  }, async () => {
    const sent = await bodies();
    expect(googleTypeProblems(sent)).toBe("");
    const [first] = sent as [JsonObject];
    const wrong = [
      { ...first, generationConfig: { maxTokens: 5 } },
      { ...first, toolConfig: { functionCallingConfig: { mode: "SOMETIMES" } } },
    ];
    expect(googleTypeProblems(wrong)).toMatch(/maxTokens[\s\S]*SOMETIMES/);
  });

  it("is what Google's client sends for the same request", async () => {
    const sent = await bodies();
    await server?.close();
    server = await startScriptedServer(sent.map(() => google.text("x")));
    for (const { contents, generationConfig, ...config } of sent) {
      const request = { model: "gemini-3.8-flash", contents, config: { ...config, ...(generationConfig as object) } };
      for await (const chunk of await clientOf(server.url).models.generateContentStream(request))
        expect(chunk).toBeDefined();
    }
    expect(server.requests.map(({ body }) => body)).toEqual(sent);
  });
});

if (!isInstalled) it.skip("The vendors' clients are not installed: run npm ci in test/oracles.");

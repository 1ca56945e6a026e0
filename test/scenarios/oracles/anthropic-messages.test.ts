// The Anthropic dialect beside the vendor's own client and the AI SDK: they read the same bytes and agree, and the
// vendor's types accept every kind of body that is sent.

import { afterEach, expect, it } from "vitest";
import type { AssistantContent, InputContent } from "../../../src/protocol/content.js";
import type { AssistantMessage } from "../../../src/protocol/messages.js";
import { streamAnthropicMessages } from "../../../src/provider/anthropic/anthropic-messages.js";
import { messagesPayload } from "../../../src/provider/anthropic/request.js";
import type { ModelMessage, ProviderModel, StreamOptions, ToolSpec } from "../../../src/provider/provider.js";
import { zeroUsage } from "../../../src/provider/provider.js";
import { anthropic, collect, streamRequest } from "../../../src/testing/scripted-replies.js";
import {
  cut,
  type Reply,
  raw,
  type ScriptedServer,
  startScriptedServer,
} from "../../../src/testing/scripted-server.js";
import { describeWithOracles, type Heard, heardByAiSdk, heardByGalley, oracle, typeErrors } from "./oracle.test-kit.js";

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

/** The same reply, read by three. */
async function readByAll(reply: Reply): Promise<{ galley: Heard; vendor: Heard | "failed"; aiSdk: Heard | "failed" }> {
  server = await startScriptedServer([reply, reply, reply]);
  const { url } = server;
  const galley = heardByGalley(await collect(streamAnthropicMessages(streamRequest(anthropic.model(url)))));
  const vendor = await byVendor(url).catch(() => "failed" as const);
  const { createAnthropic } = oracle("@ai-sdk/anthropic");
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: "k" })("scripted");
  return { galley, vendor, aiSdk: await heardByAiSdk(model).catch(() => "failed" as const) };
}

async function byVendor(baseURL: string): Promise<Heard> {
  const { Anthropic } = oracle("@anthropic-ai/sdk");
  const client = new Anthropic({ apiKey: "k", baseURL, maxRetries: 0, logLevel: "off" });
  const body = { model: "scripted", max_tokens: 1000, messages: [{ role: "user", content: "Hello" }] };
  const message = await client.messages.stream(body).finalMessage();
  const blocks: Record<string, string>[] = message.content;
  const joined = (type: string) => blocks.map((block) => (block.type === type ? block[type] : "")).join("");
  const stops: Record<string, Heard["stop"]> = { end_turn: "stop", max_tokens: "length", tool_use: "toolUse" };
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = message.usage;
  return {
    text: joined("text"),
    thinking: joined("thinking"),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id = "", name = "", input }) => ({ id, name, arguments: input })),
    usage: {
      input: input_tokens,
      output: output_tokens,
      cacheRead: cache_read_input_tokens ?? 0,
      cacheWrite: cache_creation_input_tokens ?? 0,
    },
    stop: stops[message.stop_reason] ?? "error",
  };
}

const calls = [
  { id: "toolu_1", name: "read", arguments: { path: "a.ts", lines: [1, 2] } },
  { id: "toolu_2", name: "grep", arguments: {} },
];
const counts = {
  input_tokens: 100,
  output_tokens: 1,
  cache_read_input_tokens: 4000,
  cache_creation_input_tokens: 300,
  cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
};
const finish = anthropic.finish("end_turn", { output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } });
const prose = (text: string) => anthropic.block(0, { type: "text", text: "" }, [{ type: "text_delta", text }]);
const blockStart = (index: number, call: object) =>
  anthropic.event("content_block_start", { index, content_block: { type: "tool_use", input: {}, ...call } });
const fragment = (index: number, partial_json: string) =>
  anthropic.event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
const blockStop = (index: number) => anthropic.event("content_block_stop", { index });

describeWithOracles("Anthropic messages: what is read", () => {
  it.each<[string, Reply]>([
    ["text", anthropic.text("Hel", "lo ", "wörld 😀")],
    ["signed thinking", anthropic.thinking("Let me see.", "Yes.")],
    ["parallel calls", anthropic.toolCalls(calls)],
    [
      "interleaved calls",
      anthropic.reply(
        [
          blockStart(0, { id: "toolu_1", name: "read" }),
          blockStart(1, { id: "toolu_2", name: "grep" }),
          fragment(1, '{"a":'),
          fragment(0, '{"b":'),
          fragment(1, "1}"),
          fragment(0, "2}"),
          blockStop(0),
          blockStop(1),
        ],
        "tool_use",
      ),
    ],
    ["a cut at the limit", anthropic.reply(prose("half"), "max_tokens")],
    ["usage with caches of both kinds", { steps: [anthropic.start(counts), ...prose("x"), ...finish] }],
    ["pings between", anthropic.reply([anthropic.event("ping"), ...prose("x")])],
  ])("%s: all three agree", async (_name, reply) => {
    const { galley, vendor, aiSdk } = await readByAll(reply);
    expect(vendor).toEqual(galley);
    expect(aiSdk).toEqual(galley);
  });

  it.each<[string, Reply]>([
    [
      "an error inside",
      {
        steps: [anthropic.start(), anthropic.event("error", { error: { type: "overloaded_error", message: "busy" } })],
      },
    ],
    ["truncated JSON", { steps: [anthropic.start(), raw('event: content_block_delta\ndata: {"type":"con\n\n')] }],
    [
      "an overflow",
      { status: 400, body: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}' },
    ],
    ["a refusal", anthropic.reply(prose("I can"), "refusal")],
    ["a reply that is cut off", { steps: [anthropic.start(), ...prose("half"), cut] }],
  ])("%s: an error for all three", async (_name, reply) => {
    const { galley, vendor, aiSdk } = await readByAll(reply);
    expect(galley.stop).toBe("error");
    for (const heard of [vendor, aiSdk]) expect(heard === "failed" ? "error" : heard.stop).toBe("error");
  });
});

/** The others stop at what they do not know; galley reads on, or says what came. */
describeWithOracles("Anthropic messages: where galley goes further", () => {
  it("reads on after events and blocks that are not known yet", async () => {
    const steps = [
      anthropic.event("weather", { sun: true }),
      ...anthropic.block(0, { type: "hologram" }, [{ type: "hologram_delta", data: "x" }]),
      ...anthropic.block(1, { type: "text", text: "" }, [{ type: "text_delta", text: "Hello" }]),
    ];
    const { galley, vendor } = await readByAll(anthropic.reply(steps));
    expect(galley).toMatchObject({ text: "Hello", stop: "stop" });
    expect(vendor).toEqual(galley);
  });

  it("takes a page for an error", async () => {
    const page: Reply = { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Log in</h1>" };
    expect((await readByAll(page)).galley.stop).toBe("error");
  });
});

describeWithOracles("Anthropic messages: what is sent", () => {
  const base = anthropic.model("http://127.0.0.1:1", { maxTokens: 64_000 });
  const adaptive: ProviderModel = {
    ...base,
    reasoning: true,
    thinking: { minLevel: "minimal", maxLevel: "xhigh", mode: "anthropic-adaptive" },
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
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "redactedThinking", data: "xxx" },
      { type: "text", text: "Reading." },
      { type: "toolCall", id: "a", name: "read", arguments: { path: "a" } },
      { type: "toolCall", id: "b", name: "read", arguments: {} },
    ),
    { role: "toolResult", toolCallId: "a", toolName: "read", content: [text, image], isError: false, timestamp: 1 },
    { role: "toolResult", toolCallId: "b", toolName: "read", content: [], isError: true, timestamp: 1 },
    { role: "developer", content: "hint", timestamp: 1 },
  ];
  const tools: ToolSpec[] = ["read", "grep"].map((name) => ({
    name,
    description: "Does.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    strict: true,
  }));
  const bodyOf = (model: ProviderModel, options: Partial<StreamOptions> = {}) =>
    JSON.parse(JSON.stringify(messagesPayload(streamRequest(model, options, { messages, tools }))));

  it("fits the vendor's type in every kind of body, and a wrong one does not", async () => {
    const levels = ["minimal", "low", "medium", "high", "xhigh"] as const;
    const choices: StreamOptions["toolChoice"][] = ["auto", "none", "any", { type: "tool", name: "read" }];
    const sampling = { temperature: 0.5, sampling: { topP: 0.9, topK: 40 } };
    const bodies = [
      JSON.parse(JSON.stringify(messagesPayload(streamRequest(base)))),
      bodyOf(base, { ...sampling, cacheRetention: "long", sessionId: "s" }),
      bodyOf(adaptive),
      bodyOf({ ...base, reasoning: true }, sampling),
      ...levels.flatMap((reasoning) => [
        bodyOf(adaptive, { reasoning }),
        bodyOf({ ...base, reasoning: true }, { reasoning }),
      ]),
      ...choices.flatMap((toolChoice) =>
        toolChoice === undefined
          ? []
          : [bodyOf(base, { toolChoice }), bodyOf(adaptive, { toolChoice, reasoning: "high" })],
      ),
    ];
    const type = { name: "MessageCreateParamsStreaming", from: "@anthropic-ai/sdk/resources/messages" };
    expect(typeErrors(type, bodies)).toBe("");
    expect(typeErrors(type, [{ ...bodies[0], temperature: 1 }])).toContain("temperature");
  });
});

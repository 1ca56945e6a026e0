// OpenAI responses, held against other readers: the vendor's own client and the AI SDK read the same bytes as galley and
// agree on text, calls and usage; what galley sends has the vendor's type; the second request carries what the first
// reply was signed with, and nothing of it goes to another model.

import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { ReplyBuilder } from "../../../src/loop/reply-builder.js";
import type { AssistantMessage, ToolResultMessage } from "../../../src/protocol/messages.js";
import type { ModelMessage, ProviderModel, StreamOptions, ToolSpec } from "../../../src/provider/provider.js";
import { streamByApi } from "../../../src/provider/stream-by-api.js";
import { anthropic, collect, openAi, streamRequest } from "../../../src/testing/scripted-replies.js";
import { openAiResponses as wire } from "../../../src/testing/scripted-responses.js";
import {
  cut,
  type Reply,
  raw,
  type ScriptedServer,
  type Step,
  sse,
  startScriptedServer,
} from "../../../src/testing/scripted-server.js";
import { describeWithOracles, type Heard, heardByAiSdk, heardByGalley, oracle, typeErrors } from "./oracle.test-kit.js";

let server: ScriptedServer;
afterEach(() => server?.close());

const calls = [
  { id: "call_a", name: "read", arguments: { path: "src/one.ts", limit: 10 } },
  { id: "call_b", name: "grep", arguments: { pattern: "x" } },
];
const tools: ToolSpec[] = ["read", "grep"].map((name) => ({ name, description: name, parameters: { type: "object" } }));
const thinker = (url: string) => wire.model(url, { reasoning: true });
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 25 },
  total_tokens: 140,
};
const items = [wire.reasoning(["First.", "Then."]), wire.message(["Hel", "lo"]), ...calls.map(wire.call)];
const completed = wire.completed(
  items.map(({ done }) => done),
  { usage },
);
const incomplete = wire.event("response.incomplete", {
  response: wire.response("incomplete", {
    incomplete_details: { reason: "max_output_tokens" },
    output: [wire.message(["Hel"]).done],
    usage,
  }),
});

const replies: [string, Reply][] = [
  ["text", wire.text("Hel", "lo")],
  ["reasoning, text and calls", { steps: [...wire.start(), ...wire.inOrder(items), completed] }],
  ["everything interleaved", { steps: [...wire.start(), ...wire.interleaved(items), completed] }],
  ["a reply cut at its limit", { steps: [...wire.start(), ...wire.inOrder([wire.message(["Hel"])]), incomplete] }],
  [
    "reasoning that is sealed at the end",
    {
      steps: [
        ...wire.start(),
        ...wire.inOrder([wire.reasoning(["hm"], null), wire.message(["yes"])]),
        wire.completed([wire.reasoning(["hm"], "late").done, wire.message(["yes"]).done], { usage }),
      ],
    },
  ],
  [
    "events that are not known",
    {
      steps: [
        ...wire.start(),
        sse({ type: "response.moods.delta", delta: "joy" }),
        ...wire.inOrder([wire.message(["yes"])]),
        wire.completed([wire.message(["yes"]).done], { usage }),
      ],
    },
  ],
];

describeWithOracles("OpenAI responses: what is read", () => {
  it.each(replies)("means the same to the vendor's client and the AI SDK: %s", async (_name, reply) => {
    server = await startScriptedServer([reply, reply, reply]);
    const { calls: named, ...heard } = heardByGalley(await collect(streamByApi(streamRequest(thinker(server.url)))));
    const ours = { ...heard, calls: named.map((call) => ({ ...call, id: call.id.split("|")[0] })) };
    const vendor = await heardByVendor(server.url);
    expect(ours).toMatchObject(vendor);
    const model = oracle("@ai-sdk/openai")
      .createOpenAI({ apiKey: "k", baseURL: `${server.url}/v1` })
      .responses("gpt-5");
    // It tells the parts of a thought without a break.
    expect({ ...ours, thinking: ours.thinking.replaceAll("\n\n", "") }).toEqual(await heardByAiSdk(model));
  });
});

/** The end of a reply that has begun to say something. */
const begun = (...end: Step[]): Reply => ({
  steps: [...wire.start(), ...wire.inOrder([wire.message(["I can"])]), ...end],
});
const failures: [string, Reply][] = [
  [
    "safety",
    begun(
      wire.event("response.incomplete", {
        response: wire.response("incomplete", { incomplete_details: { reason: "content_filter" }, output: [], usage }),
      }),
    ),
  ],
  [
    "a reply that failed",
    begun(
      wire.event("response.failed", {
        response: wire.response("failed", { error: { code: "server_error", message: "busy" } }),
      }),
    ),
  ],
  ["an error inside", begun(wire.event("error", { code: "rate_limit_exceeded", message: "slow down" }))],
  ["truncated JSON", begun(raw('event: response.output_text.delta\ndata: {"type":"resp\n\n'))],
  ["an overflow", { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' }],
  ["a reply that is cut off", begun(cut)],
];

describeWithOracles("OpenAI responses: what ends badly", () => {
  it.each(failures)("%s: an error for all three", async (_name, reply) => {
    server = await startScriptedServer([reply, reply, reply]);
    expect(heardByGalley(await collect(streamByApi(streamRequest(thinker(server.url))))).stop).toBe("error");
    const model = oracle("@ai-sdk/openai")
      .createOpenAI({ apiKey: "k", baseURL: `${server.url}/v1` })
      .responses("gpt-5");
    const { stop } = await heardByAiSdk(model).catch(() => ({ stop: "error" }));
    expect(stop).toBe("error");
    expect(await vendorFails(server.url)).toBe(true);
  });

  it("a refusal is text that ends as usual, and a page is an error", async () => {
    const refusal = { type: "refusal", refusal: "No." };
    const item = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
    const page: Reply = { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Log in</h1>" };
    server = await startScriptedServer([
      {
        steps: [
          ...wire.start(),
          wire.event("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
          wire.event("response.refusal.delta", { output_index: 0, item_id: "msg_1", content_index: 0, delta: "No." }),
          wire.event("response.output_item.done", { output_index: 0, item: { ...item, content: [refusal] } }),
          wire.completed([{ ...item, content: [refusal] }], { usage }),
        ],
      },
      page,
    ]);
    const read = async () => heardByGalley(await collect(streamByApi(streamRequest(thinker(server.url)))));
    expect(await read()).toMatchObject({ text: "No.", stop: "stop" });
    expect((await read()).stop).toBe("error");
  });
});

describeWithOracles("OpenAI responses: what is sent", () => {
  it("has the vendor's type: first and second requests, images both ways, every choice and level", async () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
    const first: ModelMessage[] = [
      { role: "developer", content: "Careful.", timestamp: 1 },
      { role: "user", content: [{ type: "text", text: "Look" }, image], timestamp: 1 },
    ];
    const options: Partial<StreamOptions>[] = [
      { reasoning: "xhigh", cacheRetention: "long", sessionId: "s" },
      { toolChoice: { type: "tool", name: "read" }, temperature: 0.5, sampling: { topP: 0.5 } },
      ...(["auto", "none", "required"] as const).map((toolChoice) => ({ toolChoice })),
    ];
    const bodies: unknown[] = [];
    for (const each of options) {
      server = await startScriptedServer([wire.reply(items), wire.text("Done.")]);
      const model = thinker(server.url);
      const reply = await ask(model, first, each);
      const results = resultsOf(reply).map((result) => ({ ...result, content: [...result.content, image] }));
      await ask(model, [...first, reply, ...results], each);
      bodies.push(...server.requests.map(({ body }) => body));
      await server.close();
    }
    const type = { name: "ResponseCreateParamsStreaming", from: "openai/resources/responses/responses" };
    expect(typeErrors(type, bodies)).toBe("");
    expect(typeErrors(type, [{ ...(bodies[0] as object), mood: "joy" }])).toContain("mood");
  });
});

describe("the second request", () => {
  it("has the items, signatures and ids of the first reply", async () => {
    server = await startScriptedServer([wire.reply(items), wire.text("Done.")]);
    const model = thinker(server.url);
    const first: ModelMessage[] = [{ role: "user", content: "Go", timestamp: 1 }];
    const reply = await ask(model, first);
    expect(reply.stopReason).toBe("toolUse");
    await ask(model, [...first, reply, ...resultsOf(reply)]);
    const [reasoning, message, ...sent] = items.map(({ done }) => done);
    const wireCalls = sent.map(({ status: _status, ...call }) => call);
    expect(inputOf(1)).toEqual([
      { role: "user", content: [{ type: "input_text", text: "Go" }] },
      reasoning,
      message,
      ...wireCalls,
      ...calls.map(({ id }) => ({ type: "function_call_output", call_id: id, output: "ok" })),
    ]);
  });

  it("to other apis and back carries no foreign signature, item or id", async () => {
    server = await startScriptedServer([
      wire.reply(items),
      anthropic.thinking("I see", "fine", "anthropic-seal"),
      openAi.thinking("well", "good"),
      wire.text("Back."),
    ]);
    const own = thinker(server.url);
    const claude = anthropic.model(server.url, { reasoning: true });
    const chat = openAi.model(server.url, { reasoning: true });
    const messages: ModelMessage[] = [{ role: "user", content: "Go", timestamp: 1 }];
    for (const model of [own, claude, chat, own]) {
      const reply = await ask(model, [...messages], { reasoning: "high" });
      messages.push(reply, ...resultsOf(reply), { role: "user", content: "On", timestamp: 1 });
    }
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    for (const body of bodies.slice(1, 3)) {
      expect(body).not.toMatch(/sealed|rs_1|fc_call|msg_1|textSignature|\|/);
      expect(body.match(/"call_1"/g)).toHaveLength(2); // the call and its result
    }
    expect(bodies[2]).not.toContain("anthropic-seal");
    expect(bodies[3]).not.toMatch(/anthropic-seal|reasoning_content/);
    const back = inputOf(3);
    expect(back.slice(1, 5)).toEqual(
      items.map(({ done: { status, ...item } }) => (item.type === "message" ? { ...item, status } : item)),
    );
    const made = back.filter(({ id }) => /^msg_g\d+$/.test(String(id))).map(({ id }) => id);
    expect(made).toEqual(["msg_g1", "msg_g2", "msg_g3", "msg_g4"]); // thoughts and answers of the other two, as text
  });
});

async function ask(model: ProviderModel, messages: ModelMessage[], options: Partial<StreamOptions> = {}) {
  const builder = new ReplyBuilder(model, 1);
  for await (const event of streamByApi(streamRequest(model, options, { messages, tools }))) {
    builder.apply(event);
    if (event.type === "done") return builder.finish({ stopReason: event.reason }).message;
    if (event.type === "error") throw new Error(event.errorMessage);
  }
  throw new Error("no end");
}

function resultsOf(reply: AssistantMessage): ToolResultMessage[] {
  return reply.content.flatMap((block) =>
    block.type === "toolCall"
      ? [
          {
            ...{ role: "toolResult", toolCallId: block.id, toolName: block.name, isError: false, timestamp: 1 },
            content: [{ type: "text", text: "ok" }],
          } as ToolResultMessage,
        ]
      : [],
  );
}

function inputOf(request: number): JsonObject[] {
  return (server.requests[request]!.body as { input: JsonObject[] }).input;
}

/** Its client throws, or hands over an event that says so, or nothing that ends the reply. */
async function vendorFails(url: string): Promise<boolean> {
  const { OpenAI } = oracle("openai");
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
  try {
    let last = "";
    for await (const { type } of await client.responses.create({ model: "m", input: "x", stream: true })) last = type;
    return last !== "response.completed";
  } catch {
    return true;
  }
}

async function heardByVendor(url: string): Promise<Pick<Heard, "text" | "calls" | "usage">> {
  const { OpenAI } = oracle("openai");
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
  let response: { output: JsonObject[]; usage: typeof usage } | undefined;
  for await (const event of await client.responses.create({ model: "m", input: "x", stream: true }))
    if (event.type === "response.completed" || event.type === "response.incomplete") response = event.response;
  if (!response) throw new Error("The stream has no end.");
  const { output, usage: counts } = response;
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = counts.input_tokens_details;
  const texts = output.flatMap(({ type, content }) => (type === "message" ? (content as { text: string }[]) : []));
  return {
    text: texts.map(({ text }) => text).join(""),
    calls: output
      .filter(({ type }) => type === "function_call")
      .map((item) => ({
        id: String(item.call_id),
        name: String(item.name),
        arguments: JSON.parse(String(item.arguments)),
      })),
    usage: { input: counts.input_tokens - cacheRead - cacheWrite, output: counts.output_tokens, cacheRead, cacheWrite },
  };
}

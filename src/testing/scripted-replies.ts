// Replies for the scripted server in two dialects (whole answers for most tests, single steps for the odd ones), and
// the requests that ask for them.

import { mergeDeltas } from "../provider/merge-deltas.js";
import type { ModelContext, ProviderModel, StreamEvent, StreamOptions, StreamRequest } from "../provider/provider.js";
import { many, type Reply, type Step, sse } from "./scripted-server.js";

export interface ScriptedCall {
  id: string;
  name: string;
  /** Text is sent as it is, so that it may be broken. */
  arguments: Record<string, unknown> | string;
}

export function streamRequest(
  model: ProviderModel,
  options: Partial<StreamOptions> = {},
  context: Partial<ModelContext> = {},
): StreamRequest {
  return {
    model,
    context: {
      systemPrompt: "Be brief.",
      messages: [{ role: "user", content: "Hello", timestamp: 1 }],
      tools: [],
      ...context,
    },
    options: { signal: new AbortController().signal, ...options },
  };
}

/** All events, neighbouring deltas as one: how the network cut them up is chance. */
export async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = [];
  for await (const event of events) all.push(event);
  return mergeDeltas(all);
}

/** The argument text of each tool call, in order of the calls. */
export function argumentTexts(events: readonly StreamEvent[]): string[] {
  const texts = new Map<number, string>();
  for (const event of events) {
    if (event.type === "toolcall_start") texts.set(event.contentIndex, "");
    if (event.type === "toolcall_delta")
      texts.set(event.contentIndex, `${texts.get(event.contentIndex) ?? ""}${event.delta}`);
  }
  return [...texts.values()];
}

const openAiUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export const openAi = {
  model: (baseUrl: string, changes: Partial<ProviderModel> = {}) =>
    scriptedModel({ api: "openai-completions", provider: "openai", baseUrl: `${baseUrl}/v1`, ...changes }),

  chunk: (delta: object, finishReason: string | null = null): Step =>
    sse({ id: "chatcmpl-1", choices: [{ index: 0, delta, finish_reason: finishReason }] }),

  finish: (reason: string, usage: object = openAiUsage): Step[] => [
    openAi.chunk({}, reason),
    sse({ id: "chatcmpl-1", choices: [], usage }),
    sse("[DONE]"),
  ],

  /** One piece per delta. */
  text: (...pieces: string[]): Reply => ({
    steps: [...pieces.map((content) => openAi.chunk({ content })), ...openAi.finish("stop")],
  }),

  thinking: (thoughts: string, text: string): Reply => ({
    steps: [openAi.chunk({ reasoning_content: thoughts }), openAi.chunk({ content: text }), ...openAi.finish("stop")],
  }),

  /** Fragments of all calls take turns, as parallel calls may. */
  toolCalls: (calls: readonly ScriptedCall[], reason = "tool_calls"): Reply => ({
    steps: [
      ...calls.map(({ id, name }, index) =>
        openAi.chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ),
      ...interleave(calls, (index, fragment) =>
        openAi.chunk({ tool_calls: [{ index, function: { arguments: fragment } }] }),
      ),
      ...openAi.finish(reason),
    ],
  }),

  /** `count` text deltas as fast as the socket takes them. */
  manyDeltas: (count: number, content = "word "): Reply => {
    const event = `data: ${JSON.stringify({ id: "chatcmpl-1", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
    return { steps: [many(count, () => event), ...openAi.finish("stop")] };
  },
};

export const anthropic = {
  model: (baseUrl: string, changes: Partial<ProviderModel> = {}) =>
    scriptedModel({ api: "anthropic-messages", provider: "anthropic", baseUrl, ...changes }),

  event: (type: string, fields: object = {}): Step => sse({ type, ...fields }, type),

  start: (usage: object = { input_tokens: 10, output_tokens: 1 }): Step =>
    anthropic.event("message_start", {
      message: { id: "msg_1", type: "message", role: "assistant", content: [], usage },
    }),

  block: (index: number, contentBlock: object, deltas: readonly object[]): Step[] => [
    anthropic.event("content_block_start", { index, content_block: contentBlock }),
    ...deltas.map((delta) => anthropic.event("content_block_delta", { index, delta })),
    anthropic.event("content_block_stop", { index }),
  ],

  finish: (reason: string, usage: object = { output_tokens: 5 }): Step[] => [
    anthropic.event("message_delta", { delta: { stop_reason: reason }, usage }),
    anthropic.event("message_stop"),
  ],

  reply: (blocks: readonly Step[], reason = "end_turn"): Reply => ({
    steps: [anthropic.start(), ...blocks, ...anthropic.finish(reason)],
  }),

  text: (...pieces: string[]): Reply =>
    anthropic.reply(
      anthropic.block(
        0,
        { type: "text", text: "" },
        pieces.map((text) => ({ type: "text_delta", text })),
      ),
    ),

  thinking: (thoughts: string, text: string, signature = "sig-1"): Reply =>
    anthropic.reply([
      ...anthropic.block(0, { type: "thinking", thinking: "" }, [
        { type: "thinking_delta", thinking: thoughts },
        { type: "signature_delta", signature },
      ]),
      ...anthropic.block(1, { type: "text", text: "" }, [{ type: "text_delta", text }]),
    ]),

  toolCalls: (calls: readonly ScriptedCall[], reason = "tool_use"): Reply =>
    anthropic.reply(
      calls.flatMap((call, index) =>
        anthropic.block(
          index,
          { type: "tool_use", id: call.id, name: call.name, input: {} },
          fragments(call).map((partial_json) => ({ type: "input_json_delta", partial_json })),
        ),
      ),
      reason,
    ),

  manyDeltas: (count: number, text = "word "): Reply => {
    const data = JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    return anthropic.reply([
      anthropic.event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      many(count, () => `event: content_block_delta\ndata: ${data}\n\n`),
      anthropic.event("content_block_stop", { index: 0 }),
    ]);
  },
};

function scriptedModel(
  fields: Pick<ProviderModel, "api" | "provider" | "baseUrl"> & Partial<ProviderModel>,
): ProviderModel {
  return {
    id: "scripted",
    name: "Scripted",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...fields,
  };
}

function fragments(call: ScriptedCall): string[] {
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return text.match(/.{1,7}/gsu) ?? [];
}

function interleave(calls: readonly ScriptedCall[], step: (index: number, fragment: string) => Step): Step[] {
  const queues = calls.map(fragments);
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  const steps: Step[] = [];
  for (let turn = 0; turn < longest; turn += 1)
    for (const [index, queue] of queues.entries()) {
      const fragment = queue[turn];
      if (fragment !== undefined) steps.push(step(index, fragment));
    }
  return steps;
}

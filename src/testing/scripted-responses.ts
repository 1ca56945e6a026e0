// Replies for the scripted server as OpenAI's responses API streams them: whole answers, and the events of single items.

import type { ProviderModel } from "../provider/provider.js";
import { openAi, type ScriptedCall } from "./scripted-replies.js";
import { many, type Reply, type Step, sse } from "./scripted-server.js";

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

/** One item of a reply: as it is added, the events in between, and as it is done. */
export interface ScriptedItem {
  added: Record<string, unknown>;
  events: readonly { type: string; [field: string]: unknown }[];
  done: Record<string, unknown>;
}

export const openAiResponses = {
  model: (baseUrl: string, changes: Partial<ProviderModel> = {}) =>
    openAi.model(baseUrl, { api: "openai-responses", ...changes }),

  event: (type: string, fields: object = {}): Step => sse({ type, ...fields }, type),

  response: (status: string, fields: object = {}) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "scripted",
    status,
    error: null,
    output: [],
    incomplete_details: null,
    parallel_tool_calls: true,
    tools: [],
    ...fields,
  }),

  message: (pieces: readonly string[], fields: { id?: string; phase?: string } = {}): ScriptedItem => {
    const head = { id: "msg_1", type: "message", role: "assistant", ...fields };
    const part = (text: string) => ({ type: "output_text", text, annotations: [] });
    const place = { item_id: head.id, content_index: 0 };
    return {
      added: { ...head, status: "in_progress", content: [] },
      events: [
        { type: "response.content_part.added", ...place, part: part("") },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
        { type: "response.output_text.done", ...place, text: pieces.join(""), logprobs: [] },
        { type: "response.content_part.done", ...place, part: part(pieces.join("")) },
      ],
      done: { ...head, status: "completed", content: [part(pieces.join(""))] },
    };
  },

  /** One summary part for each text. Null: the service does not seal the item, or not yet. */
  reasoning: (summaries: readonly string[], seal: string | null = "sealed", id = "rs_1"): ScriptedItem => {
    const summary = summaries.map((text) => ({ type: "summary_text", text }));
    return {
      added: { id, type: "reasoning", summary: [], encrypted_content: seal === null ? null : "" },
      events: summaries.flatMap((text, summary_index) => {
        const place = { item_id: id, summary_index };
        return [
          { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
          { type: "response.reasoning_summary_text.delta", ...place, delta: text },
          { type: "response.reasoning_summary_text.done", ...place, text },
          { type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } },
        ];
      }),
      done: { id, type: "reasoning", summary, encrypted_content: seal },
    };
  },

  /** The item's id is that of the call with `fc_` before it. */
  call: ({ id, name, arguments: given }: ScriptedCall): ScriptedItem => {
    const text = typeof given === "string" ? given : JSON.stringify(given);
    const head = { id: `fc_${id}`, type: "function_call", call_id: id, name };
    const delta = (piece: string) => ({
      type: "response.function_call_arguments.delta",
      item_id: head.id,
      delta: piece,
    });
    return {
      added: { ...head, status: "in_progress", arguments: "" },
      events: [
        ...(text.match(/.{1,7}/gsu) ?? []).map(delta),
        { type: "response.function_call_arguments.done", item_id: head.id, name, arguments: text },
      ],
      done: { ...head, status: "completed", arguments: text },
    };
  },

  /** Items one after the other. */
  inOrder: (items: readonly ScriptedItem[]): Step[] =>
    items.flatMap(({ added, events, done }, output_index) => [
      openAiResponses.event("response.output_item.added", { output_index, item: added }),
      ...events.map(({ type, ...fields }) => openAiResponses.event(type, { output_index, ...fields })),
      openAiResponses.event("response.output_item.done", { output_index, item: done }),
    ]),

  /** All items at once, their events in turn. */
  interleaved: (items: readonly ScriptedItem[]): Step[] => {
    const longest = Math.max(0, ...items.map(({ events }) => events.length));
    const turns = Array.from({ length: longest }, (_, turn) =>
      items.flatMap(({ events }, output_index) => {
        const { type, ...fields } = events[turn] ?? { type: "" };
        return type === "" ? [] : [openAiResponses.event(type, { output_index, ...fields })];
      }),
    );
    const all = (name: string, pick: (item: ScriptedItem) => object) =>
      items.map((item, output_index) => openAiResponses.event(name, { output_index, item: pick(item) }));
    return [
      ...all("response.output_item.added", ({ added }) => added),
      ...turns.flat(),
      ...all("response.output_item.done", ({ done }) => done),
    ];
  },

  start: (): Step[] => [
    openAiResponses.event("response.created", { response: openAiResponses.response("in_progress") }),
    openAiResponses.event("response.in_progress", { response: openAiResponses.response("in_progress") }),
  ],

  completed: (output: readonly object[], fields: object = {}): Step =>
    openAiResponses.event("response.completed", {
      response: openAiResponses.response("completed", { output, usage, ...fields }),
    }),

  reply: (items: readonly ScriptedItem[], how: "inOrder" | "interleaved" = "inOrder"): Reply => ({
    steps: [
      ...openAiResponses.start(),
      ...openAiResponses[how](items),
      openAiResponses.completed(items.map(({ done }) => done)),
    ],
  }),

  text: (...pieces: string[]): Reply => openAiResponses.reply([openAiResponses.message(pieces)]),

  /** `count` text deltas as fast as the socket takes them. */
  manyDeltas: (count: number, delta = "word "): Reply => {
    const [added, ...rest] = openAiResponses.inOrder([openAiResponses.message([])]);
    const type = "response.output_text.delta";
    const data = JSON.stringify({ type, output_index: 0, item_id: "msg_1", content_index: 0, delta, logprobs: [] });
    return {
      steps: [
        ...openAiResponses.start(),
        ...(added ? [added] : []),
        many(count, () => `event: ${type}\ndata: ${data}\n\n`),
        ...rest,
        openAiResponses.completed([]),
      ],
    };
  },
};

// OpenAI responses. The reply is a list of items told apart by `output_index`, so items that arrive interleaved stay
// whole; only a terminal event ends it, and types of events that are not known change nothing.

import { isObject, type JsonObject, parseObject } from "../../base/json.js";
import type { Usage } from "../../protocol/messages.js";
import { type Problem, problemOfErrorObject } from "../failures.js";
import { mergeHeaders } from "../http/http.js";
import {
  createCallIds,
  type Dialect,
  failed,
  failure,
  malformed,
  streamWire,
  tooManyToolCalls,
  type WireReader,
} from "../http/wire.js";
import {
  maxCallsPerReply,
  type ProviderModel,
  type StreamEvent,
  type StreamFunction,
  type StreamRequest,
  zeroUsage,
} from "../provider.js";
import { sessionHeaders } from "../shared-compat.js";
import { tokenCount, usageOf } from "../usage.js";
import { responsesPayload, wantsSealedReasoning } from "./responses-request.js";

export const streamOpenAiResponses: StreamFunction = (request) => streamWire(responses, request);

const responses: Dialect = {
  request: (request: StreamRequest) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/responses`,
    headers: mergeHeaders(
      sessionHeaders(request),
      request.options.apiKey ? { authorization: `Bearer ${request.options.apiKey}` } : {},
      request.model.headers,
      request.options.headers,
    ),
    payload: responsesPayload(request),
  }),
  reader: ({ model }) => new ResponsesReader(model),
};

interface Item {
  kind: "text" | "thinking" | "call";
  contentIndex: number;
  hasDelta: boolean;
  /** The part of a reasoning item that the last delta belonged to. */
  part?: string;
  /** A reasoning item that is over, but whose seal may still come with the end of the reply. */
  unsealed?: JsonObject;
  isOver: boolean;
}

const kinds: { [type: string]: Item["kind"] } = { message: "text", reasoning: "thinking", function_call: "call" };

const deltas: { [type: string]: Item["kind"] } = {
  "response.output_text.delta": "text",
  "response.refusal.delta": "text",
  "response.reasoning_summary_text.delta": "thinking",
  "response.reasoning_text.delta": "thinking",
  "response.function_call_arguments.delta": "call",
};

class ResponsesReader implements WireReader {
  readonly #model: ProviderModel;
  readonly #nameCall = createCallIds();
  /** By `output_index`; by the item's id at a service that gives no index. */
  readonly #items = new Map<unknown, Item>();
  #calls = 0;
  #hasStarted = false;
  #usage: Usage | undefined;
  #responseId: string | undefined;

  /** A terminal event is the last that is read. */
  readonly isComplete = false;

  constructor(model: ProviderModel) {
    this.#model = model;
  }

  get known(): WireReader["known"] {
    return {
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  read(data: string, out: StreamEvent[]): boolean {
    const event = parseObject(data);
    if (event === undefined) {
      const text = data.trim();
      return text === "" || text === "[DONE]" ? false : this.#fail(malformed(data), out);
    }
    const response = isObject(event.response) ? event.response : {};
    if (typeof response.id === "string" && response.id !== "") this.#responseId = response.id;
    this.#readUsage(response.usage);
    if (event.type === "error" || (event.type === undefined && event.error))
      return this.#fail(problemOfErrorObject(event), out);
    if (event.type === "response.failed") return this.#fail(problemOfErrorObject(response.error ?? undefined), out);
    this.#start(out);
    if (event.type === "response.completed") return this.#finish(response, out);
    if (event.type === "response.incomplete") return this.#finishEarly(response, out);
    const problem = this.#readEvent(event, out);
    return problem ? this.#fail(problem, out) : false;
  }

  end(out: StreamEvent[]): void {
    this.#fail(failure("network", "The stream ended before the reply did: no response.completed came."), out);
  }

  #fail(problem: Problem, out: StreamEvent[]): true {
    out.push(failed(problem, this.known));
    return true;
  }

  #start(out: StreamEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    out.push({ type: "start", ...this.known });
  }

  #readUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
    const outputDetails = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
    const prompt = tokenCount(usage.input_tokens);
    const cacheRead = Math.min(prompt, tokenCount(details.cached_tokens));
    const cacheWrite = Math.min(prompt - cacheRead, tokenCount(details.cache_write_tokens));
    this.#usage = usageOf(this.#model.cost, {
      input: prompt - cacheRead - cacheWrite,
      output: tokenCount(usage.output_tokens), // reasoning is already in it
      cacheRead,
      cacheWrite,
      reasoning: tokenCount(outputDetails.reasoning_tokens),
      totalTokens: tokenCount(usage.total_tokens),
      ...(typeof usage.cost === "number" ? { billed: tokenCount(usage.cost) } : {}), // a router's own bill
    });
  }

  #readEvent(event: JsonObject, out: StreamEvent[]): Problem | undefined {
    const type = String(event.type);
    const item = isObject(event.item) ? event.item : {};
    const key = event.output_index ?? event.item_id ?? item.id;
    // The name of a call may come only with the end of its item.
    if (type === "response.output_item.added") return this.#open(key, item, out);
    if (type === "response.output_item.done") return this.#endItem(key, item, out);
    const kind = Object.hasOwn(deltas, type) ? deltas[type] : undefined;
    if (kind !== undefined) this.#readDelta(key, { ...event, kind }, out);
    return undefined;
  }

  #open(key: unknown, detail: JsonObject, out: StreamEvent[]): Problem | undefined {
    const type = String(detail.type);
    const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    if (kind === undefined || this.#items.has(key)) return undefined;
    if (kind !== "call") return void this.#openBlock(key, kind, out);
    const { name, call_id: callId, id: itemId } = detail;
    if (typeof name !== "string" || name === "") return undefined;
    if (this.#calls === maxCallsPerReply) return tooManyToolCalls;
    this.#calls += 1;
    const { contentIndex } = this.#add(key, kind);
    const id = this.#nameCall(callId || itemId);
    out.push({ type: "toolcall_start", contentIndex, id: isItemId(itemId) ? `${id}|${itemId}` : id, name });
    return undefined;
  }

  #openBlock(key: unknown, kind: "text" | "thinking", out: StreamEvent[]): Item {
    const item = this.#add(key, kind);
    out.push({ type: `${kind}_start`, contentIndex: item.contentIndex });
    return item;
  }

  #add(key: unknown, kind: Item["kind"]): Item {
    const item: Item = { kind, contentIndex: this.#items.size, hasDelta: false, isOver: false };
    this.#items.set(key, item);
    return item;
  }

  #readDelta(key: unknown, event: JsonObject & { kind: Item["kind"] }, out: StreamEvent[]): void {
    const { kind, delta } = event;
    if (typeof delta !== "string" || delta === "") return;
    // A call without a start waits for the end of its item, which has its name and its whole arguments.
    const item = this.#items.get(key) ?? (kind === "call" ? undefined : this.#openBlock(key, kind, out));
    if (item?.kind !== kind || item.isOver) return;
    const { contentIndex } = item;
    if (kind === "thinking") {
      const part = `${event.type} ${event.summary_index ?? event.content_index}`;
      const isNext = item.part !== undefined && item.part !== part;
      item.part = part;
      out.push({ type: "thinking_delta", contentIndex, delta: isNext ? `\n\n${delta}` : delta });
    } else out.push({ type: kind === "text" ? "text_delta" : "toolcall_delta", contentIndex, delta });
    item.hasDelta = true;
  }

  #endItem(key: unknown, detail: JsonObject, out: StreamEvent[]): Problem | undefined {
    const problem = this.#open(key, detail, out);
    if (problem) return problem;
    const item = this.#items.get(key);
    if (item === undefined)
      return detail.type === "function_call"
        ? failure("server", "The service sent a tool call without a name.")
        : undefined;
    if (item.isOver || kinds[String(detail.type)] !== item.kind) return undefined;
    item.isOver = true;
    const { kind, contentIndex } = item;
    const delta = item.hasDelta ? "" : wholeText(kind, detail);
    if (delta !== "") out.push({ type: kind === "call" ? "toolcall_delta" : `${kind}_delta`, contentIndex, delta });
    item.hasDelta ||= delta !== "";
    if (kind === "text") out.push({ type: "text_end", contentIndex, ...textSignature(detail) });
    else if (kind === "call") this.#endCall(item, out);
    else if (isSealed(detail) || !wantsSealedReasoning(this.#model)) endThinking(item, detail, out);
    else item.unsealed = detail;
    return undefined;
  }

  /** No text at all means no arguments, unless the reply was cut before they came. */
  #endCall({ contentIndex, hasDelta }: Item, out: StreamEvent[], isCut = false): void {
    if (!hasDelta && !isCut) out.push({ type: "toolcall_delta", contentIndex, delta: "{}" });
    out.push({ type: "toolcall_end", contentIndex });
  }

  #finish({ output }: JsonObject, out: StreamEvent[]): boolean {
    const list: unknown[] = Array.isArray(output) ? output : [];
    const items = list.filter(isObject);
    // A proxy that does not stream sends nothing but this event.
    if (this.#items.size === 0)
      for (const [index, item] of items.entries()) {
        const problem = this.#endItem(index, item, out);
        if (problem) return this.#fail(problem, out);
      }
    this.#endOpen(items, out, false);
    out.push({ type: "done", reason: this.#calls > 0 ? "toolUse" : "stop", usage: zeroUsage, ...this.known });
    return true;
  }

  #finishEarly({ incomplete_details: details, output }: JsonObject, out: StreamEvent[]): boolean {
    const reason = isObject(details) ? details.reason : undefined;
    if (reason === "content_filter")
      return this.#fail(failure(reason, `Provider incomplete_details: ${reason}`, reason), out);
    this.#endOpen(Array.isArray(output) ? output.filter(isObject) : [], out, true);
    out.push({ type: "done", reason: "length", usage: zeroUsage, ...this.known });
    return true;
  }

  #endOpen(output: readonly JsonObject[], out: StreamEvent[], isCut: boolean): void {
    for (const item of this.#items.values()) {
      const { kind, contentIndex, unsealed } = item;
      if (unsealed) endThinking(item, output.find(({ id }) => id === unsealed.id && id !== undefined) ?? unsealed, out);
      if (item.isOver) continue;
      if (kind === "call") this.#endCall(item, out, isCut);
      else out.push({ type: `${kind}_end`, contentIndex });
    }
  }
}

function endThinking({ contentIndex }: Item, detail: JsonObject, out: StreamEvent[]): void {
  const signature = isSealed(detail) ? { thinkingSignature: JSON.stringify(detail) } : {};
  out.push({ type: "thinking_end", contentIndex, ...signature });
}

function isSealed({ encrypted_content: seal }: JsonObject): boolean {
  return typeof seal === "string" && seal !== "";
}

function textSignature({ id, phase }: JsonObject): { textSignature?: string } {
  if (!isItemId(id)) return {};
  return { textSignature: JSON.stringify({ v: 1, id, ...(typeof phase === "string" ? { phase } : {}) }) };
}

function isItemId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= 256 && !id.includes("|");
}

/** What an item says as a whole, for services that send no deltas of it. */
function wholeText(kind: Item["kind"], { content, summary, arguments: args }: JsonObject): string {
  if (kind === "call") return typeof args === "string" ? args : isObject(args) ? JSON.stringify(args) : "";
  const parts: unknown[] = [summary, content].flatMap((list) => (Array.isArray(list) ? list : []));
  const texts = parts.filter(isObject).map(({ text, refusal }) => String(text ?? refusal ?? ""));
  return texts.filter((text) => text !== "").join(kind === "thinking" ? "\n\n" : "");
}

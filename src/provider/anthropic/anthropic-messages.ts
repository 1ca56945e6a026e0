// Anthropic messages. The wire has a strict envelope (message_start … message_stop); a reply that breaks it is an
// error, never a short answer.

import { isObject, type JsonObject, parseObject } from "../../base/json.js";
import { excerpt, type Problem, problemOfErrorObject } from "../failures.js";
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
import { type TokenCounts, tokenCount, usageOf } from "../usage.js";
import { messagesPayload } from "./request.js";

export const streamAnthropicMessages: StreamFunction = (request) => streamWire(messages, request);

const messages: Dialect = {
  request: (request: StreamRequest) => {
    const base = request.model.baseUrl.replace(/\/+$/, "");
    return {
      url: base.endsWith("/v1") ? `${base}/messages` : `${base}/v1/messages`,
      headers: requestHeaders(request),
      payload: messagesPayload(request),
    };
  },
  reader: ({ model }) => new MessagesReader(model),
};

function requestHeaders(request: StreamRequest): Record<string, string> {
  const { model, options } = request;
  const { apiKey = "" } = options;
  const key: Record<string, string> = apiKey.startsWith(loginPrefix)
    ? { authorization: `Bearer ${apiKey}` }
    : { "x-api-key": apiKey };
  const own = { "anthropic-version": "2023-06-01", ...sessionHeaders(request) };
  const headers = mergeHeaders(own, apiKey === "" ? {} : key, model.headers, options.headers);
  if (!headers.authorization?.startsWith(`Bearer ${loginPrefix}`)) return headers;
  // Without this header the service refuses a login token.
  const others = headers["anthropic-beta"]?.split(",").filter((beta) => beta.trim() !== loginBeta) ?? [];
  return { ...headers, "anthropic-beta": [...others, loginBeta].join(",") };
}

const loginPrefix = "sk-ant-oat";
const loginBeta = "oauth-2025-04-20";

const outcomes: { [stopReason: string]: "stop" | "length" | "toolUse" } = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  tool_use: "toolUse",
};

const refusals: { [stopReason: string]: Problem["failure"]["kind"] } = {
  refusal: "refusal",
  sensitive: "content_filter",
  model_context_window_exceeded: "overflow",
};

/** Where each kind of delta keeps its text. */
const deltaFields: { [type: string]: string } = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "signature",
  input_json_delta: "partial_json",
};

/** `other` is a block whose deltas are ignored. */
type Block =
  | { kind: "text" | "other"; contentIndex: number }
  | { kind: "thinking"; contentIndex: number; signature: string }
  | { kind: "tool"; contentIndex: number; initial: string; hasArguments: boolean };

const ignored: Block = { kind: "other", contentIndex: -1 };

class MessagesReader implements WireReader {
  readonly #model: ProviderModel;
  readonly #nameCall = createCallIds();
  /** Open blocks by the wire's index. */
  readonly #open = new Map<unknown, Block>();
  /** Calls that ended without arguments. What follows shows whether the call has no arguments or was cut off. */
  #bare: number[] = [];
  #blocks = 0;
  #calls = 0;
  #counts: TokenCounts | undefined;
  #responseId: string | undefined;
  #stopReason: string | undefined;

  /** Only message_stop ends a reply, and nothing is read after it. */
  readonly isComplete = false;

  constructor(model: ProviderModel) {
    this.#model = model;
  }

  get known(): WireReader["known"] {
    return {
      ...(this.#counts === undefined ? {} : { usage: usageOf(this.#model.cost, this.#counts) }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  read(data: string, out: StreamEvent[]): boolean {
    const event = parseObject(data);
    if (event === undefined) return data.trim() === "" ? false : this.#fail(malformed(data), out);
    const problem = this.#readEvent(event, out);
    if (problem) return this.#fail(problem, out);
    if (event.type !== "message_stop") return false;
    this.#finish(out);
    return true;
  }

  end(out: StreamEvent[]): void {
    const missing = this.#counts === undefined ? "message_start" : "message_stop";
    this.#fail(envelope(`the stream ended without ${missing}`), out);
  }

  #fail(problem: Problem, out: StreamEvent[]): true {
    out.push(failed(problem, this.known));
    return true;
  }

  #readEvent(event: JsonObject, out: StreamEvent[]): Problem | undefined {
    const { type } = event;
    if (type === "error") return problemOfErrorObject(event);
    if (type === "message_start") return this.#start(event.message, out);
    const isOfReply = type === "message_delta" || type === "message_stop" || String(type).startsWith("content_block_");
    if (!isOfReply) return undefined; // ping, and event types that are not known yet
    if (this.#counts === undefined) return envelope(`${type} came before message_start`);
    switch (type) {
      case "content_block_start":
        return this.#startBlock(event.index, event.content_block, out);
      case "content_block_delta":
        return this.#readDelta(event.index, event.delta, out);
      case "content_block_stop":
        this.#endBlock(event.index, out);
        return undefined;
      case "message_delta":
        this.#readUsage(event.usage);
        if (isObject(event.delta) && typeof event.delta.stop_reason === "string")
          this.#stopReason = event.delta.stop_reason;
    }
    return undefined;
  }

  #start(message: unknown, out: StreamEvent[]): Problem | undefined {
    if (this.#counts !== undefined) return envelope("message_start came twice");
    this.#counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    if (isObject(message)) {
      if (typeof message.id === "string" && message.id !== "") this.#responseId = message.id;
      this.#readUsage(message.usage);
    }
    out.push({ type: "start", ...this.known });
    return undefined;
  }

  /** Counts are running totals; a field that is absent keeps its value. */
  #readUsage(usage: unknown): void {
    if (!isObject(usage) || this.#counts === undefined) return;
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
    const counts = this.#counts;
    if (typeof input_tokens === "number") counts.input = tokenCount(input_tokens);
    if (typeof output_tokens === "number") counts.output = tokenCount(output_tokens);
    if (typeof cache_read_input_tokens === "number") counts.cacheRead = tokenCount(cache_read_input_tokens);
    if (typeof cache_creation_input_tokens === "number") counts.cacheWrite = tokenCount(cache_creation_input_tokens);
    const { cache_creation, output_tokens_details } = usage;
    if (isObject(cache_creation)) counts.cacheWrite1h = tokenCount(cache_creation.ephemeral_1h_input_tokens);
    if (isObject(output_tokens_details)) counts.reasoning = tokenCount(output_tokens_details.thinking_tokens);
  }

  #startBlock(index: unknown, block: unknown, out: StreamEvent[]): Problem | undefined {
    if (this.#open.has(index)) return envelope(`content block ${excerpt(String(index), 20)} started twice`);
    this.#endBare("{}", out); // the reply continues, so it was not cut there
    const detail = isObject(block) ? block : {};
    switch (detail.type) {
      case "text":
      case "thinking": {
        const contentIndex = this.#blocks++;
        out.push({ type: `${detail.type}_start`, contentIndex });
        if (detail.type === "text") this.#open.set(index, { kind: "text", contentIndex });
        else this.#open.set(index, { kind: "thinking", contentIndex, signature: stringOf(detail.signature) });
        const delta = stringOf(detail[detail.type]);
        if (delta !== "") out.push({ type: `${detail.type}_delta`, contentIndex, delta });
        return undefined;
      }
      case "redacted_thinking":
        out.push({ type: "redacted_thinking", contentIndex: this.#blocks++, data: stringOf(detail.data) });
        this.#open.set(index, ignored);
        return undefined;
      case "tool_use":
        return this.#startCall(index, detail, out);
      default:
        this.#open.set(index, ignored);
        return undefined;
    }
  }

  #startCall(index: unknown, detail: JsonObject, out: StreamEvent[]): Problem | undefined {
    if (typeof detail.name !== "string" || detail.name === "")
      return failure("server", "The service sent a tool call without a name.");
    if (this.#calls === maxCallsPerReply) return tooManyToolCalls;
    this.#calls += 1;
    const contentIndex = this.#blocks++;
    out.push({ type: "toolcall_start", contentIndex, id: this.#nameCall(detail.id), name: detail.name });
    // Some services send the arguments whole, in place of the usual empty object.
    const isWhole = isObject(detail.input) && Object.keys(detail.input).length > 0;
    const initial = isWhole ? JSON.stringify(detail.input) : "";
    this.#open.set(index, { kind: "tool", contentIndex, initial, hasArguments: false });
    return undefined;
  }

  #readDelta(index: unknown, delta: unknown, out: StreamEvent[]): Problem | undefined {
    const block = this.#open.get(index);
    if (block === undefined)
      return envelope(`a delta for content block ${excerpt(String(index), 20)}, which is not open`);
    if (!isObject(delta)) return undefined;
    const { kind, contentIndex } = block;
    const text = stringOf(delta[deltaFields[String(delta.type)] ?? ""]);
    if (text === "") return undefined;
    if (kind === "text" && delta.type === "text_delta") out.push({ type: "text_delta", contentIndex, delta: text });
    else if (kind === "thinking" && delta.type === "thinking_delta")
      out.push({ type: "thinking_delta", contentIndex, delta: text });
    else if (kind === "thinking" && delta.type === "signature_delta") block.signature += text;
    else if (kind === "tool" && delta.type === "input_json_delta") {
      block.hasArguments = true;
      out.push({ type: "toolcall_delta", contentIndex, delta: text });
    }
    return undefined;
  }

  #endBlock(index: unknown, out: StreamEvent[]): void {
    const block = this.#open.get(index);
    if (block === undefined) return;
    this.#open.delete(index);
    const { kind, contentIndex } = block;
    if (kind === "text") out.push({ type: "text_end", contentIndex });
    else if (kind === "thinking") {
      const signed = block.signature === "" ? {} : { thinkingSignature: block.signature };
      out.push({ type: "thinking_end", contentIndex, ...signed });
    } else if (kind === "tool") {
      if (block.hasArguments) out.push({ type: "toolcall_end", contentIndex });
      else if (block.initial === "") this.#bare.push(contentIndex);
      else
        out.push(
          { type: "toolcall_delta", contentIndex, delta: block.initial },
          { type: "toolcall_end", contentIndex },
        );
    }
  }

  #endBare(delta: string, out: StreamEvent[]): void {
    for (const contentIndex of this.#bare) {
      if (delta !== "") out.push({ type: "toolcall_delta", contentIndex, delta });
      out.push({ type: "toolcall_end", contentIndex });
    }
    this.#bare = [];
  }

  #finish(out: StreamEvent[]): void {
    const reason = this.#stopReason;
    if (reason === undefined) {
      this.#fail(envelope("message_stop came without a stop_reason"), out);
      return;
    }
    const outcome = Object.hasOwn(outcomes, reason) ? outcomes[reason] : undefined;
    if (outcome === undefined) {
      const kind = (Object.hasOwn(refusals, reason) ? refusals[reason] : undefined) ?? "unknown";
      this.#fail(failure(kind, `Provider stop_reason: ${excerpt(reason, 100)}`, excerpt(reason, 100)), out);
      return;
    }
    for (const index of [...this.#open.keys()]) this.#endBlock(index, out);
    // No text at all means no arguments, unless the reply was cut before they came.
    this.#endBare(outcome === "length" ? "" : "{}", out);
    const reported = outcome === "stop" && this.#calls > 0 ? "toolUse" : outcome;
    out.push({ type: "done", reason: reported, usage: zeroUsage, ...this.known });
  }
}

function envelope(text: string): Problem {
  return failure("network", `Anthropic stream envelope error: ${text}.`);
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// OpenAI chat completions, as spoken by OpenAI and by most other services. Tool calls are told apart by `index`, so
// calls that arrive interleaved stay whole.

import { isObject, type JsonObject, parseObject } from "../../base/json.js";
import type { Usage } from "../../protocol/messages.js";
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
import { tokenCount, usageOf } from "../usage.js";
import { completionsPayload, reasoningFields } from "./request.js";

export const streamOpenAiCompletions: StreamFunction = (request) => streamWire(completions, request);

const completions: Dialect = {
  request: (request: StreamRequest) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/chat/completions`,
    headers: mergeHeaders(
      sessionHeaders(request),
      request.options.apiKey ? { authorization: `Bearer ${request.options.apiKey}` } : {},
      request.model.headers,
      request.options.headers,
    ),
    payload: completionsPayload(request),
  }),
  reader: ({ model }) => new CompletionsReader(model),
};

const outcomes: { [finishReason: string]: "stop" | "toolUse" } = {
  stop: "stop",
  end: "stop",
  tool_calls: "toolUse",
  function_call: "toolUse",
};

interface Call {
  offeredId: string;
  name: string;
  /** Set once the name is known; until then fragments of the arguments wait. */
  contentIndex?: number;
  held: string;
  hasArguments: boolean;
}

class CompletionsReader implements WireReader {
  readonly #model: ProviderModel;
  readonly #nameCall = createCallIds();
  readonly #calls: Call[] = [];
  readonly #callAt = new Map<number | string, Call>();
  #prose: { kind: "text" | "thinking"; contentIndex: number; field?: string } | undefined;
  #blocks = 0;
  #hasStarted = false;
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  #responseId: string | undefined;

  constructor(model: ProviderModel) {
    this.#model = model;
  }

  get isComplete(): boolean {
    return this.#finishReason !== undefined;
  }

  get known(): WireReader["known"] {
    return {
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  read(data: string, out: StreamEvent[]): boolean {
    if (data === "[DONE]") {
      this.end(out);
      return true;
    }
    const chunk = parseObject(data);
    if (chunk === undefined) return this.#readOther(data, out);
    if (chunk.error) return this.#fail(problemOfErrorObject(chunk), out);
    this.#start(chunk, out);
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isObject(choice)) {
      this.#readUsage(chunk.usage);
      return false;
    }
    this.#readUsage(chunk.usage ?? choice.usage);
    if (isObject(choice.delta)) {
      const problem = this.#readDelta(choice.delta, out);
      if (problem) return this.#fail(problem, out);
    }
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "")
      this.#finishReason = choice.finish_reason;
    return false;
  }

  /** Empty events keep connections alive; and nothing after the end of a reply can undo it. */
  #readOther(data: string, out: StreamEvent[]): boolean {
    const text = data.trim();
    if (text === "[DONE]") return this.read(text, out);
    return text === "" || this.isComplete ? false : this.#fail(malformed(data), out);
  }

  end(out: StreamEvent[]): void {
    const outcome = this.#outcome();
    if (typeof outcome !== "string") {
      out.push(failed(outcome, this.known));
      return;
    }
    this.#endProse(out);
    for (const { contentIndex, hasArguments } of this.#calls) {
      if (contentIndex === undefined) continue; // cut before its name came
      // No text at all means no arguments, unless the reply was cut before they came.
      if (!hasArguments && outcome !== "length") out.push({ type: "toolcall_delta", contentIndex, delta: "{}" });
      out.push({ type: "toolcall_end", contentIndex });
    }
    out.push({ type: "done", reason: outcome, usage: zeroUsage, ...this.known });
  }

  #outcome(): "stop" | "length" | "toolUse" | Problem {
    const reason = this.#finishReason;
    if (reason === undefined)
      return failure("network", "The stream ended before the reply did: no finish_reason came.");
    if (reason === "length") return "length";
    const outcome = Object.hasOwn(outcomes, reason) ? outcomes[reason] : undefined;
    if (outcome !== undefined) {
      if (this.#calls.some((call) => call.contentIndex === undefined))
        return failure("server", "The service sent a tool call without a name.");
      return this.#calls.length > 0 ? "toolUse" : outcome;
    }
    const kind = reason === "content_filter" ? "content_filter" : reason === "network_error" ? "network" : "unknown";
    return failure(kind, `Provider finish_reason: ${excerpt(reason, 100)}`, excerpt(reason, 100));
  }

  #fail(problem: Problem, out: StreamEvent[]): true {
    out.push(failed(problem, this.known));
    return true;
  }

  #start(chunk: JsonObject, out: StreamEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    if (typeof chunk.id === "string" && chunk.id !== "") this.#responseId = chunk.id;
    out.push({ type: "start", ...this.known });
  }

  #readUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    const prompt = tokenCount(usage.prompt_tokens);
    const cacheRead = Math.min(prompt, tokenCount(details.cached_tokens ?? usage.prompt_cache_hit_tokens));
    const cacheWrite = Math.min(prompt - cacheRead, tokenCount(details.cache_write_tokens));
    const outputDetails = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
    this.#usage = usageOf(this.#model.cost, {
      input: prompt - cacheRead - cacheWrite,
      output: tokenCount(usage.completion_tokens), // reasoning is already in it
      cacheRead,
      cacheWrite,
      reasoning: tokenCount(outputDetails.reasoning_tokens),
      totalTokens: tokenCount(usage.total_tokens),
      ...billed(usage),
    });
  }

  #readDelta(delta: JsonObject, out: StreamEvent[]): Problem | undefined {
    const field = reasoningFields.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (field !== undefined) this.#readProse("thinking", String(delta[field]), out, field);
    if (Array.isArray(delta.content)) this.#readParts(delta.content, out);
    for (const text of [delta.content, delta.refusal])
      if (typeof text === "string" && text !== "") this.#readProse("text", text, out);
    if (!Array.isArray(delta.tool_calls)) return undefined;
    for (const part of delta.tool_calls) {
      const problem = isObject(part) ? this.#readCall(part, out) : undefined;
      if (problem) return problem;
    }
    return undefined;
  }

  /** Content as a list, in which the thoughts of a part are a list of texts again. */
  #readParts(parts: readonly unknown[], out: StreamEvent[]): void {
    for (const part of parts) {
      if (!isObject(part)) continue;
      const thoughts = Array.isArray(part.thinking) ? part.thinking : [];
      for (const thought of thoughts)
        if (isObject(thought) && typeof thought.text === "string" && thought.text !== "")
          this.#readProse("thinking", thought.text, out);
      if (typeof part.text === "string" && part.text !== "") this.#readProse("text", part.text, out);
    }
  }

  #readProse(kind: "text" | "thinking", delta: string, out: StreamEvent[], field?: string): void {
    if (this.#prose?.kind !== kind) {
      this.#endProse(out);
      this.#prose = { kind, contentIndex: this.#blocks++, ...(field === undefined ? {} : { field }) };
      out.push({ type: `${kind}_start`, contentIndex: this.#prose.contentIndex });
    }
    out.push({ type: `${kind}_delta`, contentIndex: this.#prose.contentIndex, delta });
  }

  #endProse(out: StreamEvent[]): void {
    if (this.#prose === undefined) return;
    const { kind, contentIndex, field } = this.#prose;
    if (kind === "text") out.push({ type: "text_end", contentIndex });
    else out.push({ type: "thinking_end", contentIndex, ...(field === undefined ? {} : { thinkingSignature: field }) });
    this.#prose = undefined;
  }

  #readCall(part: JsonObject, out: StreamEvent[]): Problem | undefined {
    const detail = isObject(part.function) ? part.function : {};
    const id = typeof part.id === "string" ? part.id : "";
    const name = typeof detail.name === "string" ? detail.name : "";
    const fragment = argumentText(detail.arguments);
    const call = this.#callFor(part.index, id, name);
    if (call === undefined) return tooManyToolCalls;
    call.offeredId ||= id;
    call.name ||= name;
    call.held += fragment;
    if (call.contentIndex === undefined) {
      if (call.name === "") return undefined;
      this.#endProse(out);
      call.contentIndex = this.#blocks++;
      const ownId = this.#nameCall(call.offeredId);
      out.push({ type: "toolcall_start", contentIndex: call.contentIndex, id: ownId, name: call.name });
    }
    if (call.held === "") return undefined;
    call.hasArguments = true;
    out.push({ type: "toolcall_delta", contentIndex: call.contentIndex, delta: call.held });
    call.held = "";
    return undefined;
  }

  /** By index; undefined when there are too many. A service without indexes tells calls apart by id, or by order. */
  #callFor(index: unknown, id: string, name: string): Call | undefined {
    const key = typeof index === "number" ? index : id;
    const isContinuation = typeof index !== "number" && name === "";
    const known = this.#callAt.get(key) ?? (isContinuation ? this.#calls.at(-1) : undefined);
    // Another id and a name at a known index: a service that numbers every call 0.
    if (known && !(id !== "" && name !== "" && known.offeredId !== "" && known.offeredId !== id)) return known;
    if (this.#calls.length === maxCallsPerReply) return undefined;
    const call: Call = { offeredId: id, name: "", held: "", hasArguments: false };
    this.#calls.push(call);
    if (key !== "") this.#callAt.set(key, call);
    return call;
  }
}

/** What a router says it took, in dollars. With the user's own key at the service behind it, the service's bill comes on top. */
function billed({ cost, is_byok, cost_details }: JsonObject): { billed?: number } {
  if (typeof cost !== "number" || !Number.isFinite(cost) || cost < 0) return {};
  const behind = is_byok === true && isObject(cost_details) ? tokenCount(cost_details.upstream_inference_cost) : 0;
  return { billed: cost + behind };
}

/** Text, or the whole object where a service skips the writing. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? JSON.stringify(value) : "";
}

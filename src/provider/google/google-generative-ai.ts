// Google's Gemini API (generateContent). Every chunk holds whole parts, and any part may be signed. A signed part is a
// block of its own, so that its signature goes back on the same part.

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
import { generateContentPayload } from "./request.js";

export const streamGoogleGenerativeAi: StreamFunction = (request) => streamWire(generateContent, request);

const generateContent: Dialect = {
  request: (request: StreamRequest) => ({
    url: `${rootOf(request.model.baseUrl)}/${pathOf(request.model.id)}:streamGenerateContent?alt=sse`,
    headers: requestHeaders(request),
    payload: generateContentPayload(request),
  }),
  reader: ({ model }) => new GenerateContentReader(model),
};

/** An address without a path is that of the service, whose current version is added. */
function rootOf(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, "");
  return /^[a-z]+:\/\/[^/]*$/i.test(base) ? `${base}/v1beta` : base;
}

/** Models and tuned models may be named by their whole path. */
function pathOf(id: string): string {
  const path = encodeURI(id).replace(/[?#]/g, encodeURIComponent);
  return /^(?:tunedM|m)odels\//.test(path) ? path : `models/${path}`;
}

/** A key beside a bearer token would be refused. */
function requestHeaders(request: StreamRequest): Record<string, string> {
  const { model, options } = request;
  const headers = mergeHeaders(sessionHeaders(request), model.headers, options.headers);
  return options.apiKey && !("authorization" in headers)
    ? mergeHeaders({ "x-goog-api-key": options.apiKey }, headers)
    : headers;
}

const refusals: { [finishReason: string]: Problem["failure"]["kind"] } = {
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MALFORMED_FUNCTION_CALL: "server",
  UNEXPECTED_TOOL_CALL: "server",
  TOO_MANY_TOOL_CALLS: "server",
};

class GenerateContentReader implements WireReader {
  readonly #model: ProviderModel;
  readonly #nameCall = createCallIds();
  #prose: { kind: "text" | "thinking"; contentIndex: number } | undefined;
  #blocks = 0;
  #calls = 0;
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
    const chunk = parseObject(data);
    // Empty events keep connections alive; and nothing after the end of a reply can undo it.
    if (chunk === undefined) return data.trim() === "" || this.isComplete ? false : this.#fail(malformed(data), out);
    if (chunk.error) return this.#fail(problemOfErrorObject(chunk), out);
    if (typeof chunk.responseId === "string" && chunk.responseId !== "") this.#responseId ??= chunk.responseId;
    this.#readUsage(chunk.usageMetadata);
    if (!this.#hasStarted) out.push({ type: "start", ...this.known });
    this.#hasStarted = true;
    const problem = this.#readFeedback(chunk.promptFeedback) ?? this.#readCandidates(chunk.candidates, out);
    return problem ? this.#fail(problem, out) : false;
  }

  end(out: StreamEvent[]): void {
    const outcome = this.#outcome();
    if (typeof outcome !== "string") {
      this.#fail(outcome, out);
      return;
    }
    this.#endProse(out);
    out.push({ type: "done", reason: outcome, usage: zeroUsage, ...this.known });
  }

  #outcome(): "stop" | "length" | "toolUse" | Problem {
    const reason = this.#finishReason;
    if (reason === undefined) return failure("network", "The stream ended before the reply did: no finishReason came.");
    if (reason === "MAX_TOKENS") return "length";
    const refusal = reason.startsWith("IMAGE_")
      ? "content_filter"
      : Object.hasOwn(refusals, reason) && refusals[reason];
    if (!refusal && this.#calls > 0) return "toolUse"; // a call comes whole, so a word that is not known yet harms none
    if (reason === "STOP") return "stop";
    return failure(refusal || "unknown", `Provider finishReason: ${excerpt(reason, 100)}`, excerpt(reason, 100));
  }

  #fail(problem: Problem, out: StreamEvent[]): true {
    out.push(failed(problem, this.known));
    return true;
  }

  /** Each report replaces the one before. */
  #readUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const prompt = tokenCount(usage.promptTokenCount);
    const cacheRead = Math.min(prompt, tokenCount(usage.cachedContentTokenCount));
    const reasoning = tokenCount(usage.thoughtsTokenCount);
    const counts = {
      input: prompt - cacheRead + tokenCount(usage.toolUsePromptTokenCount),
      output: tokenCount(usage.candidatesTokenCount) + reasoning,
      reasoning,
      cacheRead,
      cacheWrite: 0,
      totalTokens: tokenCount(usage.totalTokenCount),
    };
    this.#usage = usageOf(this.#model.cost, counts);
  }

  #readFeedback(feedback: unknown): Problem | undefined {
    if (!isObject(feedback) || typeof feedback.blockReason !== "string" || feedback.blockReason === "")
      return undefined;
    const reason = excerpt(feedback.blockReason, 100);
    return failure("content_filter", `Prompt blocked: ${reason}`, reason);
  }

  #readCandidates(candidates: unknown, out: StreamEvent[]): Problem | undefined {
    const candidate: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
    if (!isObject(candidate)) return undefined;
    const parts = isObject(candidate.content) ? candidate.content.parts : undefined;
    for (const part of Array.isArray(parts) ? parts : []) {
      const problem = isObject(part) ? this.#readPart(part, out) : undefined;
      if (problem) return problem;
    }
    if (typeof candidate.finishReason === "string" && candidate.finishReason !== "")
      this.#finishReason = candidate.finishReason;
    return undefined;
  }

  #readPart(part: JsonObject, out: StreamEvent[]): Problem | undefined {
    const { thoughtSignature } = part;
    const signature = typeof thoughtSignature === "string" && thoughtSignature !== "" ? thoughtSignature : undefined;
    if (isObject(part.functionCall)) return this.#readCall(part.functionCall, signature, out);
    const text = part.text ?? (isBare(part) ? "" : undefined);
    if (typeof text === "string") this.#readProse(part.thought === true, text, signature, out);
    return undefined; // parts that are not known yet are left out
  }

  #readProse(isThought: boolean, delta: string, signature: string | undefined, out: StreamEvent[]): void {
    const isSigned = signature !== undefined;
    if (delta === "" && !isSigned) return;
    const kind = isThought ? "thinking" : "text";
    if (isSigned || this.#prose?.kind !== kind) this.#endProse(out);
    if (this.#prose === undefined) {
      this.#prose = { kind, contentIndex: this.#blocks++ };
      out.push({ type: `${kind}_start`, contentIndex: this.#prose.contentIndex });
    }
    if (delta !== "") out.push({ type: `${kind}_delta`, contentIndex: this.#prose.contentIndex, delta });
    if (isSigned) this.#endProse(out, signature);
  }

  #endProse(out: StreamEvent[], signature?: string): void {
    if (this.#prose === undefined) return;
    const { kind, contentIndex } = this.#prose;
    const signed = signature === undefined ? {} : { [`${kind}Signature`]: signature };
    out.push({ type: `${kind}_end`, contentIndex, ...signed });
    this.#prose = undefined;
  }

  #readCall(call: JsonObject, thoughtSignature: string | undefined, out: StreamEvent[]): Problem | undefined {
    const { id, name, args } = call;
    if (typeof name !== "string" || name === "")
      return failure("server", "The service sent a tool call without a name.");
    if (this.#calls === maxCallsPerReply) return tooManyToolCalls;
    this.#calls += 1;
    this.#endProse(out);
    const contentIndex = this.#blocks++;
    out.push(
      { type: "toolcall_start", contentIndex, id: this.#nameCall(id), name },
      { type: "toolcall_delta", contentIndex, delta: JSON.stringify(args ?? {}) },
      { type: "toolcall_end", contentIndex, ...(thoughtSignature === undefined ? {} : { thoughtSignature }) },
    );
    return undefined;
  }
}

/** A part that holds nothing, and may have a signature all the same. */
function isBare(part: JsonObject): boolean {
  return Object.keys(part).every((name) => name === "thought" || name === "thoughtSignature");
}

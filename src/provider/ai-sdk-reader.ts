// Reads the parts that a model of the AI SDK streams. Tools that the provider runs itself are left out.

import { isObject, type JsonObject } from "../base/json.js";
import type { Usage } from "../protocol/messages.js";
import { excerpt, type Problem } from "./failures.js";
import { createCallIds, failed, failure, tooManyToolCalls, type WireReader } from "./http/wire.js";
import { maxCallsPerReply, type ProviderModel, type StreamEvent, zeroUsage } from "./provider.js";
import { tokenCount, usageOf } from "./usage.js";

type Kind = "text" | "thinking" | "toolcall";

interface Block {
  kind: Kind;
  contentIndex: number;
  hasDelta: boolean;
  isOver: boolean;
  /** The newest of the block; the package wants it back. */
  metadata?: unknown;
}

const kinds: { [name: string]: Kind } = { text: "text", reasoning: "thinking", "tool-input": "toolcall" };

const signatureNames = {
  text: "textSignature",
  thinking: "thinkingSignature",
  toolcall: "thoughtSignature",
} as const;

export class AiSdkReader {
  readonly #model: ProviderModel;
  readonly #nameCall = createCallIds();
  readonly #blocks = new Map<string, Block>();
  hasIgnoredTools = false;
  #calls = 0;
  #hasStarted = false;
  #usage: Usage | undefined;
  #responseId: string | undefined;

  constructor(model: ProviderModel) {
    this.#model = model;
  }

  get known(): WireReader["known"] {
    return {
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
    };
  }

  /** True: a terminal event was appended, read no more. */
  read(part: JsonObject, problemOf: (error: unknown) => Problem, out: StreamEvent[]): boolean {
    const { type } = part;
    if (type === "stream-start") return false; // the service has not spoken yet
    if (type === "error") return this.#fail(problemOf(part.error), out);
    if (type === "response-metadata" && typeof part.id === "string" && part.id !== "") this.#responseId = part.id;
    if (!this.#hasStarted) out.push({ type: "start", ...this.known });
    this.#hasStarted = true;
    if (type === "finish") return this.#finish(part, out);
    const problem = this.#readBlock(part, out);
    return problem ? this.#fail(problem, out) : false;
  }

  end(out: StreamEvent[]): void {
    this.#fail(failure("network", "The stream ended before the reply did: no finish reason came."), out);
  }

  #fail(problem: Problem, out: StreamEvent[]): true {
    out.push(failed(problem, this.known));
    return true;
  }

  #readBlock(part: JsonObject, out: StreamEvent[]): Problem | undefined {
    const type = String(part.type);
    if (part.providerExecuted === true || type === "tool-result" || type === "tool-approval-request") {
      this.hasIgnoredTools = true;
      return undefined;
    }
    if (type === "tool-call") return this.#readCall(part, out);
    const [, name = "", step] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(type) ?? [];
    const kind = kinds[name];
    if (kind === undefined) return undefined; // sources, files, raw chunks, and what is not known yet
    const key = `${kind} ${part.id}`;
    const block = this.#blocks.get(key) ?? this.#open(key, kind, part, out);
    if (block === undefined || !("kind" in block)) return block;
    if (part.providerMetadata !== undefined) block.metadata = part.providerMetadata;
    if (step === "delta") this.#extend(block, part.delta, out);
    // The end of a call is its whole call, which follows.
    else if (step === "end" && kind !== "toolcall") this.#end(block, out);
    return undefined;
  }

  #readCall(part: JsonObject, out: StreamEvent[]): Problem | undefined {
    const key = `toolcall ${part.toolCallId}`;
    const block = this.#blocks.get(key) ?? this.#open(key, "toolcall", { ...part, id: part.toolCallId }, out);
    if (block === undefined || !("kind" in block)) return block;
    if (part.providerMetadata !== undefined) block.metadata = part.providerMetadata;
    if (!block.hasDelta) this.#extend(block, part.input, out);
    this.#end(block, out);
    return undefined;
  }

  /** Undefined for a call without a name that may still come, as the parts of ignored calls are. */
  #open(key: string, kind: Kind, part: JsonObject, out: StreamEvent[]): Block | Problem | undefined {
    const block: Block = { kind, contentIndex: this.#blocks.size, hasDelta: false, isOver: false };
    const { contentIndex } = block;
    if (kind === "toolcall") {
      if (typeof part.toolName !== "string" || part.toolName === "") return undefined;
      if (this.#calls === maxCallsPerReply) return tooManyToolCalls;
      this.#calls += 1;
      out.push({ type: "toolcall_start", contentIndex, id: this.#nameCall(part.id), name: part.toolName });
    } else out.push({ type: `${kind}_start`, contentIndex });
    this.#blocks.set(key, block);
    return block;
  }

  #extend(block: Block, delta: unknown, out: StreamEvent[]): void {
    if (typeof delta !== "string" || delta === "" || block.isOver) return;
    block.hasDelta = true;
    out.push({ type: `${block.kind}_delta`, contentIndex: block.contentIndex, delta });
  }

  #end(block: Block, out: StreamEvent[], isCut = false): void {
    if (block.isOver) return;
    // No text at all means no arguments, unless the reply was cut before they came.
    if (block.kind === "toolcall" && !isCut && !block.hasDelta) this.#extend(block, "{}", out);
    block.isOver = true;
    const { kind, contentIndex, metadata } = block;
    const signature = isObject(metadata) ? { [signatureNames[kind]]: JSON.stringify(metadata) } : {};
    out.push({ type: `${kind}_end`, contentIndex, ...signature });
  }

  #finish({ finishReason, usage }: JsonObject, out: StreamEvent[]): true {
    this.#readUsage(usage);
    const { unified, raw } = isObject(finishReason) ? finishReason : {};
    const outcome = this.#outcome(unified, typeof raw === "string" ? excerpt(raw, 100) : undefined);
    if (typeof outcome !== "string") return this.#fail(outcome, out);
    for (const block of this.#blocks.values()) this.#end(block, out, outcome === "length");
    out.push({ type: "done", reason: outcome, usage: zeroUsage, ...this.known });
    return true;
  }

  #outcome(unified: unknown, raw: string | undefined): "stop" | "length" | "toolUse" | Problem {
    const reached = this.#calls > 0 ? "toolUse" : "stop";
    if (unified === "stop" || unified === "tool-calls") return reached;
    if (unified === "length") return "length";
    const word = raw ?? String(unified);
    const named = (kind: Problem["failure"]["kind"]) => failure(kind, `Provider finishReason: ${word}`, word);
    if (unified === "content-filter") return named("content_filter");
    // What the packages say when the stream ended without a reason.
    if (unified === "interrupted" || (unified === "other" && raw === undefined)) return named("network");
    return unified === "other" && reached === "toolUse" ? reached : named("unknown");
  }

  #readUsage(usage: unknown): void {
    const { inputTokens, outputTokens } = isObject(usage) ? usage : {};
    if (!isObject(inputTokens) || !isObject(outputTokens)) return;
    const cacheRead = tokenCount(inputTokens.cacheRead);
    const cacheWrite = tokenCount(inputTokens.cacheWrite);
    const rest = Math.max(0, tokenCount(inputTokens.total) - cacheRead - cacheWrite);
    this.#usage = usageOf(this.#model.cost, {
      input: typeof inputTokens.noCache === "number" ? tokenCount(inputTokens.noCache) : rest,
      output: tokenCount(outputTokens.total),
      cacheRead,
      cacheWrite,
      reasoning: tokenCount(outputTokens.reasoning),
    });
  }
}

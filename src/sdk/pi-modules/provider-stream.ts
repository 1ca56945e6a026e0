// The function by which an extension asks its own model (`streamSimple`), as a provider of ours. What it says is a stranger's:
// every event is checked, a reply ends exactly once, and what was not streamed is taken from the finished message.

import { AbortRace } from "../../base/abort.js";
import { messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { Usage } from "../../protocol/messages.js";
import type { ProviderModel, StreamEvent, StreamFunction, StreamRequest } from "../../provider/provider.js";
import { tokenCount, usageOf } from "../../provider/usage.js";
import { piModel } from "./pi-model.js";
import { transcriptOf } from "./transcripts.js";

/** As pi calls it. */
export type StreamSimple = (model: object, context: object, options: object) => unknown;

export interface ProviderStreamDeps {
  /** Calls the extension's code under guard. */
  call<Result>(work: () => Result): Result;
  /** The key and headers that a provider with functions finds by itself. */
  authorize?: ((signal: AbortSignal) => Promise<Authorization>) | undefined;
}

export interface Authorization {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export function streamOfExtension(streamSimple: StreamSimple, { call, authorize }: ProviderStreamDeps): StreamFunction {
  return async function* ({ model, context, options }: StreamRequest): AsyncGenerator<StreamEvent> {
    const reply = new Reply(model);
    const race = new AbortRace(options.signal);
    let events: AsyncIterator<unknown> | undefined;
    try {
      const auth = authorize && (await race.next(authorize(options.signal)));
      if (auth === "aborted") return yield reply.aborted();
      const headers = { ...options.headers, ...auth?.headers };
      const asked = { ...options, apiKey: auth?.apiKey ?? options.apiKey, headers };
      const stream = await race.next(
        Promise.resolve(call(() => streamSimple(piModel(model), transcriptOf(context), asked))),
      );
      if (stream === "aborted") return yield reply.aborted();
      if (!isStream(stream)) return yield reply.failed("streamSimple did not return a stream of events.");
      events = stream[Symbol.asyncIterator]();
      for (;;) {
        const next = await race.next(call(() => (events as AsyncIterator<unknown>).next()));
        if (next === "aborted") return yield reply.aborted();
        if (next.done) return yield reply.failed("The stream of the extension's model ended early.");
        const out = reply.read(next.value);
        yield* out;
        if (reply.isOver) return;
      }
    } catch (error) {
      yield options.signal.aborted ? reply.aborted() : reply.failed(messageOf(error));
    } finally {
      race.release();
      if (!reply.isOver) void events?.return?.()?.catch(() => {}); // the reader has left; what it says now is not heard
    }
  };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown> | undefined)?.[Symbol.asyncIterator] === "function";
}

type Kind = "text" | "thinking" | "toolCall";

class Reply {
  readonly #model: ProviderModel;
  #hasStarted = false;
  /** The open blocks by the extension's index; finished ones are `done`. */
  readonly #blocks = new Map<number, { kind: Kind; at: number; isDone: boolean }>();
  isOver = false;

  constructor(model: ProviderModel) {
    this.#model = model;
  }

  read(event: unknown): StreamEvent[] {
    if (!isObject(event) || typeof event.type !== "string") return [this.failed(unreadable)];
    const start = this.#start();
    if (event.type === "done") return [...start, ...this.#done(event)];
    if (event.type === "error") return [this.#error(event)];
    if (event.type === "start") return start;
    const [, name, moment] = /^(text|thinking|toolcall)_(start|delta|end)$/.exec(event.type) ?? [];
    const index = event.contentIndex;
    if (name === undefined) return start; // a newer kind of event
    if (!Number.isSafeInteger(index)) return [...start, this.failed(unreadable)];
    const kind = name === "toolcall" ? "toolCall" : (name as Kind);
    const block = blockAt(event.partial, index as number);
    if (moment === "start") return [...start, ...this.#open(index as number, kind, block)];
    const known = this.#blocks.get(index as number);
    if (!known || known.kind !== kind || known.isDone) return [...start, this.failed(unreadable)];
    if (moment === "end") return [...start, ...this.#close(known, isObject(event.toolCall) ? event.toolCall : block)];
    // The arguments of a call come with its end: only then are they known to be whole.
    if (kind === "toolCall" || typeof event.delta !== "string" || event.delta === "") return start;
    return [...start, { type: `${kind}_delta`, contentIndex: known.at, delta: event.delta }];
  }

  failed(sentence: string): StreamEvent {
    return this.#last({ type: "error", reason: "error", errorMessage: sentence });
  }

  aborted(): StreamEvent {
    return this.#last({ type: "error", reason: "aborted", errorMessage: "Request was aborted" });
  }

  #start(): StreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ type: "start" }];
  }

  #open(index: number, kind: Kind, block: JsonObject): StreamEvent[] {
    if (this.#blocks.has(index)) return [this.failed(unreadable)];
    const at = this.#blocks.size;
    this.#blocks.set(index, { kind, at, isDone: false });
    if (kind !== "toolCall") return [{ type: `${kind}_start`, contentIndex: at }];
    const id = typeof block.id === "string" && block.id !== "" ? block.id : `call_${at}`;
    return [{ type: "toolcall_start", contentIndex: at, id, name: String(block.name ?? "") }];
  }

  #close(known: { kind: Kind; at: number; isDone: boolean }, block: JsonObject): StreamEvent[] {
    known.isDone = true;
    const contentIndex = known.at;
    const sign = (name: string) => (typeof block[name] === "string" ? (block[name] as string) : undefined);
    if (known.kind === "text") return [{ type: "text_end", contentIndex, textSignature: sign("textSignature") }];
    if (known.kind === "thinking")
      return [{ type: "thinking_end", contentIndex, thinkingSignature: sign("thinkingSignature") }];
    const delta = JSON.stringify(isObject(block.arguments) ? block.arguments : {});
    return [
      { type: "toolcall_delta", contentIndex, delta },
      { type: "toolcall_end", contentIndex, thoughtSignature: sign("thoughtSignature") },
    ];
  }

  /** With what the message has and the events did not say. */
  #done({ reason, message }: JsonObject): StreamEvent[] {
    if (!isObject(message) || (reason !== "stop" && reason !== "length" && reason !== "toolUse"))
      return [this.failed(unreadable)];
    const content = Array.isArray(message.content) ? message.content : [];
    const missing = content.flatMap((block: unknown, index) => (isObject(block) ? this.#complete(index, block) : []));
    const isOpen = [...this.#blocks.values()].some(({ isDone }) => !isDone);
    if (isOpen) return [...missing, this.failed(unreadable)];
    return [...missing, this.#last({ type: "done", reason, usage: this.#usage(message.usage), ...idOf(message) })];
  }

  #complete(index: number, block: JsonObject): StreamEvent[] {
    const known = this.#blocks.get(index);
    if (known) return known.isDone ? [] : this.#close(known, block);
    const { type: kind } = block;
    if (kind !== "text" && kind !== "thinking" && kind !== "toolCall") return [];
    const opened = this.#open(index, kind, block);
    const whole = kind === "toolCall" ? undefined : block[kind];
    const made = this.#blocks.get(index);
    const at = made?.at ?? 0;
    const delta: StreamEvent[] =
      kind !== "toolCall" && typeof whole === "string" && whole !== ""
        ? [{ type: `${kind}_delta`, contentIndex: at, delta: whole }]
        : [];
    return [...opened, ...delta, ...(made ? this.#close(made, block) : [])];
  }

  #error({ reason, error }: JsonObject): StreamEvent {
    const told = isObject(error) ? error.errorMessage : undefined;
    const errorMessage = typeof told === "string" && told !== "" ? told : "The extension's model failed.";
    const usage = isObject(error) ? this.#usage(error.usage) : undefined;
    const isAborted = reason === "aborted";
    return this.#last({ type: "error", reason: isAborted ? "aborted" : "error", errorMessage, usage });
  }

  #usage(given: unknown): Usage {
    const usage = isObject(given) ? given : {};
    const counts = {
      input: tokenCount(usage.input),
      output: tokenCount(usage.output),
      cacheRead: tokenCount(usage.cacheRead),
      cacheWrite: tokenCount(usage.cacheWrite),
      totalTokens: tokenCount(usage.totalTokens),
    };
    const billed = isObject(usage.cost) ? tokenCount(usage.cost.total) : 0;
    return usageOf(this.#model.cost, billed > 0 ? { ...counts, billed } : counts);
  }

  #last(event: StreamEvent): StreamEvent {
    this.isOver = true;
    return event;
  }
}

const unreadable = "The extension's model sent an event that galley cannot read.";

function blockAt(partial: unknown, index: number): JsonObject {
  const content = isObject(partial) && Array.isArray(partial.content) ? partial.content : [];
  const block: unknown = content[index];
  return isObject(block) ? block : {};
}

function idOf({ responseId }: JsonObject): { responseId?: string } {
  return { responseId: typeof responseId === "string" ? responseId : undefined };
}

// What every wire API shares: one request, one stream of events, one terminal event. A dialect says how to ask and how
// to read; this file owns the connection, the time limits, the abort, and the promise that a stream ends exactly once.

import { linkAbort } from "../../base/abort.js";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { randomIds } from "../../base/ids.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { ProviderFailure, Usage } from "../../protocol/messages.js";
import { excerpt, type Problem, problemOfException } from "../failures.js";
import { nothingListens } from "../local/nothing-listens.js";
import { maskSecrets } from "../mask-secrets.js";
import { mergeDeltas } from "../merge-deltas.js";
import { isLoopbackUrl } from "../models/config-checks.js";
import { maxCallsPerReply, type StreamEvent, type StreamRequest, type ToolChoice, type ToolSpec } from "../provider.js";
import { postJson } from "./http.js";
import { readSse } from "./sse.js";
import { createWatchdog } from "./watchdog.js";

export interface WireRequest {
  url: string;
  headers: Record<string, string>;
  payload: JsonObject;
}

/** Reads one reply. */
export interface WireReader {
  /** Takes the data of one event and appends what it means. True: a terminal event was appended, read no more. */
  read(data: string, out: StreamEvent[]): boolean;
  /** The body is over: appends the terminal event. */
  end(out: StreamEvent[]): void;
  /** The service has said how the reply ends, so what comes after can be missed. */
  readonly isComplete: boolean;
  /** What is known of the reply so far. */
  readonly known: { usage?: Usage; responseId?: string };
}

export interface Dialect {
  request(request: StreamRequest): WireRequest;
  reader(request: StreamRequest): WireReader;
}

export async function* streamWire(dialect: Dialect, request: StreamRequest): AsyncGenerator<StreamEvent> {
  const { options } = request;
  const { signal } = options;
  const told = (event: StreamEvent) => (event.type === "error" ? withoutSecrets(event, request) : event);
  const clock = systemClock;
  const reader = dialect.reader(request);
  const stop = linkAbort(signal);
  const watchdog = createWatchdog({
    clock,
    firstEventTimeoutMs: options.firstEventTimeoutMs ?? 120_000,
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    onExpired: (error) => stop.abort(error),
  });
  let rest: AsyncIterator<Uint8Array> | undefined;
  try {
    refuseQuery(request);
    const wire = dialect.request(request);
    const payload = options.onPayload ? await seen(wire.payload, options.onPayload) : wire.payload;
    const { proxyVariables, onResponse } = options;
    const urlSource = request.model.baseUrlSource;
    const call = { ...wire, payload, urlSource, proxyVariables, onResponse, signal: stop.signal, clock };
    const answer = await postJson(call);
    signal.throwIfAborted();
    if (!answer.ok) return yield told(failed(answer.problem, reader.known));
    const chunks = answer.body[Symbol.asyncIterator]();
    for await (const batch of readSse(chunks, { watchdog })) {
      const out: StreamEvent[] = [];
      // Set before the events go out: a consumer may leave with the terminal one.
      if (batch.some((data) => reader.read(data, out))) rest = chunks;
      for (const event of mergeDeltas(out)) {
        if (signal.aborted) return yield aborted(reader.known);
        yield told(event);
      }
      if (rest) return;
    }
    stop.signal.throwIfAborted(); // a body that was closed under us may look like one that ended
    yield* ending(reader).map(told);
  } catch (error) {
    if (signal.aborted) yield aborted(reader.known);
    else if (reader.isComplete) yield* ending(reader).map(told);
    else yield told(failed(problemOfCall(stop.signal.aborted ? stop.signal.reason : error, request), reader.known));
  } finally {
    watchdog.stop();
    stop.release();
    if (rest === undefined) stop.abort();
    else drain(rest, () => stop.abort(), clock);
  }
}

async function seen(payload: JsonObject, look: (payload: unknown) => unknown): Promise<JsonObject> {
  const whole: JsonObject = JSON.parse(JSON.stringify(payload));
  const instead = await look(whole);
  return isObject(instead) ? instead : payload;
}

/** The path of the request would become part of it. */
function refuseQuery({ model: { baseUrl, baseUrlSource } }: StreamRequest): void {
  if (!/[?#]/.test(baseUrl)) return;
  const from = baseUrlSource === undefined ? "" : ` (from ${baseUrlSource})`;
  throw new GalleyError("invalid_config", `The model's baseUrl${from} must not hold a query or a fragment.`);
}

function problemOfCall(thrown: unknown, { model: { baseUrl, provider } }: StreamRequest): Problem {
  const problem = problemOfException(thrown);
  const isRefused = problem.failure.code === "ECONNREFUSED" && isLoopbackUrl(baseUrl);
  return isRefused ? { ...problem, message: nothingListens(new URL(baseUrl).origin, provider) } : problem;
}

export function failed(problem: Problem, known: WireReader["known"]): StreamEvent {
  return { type: "error", reason: "error", errorMessage: problem.message, failure: problem.failure, ...known };
}

export function failure(kind: ProviderFailure["kind"], message: string, code?: string): Problem {
  return { message, failure: { kind, ...(code === undefined ? {} : { code }) } };
}

export const tooManyToolCalls = failure(
  "unknown",
  `The model made more than ${maxCallsPerReply} tool calls in one turn.`,
);

export function malformed(data: string): Problem {
  return failure("server", `The service sent a malformed event: ${excerpt(data, 200)}`);
}

/** Ids for the calls of one reply: the service's own, unless it is missing, endless or taken. */
export function createCallIds(): (offered: unknown) => string {
  const taken = new Set<string>();
  return (offered) => {
    const isUsable = typeof offered === "string" && offered !== "" && offered.length <= 256 && !taken.has(offered);
    const id = isUsable ? offered : `call_${randomIds.entry()}${randomIds.entry()}`;
    taken.add(id);
    return id;
  };
}

/** The choice reduced to what services tell apart; undefined when it names a tool that is not offered. */
export function resolveToolChoice(
  choice: ToolChoice | undefined,
  tools: readonly ToolSpec[],
): "auto" | "none" | "any" | { name: string } | undefined {
  if (choice === undefined || tools.length === 0) return undefined;
  if (typeof choice === "string") return choice === "required" ? "any" : choice;
  const name = "function" in choice ? choice.function.name : choice.name;
  return tools.some((tool) => tool.name === name) ? { name } : undefined;
}

function withoutSecrets(event: StreamEvent & { type: "error" }, request: StreamRequest): StreamEvent {
  return { ...event, errorMessage: maskSecrets(event.errorMessage, request) };
}

function aborted(known: WireReader["known"]): StreamEvent {
  return { type: "error", reason: "aborted", errorMessage: "Request was aborted", ...known };
}

function ending(reader: WireReader): StreamEvent[] {
  const out: StreamEvent[] = [];
  reader.end(out);
  return out;
}

/** Reads what follows the last event in the background, so that the connection can serve the next call. */
function drain(chunks: AsyncIterator<Uint8Array>, leave: () => void, clock: Clock): void {
  const cancel = clock.after(1000, leave);
  const pull = (): Promise<void> => chunks.next().then(({ done }) => (done ? cancel() : pull()), cancel);
  void pull(); // ends with the body, with an error, or when it is left above; all three are handled in it
}

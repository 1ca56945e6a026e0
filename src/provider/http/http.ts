// One request to a model service. Promises: TLS or loopback only; the key goes to the configured origin and nowhere else;
// a failure is described from the response, never from the request. It is node:http(s) and not fetch, because the first fetch
// of a process costs 50 ms and 13 MiB, and because a proxied request needs node:https anyway.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import { linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { excerpt, type Problem, problemOfJson, problemOfPage, problemOfResponse } from "../failures.js";
import { isLoopback } from "../models/config-checks.js";
import type { StreamOptions } from "../provider.js";
import { encodeBody } from "./json-body.js";
import { retryDelayMs } from "./retry-delay.js";

interface WireCall {
  url: string;
  /** The variable that names the address, where one does. */
  urlSource?: string | undefined;
  headers: Record<string, string>;
  /** Default: the process's. */
  proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  signal: AbortSignal;
  clock: Clock;
  /** Default: 10 s. */
  connectTimeoutMs?: number;
}

export interface PostRequest extends WireCall, Pick<StreamOptions, "onResponse"> {
  payload: unknown;
}

export interface GetRequest extends WireCall {
  /** Makes it a POST: some services are asked that way. */
  payload?: unknown;
  /** For the whole exchange; default: 10 s. */
  timeoutMs?: number;
  /** Default: 1 MiB. */
  maxBytes?: number;
}

/** `body` is a stream of events that has not been read yet. */
export type PostResult = { ok: true; body: AsyncIterable<Uint8Array> } | { ok: false; problem: Problem };

/** A short answer in one piece. */
export type GetResult = { ok: true; value: unknown } | { ok: false; problem: Problem };

const usualTimeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const maxRedirects = 3;

/** Throws when no answer came (no connection, stopped, refused by our own rules). */
export async function postJson(request: PostRequest): Promise<PostResult> {
  const answer = await ask(request, encodeBody(request.payload));
  await request.onResponse?.({ status: answer.statusCode ?? 0, headers: headersOf(answer) });
  return read(answer, request.clock);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value = ""]) => [name, [value].flat().join(", ")]);
  return Object.fromEntries(texts);
}

/** Throws as `postJson` does, and when the time is over. What is larger than allowed, or no JSON, is a problem. */
export async function getJson(request: GetRequest): Promise<GetResult> {
  const { clock, payload, timeoutMs = usualTimeoutMs, maxBytes = maxAnswerBytes } = request;
  const stop = linkAbort(request.signal);
  const cancel = clock.after(timeoutMs, () =>
    stop.abort(new GalleyError("timeout", `The service timed out: no answer within ${timeoutMs / 1000} s.`)),
  );
  try {
    const headers = { accept: "application/json", ...request.headers };
    const body = payload === undefined ? undefined : encodeBody(payload);
    const answer = await ask({ ...request, headers, signal: stop.signal }, body);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status >= 300) return { ok: false, problem: await refusal(answer, clock) };
    const text = await readHead(answer, { mayBeCut: false, maxBytes: maxBytes + 1 });
    if (Buffer.byteLength(text) > maxBytes) return unusable(`The service's answer is larger than ${maxBytes} bytes.`);
    return parsedAnswer(text);
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    cancel();
    stop.release();
  }
}

function parsedAnswer(text: string): GetResult {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return unusable(`The service did not answer with JSON: ${excerpt(text, 200)}`);
  }
}

function unusable(message: string): GetResult {
  return { ok: false, problem: { message, failure: { kind: "invalid_request" } } };
}

/** Without a body it is a GET. */
async function ask(request: WireCall, body: readonly Buffer[] | undefined): Promise<IncomingMessage> {
  let url = checkedUrl(request.url, request.urlSource);
  for (let hops = 0; ; hops += 1) {
    const answer = await send(url, body, request);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (status < 300 || status >= 400 || location === undefined) return answer;
    answer.destroy();
    if (hops === maxRedirects) throw new GalleyError("invalid_config", `The service redirected ${hops + 1} times.`);
    url = redirected(url, location);
  }
}

/** Later sets win; names are compared without case; a key read from a file often ends in a newline. */
export function mergeHeaders(...sets: (Record<string, string> | undefined)[]): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const set of sets)
    for (const [name, value] of Object.entries(set ?? {})) merged[name.toLowerCase()] = value.trim();
  return merged;
}

function checkedUrl(text: string, source: string | undefined): URL {
  const from = source === undefined ? "" : ` (from ${source})`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new GalleyError("invalid_config", `The model's baseUrl${from} is not a URL.`);
  }
  if (url.username || url.password)
    throw new GalleyError("invalid_config", `The model's baseUrl${from} must not hold a user name or a password.`);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))) return url;
  throw new GalleyError(
    "invalid_config",
    `Refused to send a request to ${url.protocol}//${url.host}${from}: only https is allowed, and plain http only to this machine.`,
  );
}

function redirected(from: URL, location: string): URL {
  let target: URL | undefined;
  try {
    target = new URL(location, from);
  } catch {
    // handled below: an invalid address does not have the same origin
  }
  if (target?.origin === from.origin) return target;
  throw new GalleyError(
    "invalid_config",
    `The service at ${from.origin} redirected to another origin (${target?.origin ?? "an unreadable address"}). ` +
      "Not followed: the prompt and the key are meant for the configured origin only.",
  );
}

async function send(url: URL, body: readonly Buffer[] | undefined, request: WireCall): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ...urlToHttpOptions(url),
    method: body ? "POST" : "GET",
    signal: request.signal,
    headers: {
      accept: "text/event-stream",
      // A server or proxy that compresses a stream would delay it.
      "accept-encoding": "identity",
      ...(body && { "content-type": "application/json" }),
      ...request.headers,
      ...(body && { "content-length": body.reduce((sum, { length }) => sum + length, 0) }),
    },
  };
  if (url.protocol === "http:") {
    const { request: open } = process.getBuiltinModule("node:http");
    return exchange(open(options), body, request);
  }
  const [{ request: open }, proxy] = await Promise.all([import("node:https"), import("./through-proxy.js")]);
  const via = proxy.proxyFor(url, request.proxyVariables ?? process.env);
  if (via === undefined) return exchange(open(options), body, request);
  const socket = await proxy.openTunnel({
    proxy: via,
    target: url,
    timeoutMs: request.connectTimeoutMs ?? usualTimeoutMs,
    ...request,
  });
  return exchange(open({ ...options, createConnection: () => socket }), body, request);
}

function exchange(
  call: ClientRequest,
  body: readonly Buffer[] = [],
  { clock, signal, connectTimeoutMs = usualTimeoutMs }: WireCall,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    // A request on a reused connection need not wait for it.
    call.once("socket", (socket) => {
      if (!socket.connecting) return;
      cancel = clock.after(connectTimeoutMs, () =>
        call.destroy(new GalleyError("timeout", `No connection to the service within ${connectTimeoutMs / 1000} s.`)),
      );
      socket.once("encrypted" in socket ? "secureConnect" : "connect", () => cancel());
    });
    // Stays for the life of the call: a late error without a listener would end the process.
    call.on("error", (error) => {
      cancel();
      reject(signal.aborted ? signal.reason : error);
    });
    call.once("response", resolve);
    call.cork(); // a short body goes out in one piece with its headers
    for (const piece of body) call.write(piece);
    call.end();
  });
}

async function read(answer: IncomingMessage, clock: Clock): Promise<PostResult> {
  const status = answer.statusCode ?? 0;
  // Only HTML is surely not a stream: wrong and missing content types are common among services that work.
  const type = answer.headers["content-type"] ?? "";
  if (status < 200 || status >= 300) return { ok: false, problem: await refusal(answer, clock) };
  if (/\bhtml\b/i.test(type)) return { ok: false, problem: problemOfPage(await readHead(answer, { mayBeCut: true })) };
  return /\bjson\b/i.test(type) ? readUnlessJson(answer) : { ok: true, body: answer };
}

async function refusal(answer: IncomingMessage, clock: Clock): Promise<Problem> {
  const waitMs = retryDelayMs(answer.statusCode ?? 0, answer.headers, clock.now());
  const body = await readHead(answer, { mayBeCut: true });
  return problemOfResponse({ status: answer.statusCode ?? 0, body, retryAfterMs: waitMs });
}

/** What calls itself JSON and begins like it is an answer in one piece, mostly an error; the rest are streams. */
async function readUnlessJson(answer: IncomingMessage): Promise<PostResult> {
  const chunks: AsyncIterableIterator<Uint8Array> = answer[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return { ok: true, body: chunks };
  const body = startingWith(first.value, chunks);
  const isJson = /^\s*[[{]/.test(Buffer.from(first.value.subarray(0, 100)).toString("latin1"));
  return isJson ? { ok: false, problem: problemOfJson(await readHead(body, { mayBeCut: false })) } : { ok: true, body };
}

async function* startingWith(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function readHead(
  body: AsyncIterable<Uint8Array>,
  { mayBeCut, maxBytes = maxErrorBytes }: { mayBeCut: boolean; maxBytes?: number },
): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.byteLength;
      if (bytes >= maxBytes) break;
    }
  } catch (error) {
    if (!mayBeCut) throw error;
    // The status is more useful than the error of a cut body, so the part that came is used.
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString("utf8");
}

// One POST to a model service. Promises: TLS or loopback only; the key goes to the configured origin and nowhere else;
// a failure is described from the response, never from the request. It is node:http(s) and not fetch, because the first fetch
// of a process costs 50 ms and 13 MiB, and because a proxied request needs node:https anyway.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { urlToHttpOptions } from "node:url";
import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { type Problem, problemOfJson, problemOfResponse } from "../failures.js";
import { isLoopback } from "../models/config-checks.js";
import { encodeBody } from "./json-body.js";
import { retryDelayMs } from "./retry-delay.js";

export interface PostRequest {
  url: string;
  /** The variable that names the address, where one does. */
  urlSource?: string | undefined;
  headers: Record<string, string>;
  payload: unknown;
  /** Default: the process's. */
  proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  signal: AbortSignal;
  clock: Clock;
}

/** `body` is a stream of events that has not been read yet. */
export type PostResult = { ok: true; body: AsyncIterable<Uint8Array> } | { ok: false; problem: Problem };

const connectTimeoutMs = 10_000;
const maxErrorBytes = 64 * 1024;
const maxRedirects = 3;

/** Throws when no answer came (no connection, stopped, refused by our own rules). */
export async function postJson(request: PostRequest): Promise<PostResult> {
  let url = checkedUrl(request.url, request.urlSource);
  const body = encodeBody(request.payload);
  for (let hops = 0; ; hops += 1) {
    const answer = await send(url, body, request);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (status < 300 || status >= 400 || location === undefined) return read(answer, request.clock);
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

async function send(url: URL, body: readonly Buffer[], request: PostRequest): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ...urlToHttpOptions(url),
    method: "POST",
    signal: request.signal,
    headers: {
      accept: "text/event-stream",
      // A server or proxy that compresses a stream would delay it.
      "accept-encoding": "identity",
      "content-type": "application/json",
      ...request.headers,
      "content-length": body.reduce((sum, { length }) => sum + length, 0),
    },
  };
  if (url.protocol === "http:") {
    const { request: open } = process.getBuiltinModule("node:http");
    return exchange(open(options), body, request);
  }
  const [{ request: open }, proxy] = await Promise.all([import("node:https"), import("./proxy.js")]);
  const via = proxy.proxyFor(url, request.proxyVariables ?? process.env);
  if (via === undefined) return exchange(open(options), body, request);
  const socket = await proxy.openTunnel({ proxy: via, target: url, timeoutMs: connectTimeoutMs, ...request });
  return exchange(open({ ...options, createConnection: () => socket }), body, request);
}

function exchange(
  call: ClientRequest,
  body: readonly Buffer[],
  { clock, signal }: PostRequest,
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
  const isStream = status >= 200 && status < 300 && !/\bhtml\b/i.test(type);
  if (isStream) return /\bjson\b/i.test(type) ? readUnlessJson(answer) : { ok: true, body: answer };
  const waitMs = retryDelayMs(status, answer.headers, clock.now());
  const told = {
    status,
    body: await readHead(answer, { mayBeCut: true }),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
  return { ok: false, problem: problemOfResponse(told) };
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

async function readHead(body: AsyncIterable<Uint8Array>, { mayBeCut }: { mayBeCut: boolean }): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      bytes += part.byteLength;
      if (bytes >= maxErrorBytes) break;
    }
  } catch (error) {
    if (!mayBeCut) throw error;
    // The status is more useful than the error of a cut body, so the part that came is used.
  }
  return Buffer.concat(parts).subarray(0, maxErrorBytes).toString("utf8");
}

// An HTTP proxy over sockets that it is given: absolute-form requests and CONNECT, one for each connection. It reaches what
// its admission admits, at exactly the addresses that were checked, and says in one sentence what it refuses.

import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Clock } from "../../base/clock.js";
import { messageOf, systemCode } from "../../base/errors.js";
import type { AdmissionOptions } from "./admission.js";
import { type Admission, HostAdmission } from "./admission.js";
import { Dialer, type Network } from "./dial.js";
import { forwardedHeaders } from "./forwarded-headers.js";
import { hostText, parseTarget, type Target, targetText } from "./host.js";

export interface ProxyOptions extends Pick<AdmissionOptions, "hosts" | "decide" | "clock"> {
  readonly network: Network;
}

const maxHeaderBytes = 16 * 1024;
const maxConnections = 256;
/** From the connection to the end of the headers. */
const headersMs = 30_000;
/** How long a refused program may take to read why. */
const lingerMs = 5_000;
const usageText = "this proxy takes http:// addresses and CONNECT";

type Refusal = Exclude<Admission, { addresses: unknown }> | { readonly refusal: string; readonly status: 400 };

export class HttpProxy {
  readonly #admission: HostAdmission;
  readonly #dialer: Dialer;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  readonly #server: Server;
  /** Open connections of programs, each with what cancels the wait for its headers. */
  readonly #waits = new Map<Socket, () => void>();
  readonly #upstreams = new Set<Socket>();

  constructor({ hosts, decide, clock, network }: ProxyOptions) {
    const signal = this.#ended.signal;
    this.#clock = clock;
    this.#dialer = new Dialer({ network, clock, signal });
    this.#admission = new HostAdmission({ hosts, decide, clock, dialer: this.#dialer, signal });
    this.#server = createServer({ maxHeaderSize: maxHeaderBytes });
    this.#server.on("request", (request, response) => void this.#forward(request, response));
    this.#server.on("connect", (request, socket: Socket, head) => void this.#tunnel(request, socket, head));
    this.#server.on("clientError", (_error, socket: Socket) => this.#refuseRaw(socket, badRequest));
  }

  /** Takes a connection of a program. */
  accept(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#ended.signal.aborted || this.#waits.size >= maxConnections) return void socket.destroy();
    socket.allowHalfOpen = true;
    this.#waits.set(
      socket,
      this.#clock.after(headersMs, () => socket.destroy()),
    );
    socket.once("close", () => {
      this.#waits.get(socket)?.();
      this.#waits.delete(socket);
    });
    this.#server.emit("connection", socket);
  }

  blocked(): ReturnType<HostAdmission["blocked"]> {
    return this.#admission.blocked();
  }

  /** Ends every connection and every question. */
  close(): void {
    this.#ended.abort();
    for (const socket of [...this.#waits.keys(), ...this.#upstreams]) socket.destroy();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#waits.get(request.socket)?.();
    response.on("error", () => {}); // the program went away
    response.shouldKeepAlive = false;
    const [, authority, path = ""] = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(request.url ?? "") ?? [];
    const reached = authority === undefined ? badRequest : await this.#reach(authority, 80);
    if ("refusal" in reached) {
      request.resume(); // unread bytes would turn the end into a reset, and the sentence would be lost
      return refuse(response, reached);
    }
    const { socket, target } = reached;
    if (request.socket.destroyed) return void socket.destroy();
    const failed = (error: unknown) => {
      socket.destroy();
      if (response.headersSent) response.destroy();
      else refuse(response, unreachable(target, error));
    };
    try {
      const upstream = httpRequest({
        createConnection: () => socket,
        method: request.method,
        path: path.startsWith("/") ? path : `/${path}`,
        setHost: false,
        headers: forwardedHeaders(request.rawHeaders, { isRequest: true, host: hostHeader(target) }),
      });
      upstream.on("error", failed);
      upstream.on("response", (answer) => answerWith(response, answer, failed));
      request.on("error", () => socket.destroy());
      response.once("close", () => socket.destroy());
      request.pipe(upstream);
    } catch (error) {
      failed(error); // a header or a path that must not be sent on
    }
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    this.#waits.get(socket)?.();
    const reached = await this.#reach(request.url ?? "");
    if ("refusal" in reached) return this.#refuseRaw(socket, reached);
    const { socket: upstream } = reached;
    if (socket.destroyed) return void upstream.destroy();
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    upstream.write(head);
    join(socket, upstream);
    join(upstream, socket);
  }

  async #reach(
    authority: string,
    usualPort?: number,
  ): Promise<Refusal | { readonly socket: Socket; readonly target: Target }> {
    const target = parseTarget(authority, usualPort);
    const admission =
      target === undefined
        ? this.#admission.refuse(withPort(authority, usualPort))
        : await this.#admission.admit(target);
    if ("refusal" in admission) return admission;
    if (target === undefined) return badRequest;
    try {
      const socket = await this.#dialer.connectTo(admission.addresses, target.port);
      if (this.#ended.signal.aborted) socket.destroy();
      this.#upstreams.add(socket);
      socket.once("close", () => this.#upstreams.delete(socket));
      return { socket, target };
    } catch (error) {
      return unreachable(target, error);
    }
  }

  #refuseRaw(socket: Socket, refusal: Refusal): void {
    if (socket.destroyed || !socket.writable) return void socket.destroy();
    const body = refusalBody(refusal);
    const head = [
      `HTTP/1.1 ${refusal.status} ${statusTexts[refusal.status]}`,
      `Content-Type: ${textType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
    socket.resume();
    this.#clock.after(lingerMs, () => socket.destroy());
  }
}

const textType = "text/plain; charset=utf-8";
const statusTexts = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" };
const badRequest: Refusal = { refusal: usageText, status: 400 };

function unreachable(target: Target, error: unknown): Refusal {
  return { refusal: `cannot reach ${targetText(target)} (${systemCode(error) ?? messageOf(error)})`, status: 502 };
}

function refusalBody({ refusal }: Refusal): string {
  return `galley: ${refusal}`;
}

/** A usual port is left out, as programs do. */
function hostHeader({ host, port }: Target): string {
  return port === 80 ? hostText(host) : targetText({ host, port });
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const body = refusalBody(refusal);
  response.writeHead(refusal.status, { "Content-Type": textType, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

function answerWith(response: ServerResponse, answer: IncomingMessage, failed: (error: unknown) => void): void {
  try {
    const headers = forwardedHeaders(answer.rawHeaders, { isRequest: false });
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", headers);
  } catch (error) {
    return failed(error);
  }
  pipeline(answer, response, (error) => error && failed(error));
}

/** One direction. An end passes on as an end, so that half-open connections work; anything else ends both. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded || !from.writableFinished) to.destroy();
  });
}

/** How a refusal names what is no target. */
function withPort(authority: string, usualPort: number | undefined): string {
  return usualPort === undefined || /:\d+$/.test(authority) ? authority : `${authority}:${usualPort}`;
}

// HTTPS through a proxy: which proxy an address needs, and a CONNECT tunnel to it. The proxy sees the host name and
// bytes of TLS; certificates are checked against the target, end to end.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import { connect as startTls, type TLSSocket } from "node:tls";
import { linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";

/** The proxy for an https address, from the usual variables; undefined means a direct connection. */
export function proxyFor(target: URL, environment: { [name: string]: string | undefined }): URL | undefined {
  const text = environment.https_proxy || environment.HTTPS_PROXY;
  if (!text || isExempt(target, environment.no_proxy || environment.NO_PROXY || "")) return undefined;
  let proxy: URL | undefined;
  try {
    proxy = new URL(text.includes("://") ? text : `http://${text}`);
  } catch {
    // reported below without the text, which may hold a password
  }
  if (proxy?.protocol !== "http:" && proxy?.protocol !== "https:")
    throw new GalleyError("invalid_config", "HTTPS_PROXY is not an http or https address.");
  return proxy;
}

export interface TunnelOptions {
  proxy: URL;
  target: URL;
  timeoutMs: number;
  signal: AbortSignal;
  clock: Clock;
  /** Trusted in place of the system's authorities. */
  ca?: string;
}

/** A checked TLS connection to the target, through the proxy. It closes when the request is stopped. */
export async function openTunnel(options: TunnelOptions): Promise<TLSSocket> {
  const { clock, timeoutMs } = options;
  const stop = linkAbort(options.signal);
  const { signal } = stop;
  const cancel = clock.after(timeoutMs, () =>
    stop.abort(new GalleyError("timeout", `No connection through the proxy within ${timeoutMs / 1000} s.`)),
  );
  try {
    return await encrypt(await connect({ ...options, signal }), { ...options, signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    cancel();
    stop.release(); // from here on the request owns the connection
  }
}

function connect({ proxy, target, signal, ca }: TunnelOptions): Promise<Socket> {
  const request = proxy.protocol === "https:" ? httpsRequest : httpRequest;
  const authority = `${target.hostname}:${target.port || 443}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const call = request({
    method: "CONNECT",
    hostname: bare(proxy.hostname),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    path: authority,
    agent: false,
    signal,
    headers: {
      host: authority,
      ...(credentials === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
    },
    ...(ca === undefined ? {} : { ca }),
  });
  return new Promise((resolve, reject) => {
    call.on("error", reject);
    // Node calls this for every answer to CONNECT, refusals included.
    call.once("connect", (answer: IncomingMessage, socket: Socket, head: Buffer) => {
      if (answer.statusCode === 200) {
        if (head.byteLength > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      // A proxy that wants a password will want it again; any other refusal may pass.
      const code = answer.statusCode === 407 ? "invalid_config" : "disconnected";
      reject(new GalleyError(code, `The proxy ${proxy.host} refused the connection: HTTP ${answer.statusCode}.`));
    });
    call.end();
  });
}

/** Starts in the same turn in which the tunnel opened: no other code listens for the socket's errors. */
function encrypt(socket: Socket, { target, signal, ca }: TunnelOptions): Promise<TLSSocket> {
  const host = bare(target.hostname);
  const secure = startTls({
    socket,
    host,
    ...(isIP(host) ? {} : { servername: host }), // server names are names: addresses are not allowed there
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  addAbortSignal(signal, secure);
  return new Promise((resolve, reject) => {
    secure.on("error", reject);
    secure.once("secureConnect", () => resolve(secure));
  });
}

/** Without the brackets of an IPv6 address. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** NO_PROXY: `*`, or names with their subdomains, each with an optional port. */
function isExempt(target: URL, list: string): boolean {
  const host = bare(target.hostname);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((item) => {
      if (item === "*") return true;
      const port = /(?:^[^:]*|\]):(\d+)$/.exec(item)?.[1];
      const name = bare(port === undefined ? item : item.slice(0, -port.length - 1)).replace(/^\*?\./, "");
      if (name === "" || (port !== undefined && port !== (target.port || "443"))) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}

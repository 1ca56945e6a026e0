// Where a local server listens, from what the user or the environment says. Takes the forms that Ollama takes for
// OLLAMA_HOST; an address at which a server listens for everyone means this machine here.

import type { Environment } from "../credentials.js";
import type { DiscoveryType } from "../models/models-file.js";
import { type LocalServer, localServers } from "../provider-list.js";

export type ServerType = LocalServer["id"] | DiscoveryType;

export interface ServerToAsk {
  /** The provider that its models belong to. */
  readonly provider: string;
  readonly type: ServerType;
  /** Of chat completions. */
  readonly baseUrl: string;
  /** The variable that the address comes from. */
  readonly from?: string | undefined;
  /** Its own key, and what else the user wants it to be sent. Rejects where a command of the user fails. */
  headers?(): Promise<Record<string, string>>;
  /** Default: on this machine nothing is charged. */
  readonly isFree?: boolean | undefined;
}

export interface ServerAddress {
  /** Without a slash at the end and without `/v1`. */
  readonly root: string;
  /** The variable that it comes from. */
  readonly from?: string;
}

/** The servers that need no configuration. One whose variable holds no address is left out. */
export function usualServers(env: Environment): ServerToAsk[] {
  return localServers.flatMap((server) => {
    const address = serverAddress(server, env);
    return address ? [{ provider: server.id, type: server.id, baseUrl: `${address.root}/v1`, from: address.from }] : [];
  });
}

/** The usual address where the environment names none; undefined where it names something that is no address. */
export function serverAddress({ port, baseUrlNames }: LocalServer, env: Environment): ServerAddress | undefined {
  const from = baseUrlNames.find((name) => Object.hasOwn(env, name) && env[name]?.trim());
  if (from === undefined) return { root: `http://127.0.0.1:${port}` };
  const root = readAddress(env[from] ?? "", port);
  return root === undefined ? undefined : { root, from };
}

/** `host`, `host:port`, `:port`, or a URL with or without a path. */
export function readAddress(text: string, usualPort: number): string | undefined {
  const plain = text.trim().replace(/^["']+|["']+$/g, "");
  const [, scheme, authority = "", path = ""] = /^(?:([a-z]+):\/\/)?([^/]*)(.*)$/i.exec(plain) ?? [];
  const written = `${scheme ?? "http"}://${completed(authority)}${path}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  url.search = "";
  url.hash = "";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  // A bare host means the server's own port; a URL without a port means the port of its scheme.
  if (scheme === undefined && !/:\d+$/.test(completed(authority))) url.port = String(usualPort);
  return rootOf(url.href);
}

/** The address under which a server has both its own API and `/v1`. */
export function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** As a user would recognize it. */
export function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;
}

/** With the host that a lone port means, and with the brackets that an IPv6 address needs. */
function completed(authority: string): string {
  if (/^:\d+$/.test(authority)) return `127.0.0.1${authority}`;
  return /^[^[]*:[^[]*:/.test(authority) ? `[${authority}]` : authority;
}

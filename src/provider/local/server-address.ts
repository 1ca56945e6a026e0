// Where a local server listens, from what the user or the environment says. Takes the forms that Ollama takes for
// OLLAMA_HOST; an address at which a server listens for everyone means this machine here.

import type { Environment } from "../credentials.js";
import type { LocalServer } from "../provider-list.js";

export interface ServerAddress {
  /** Without a slash at the end and without `/v1`. */
  readonly root: string;
  /** The variable that it comes from. */
  readonly from?: string;
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

/** With the host that a lone port means, and with the brackets that an IPv6 address needs. */
function completed(authority: string): string {
  if (/^:\d+$/.test(authority)) return `127.0.0.1${authority}`;
  return /^[^[]*:[^[]*:/.test(authority) ? `[${authority}]` : authority;
}

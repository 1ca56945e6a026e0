// Whether a service takes a key, by one request that costs nothing. The key goes to the service's configured address and
// nowhere else, and no word of the answer is repeated: it may hold the key.

import { type Clock, systemClock } from "../../base/clock.js";
import type { Environment } from "../../provider/credentials.js";
import { problemOfException } from "../../provider/failures.js";
import { getJson } from "../../provider/http/http.js";
import type { KnownProvider } from "../../provider/provider-list.js";

export type KeyCheck =
  | { readonly kind: "works" }
  | { readonly kind: "refused"; readonly text: string }
  /** No answer, or one that says nothing about the key. */
  | { readonly kind: "unknown"; readonly text: string };

export interface CheckedService {
  readonly known: KnownProvider;
  /** The service's own, or what the user has configured instead. */
  readonly baseUrl: string;
  readonly env: Environment;
  readonly clock?: Clock;
}

const timeoutMs = 10_000;
/** Some services list thousands of models. */
const maxBytes = 16 * 1024 * 1024;

export async function checkKey(service: CheckedService, key: string): Promise<KeyCheck> {
  const { baseUrl, env, clock = systemClock } = service;
  const origin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : baseUrl;
  try {
    const { url, headers } = checkRequest(service, key);
    const { signal } = new AbortController();
    const answer = await getJson({ url, headers, proxyVariables: env, signal, clock, timeoutMs, maxBytes });
    if (answer.ok) return { kind: "works" };
    const { kind, status } = answer.problem.failure;
    const text = `${origin}${status === undefined ? "" : ` (HTTP ${status})`}`;
    return kind === "auth" ? { kind: "refused", text } : { kind: "unknown", text: `unclear answer from ${text}` };
  } catch (error) {
    return { kind: "unknown", text: `${origin}: ${problemOfException(error).message}` };
  }
}

function checkRequest(
  { known, baseUrl }: CheckedService,
  key: string,
): { url: string; headers: Record<string, string> } {
  const bearer = { authorization: `Bearer ${key}` };
  switch (known.api) {
    case "anthropic-messages": {
      const root = baseUrl.replace(/\/v1$/, "");
      const isLogin = key.startsWith("sk-ant-oat");
      const headers = {
        "anthropic-version": "2023-06-01",
        ...(isLogin ? { "anthropic-beta": "oauth-2025-04-20" } : { "x-api-key": key }),
        // Other services with this API want it there for their own addresses.
        ...(isLogin || known.id !== "anthropic" ? bearer : {}),
      };
      return { url: `${root}${known.keyCheck ?? "/v1/models"}`, headers };
    }
    case "google-generative-ai": {
      const hasPath = URL.canParse(baseUrl) && new URL(baseUrl).pathname !== "/";
      return { url: `${baseUrl}${hasPath ? "" : "/v1beta"}/models`, headers: { "x-goog-api-key": key } };
    }
    default:
      return { url: `${baseUrl}${known.keyCheck ?? "/models"}`, headers: bearer };
  }
}

// A login at OpenRouter in the browser, which ends with an API key of the user: the documented PKCE flow for programs on
// the user's machine. Promises: one answer is taken on a loopback port, only with the state that was sent out, and the
// port is closed after it or after five minutes.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Environment } from "../../provider/credentials.js";
import { problemOfException } from "../../provider/failures.js";
import { getJson } from "../../provider/http/http.js";

export interface BrowserLogin {
  readonly address: string;
  /** The code that the browser brought. Rejects with `timeout` after five minutes. */
  readonly answered: Promise<string>;
  /** The API key for a code, or for the whole address that the browser was sent to. Throws `start_failed`. */
  exchange(pasted: string): Promise<string>;
  close(): void;
}

export interface BrowserLoginOptions {
  /** The service's API; its pages are on the same host. */
  readonly baseUrl: string;
  readonly env: Environment;
  readonly clock?: Clock;
}

const waitMs = 5 * 60_000;
const timeoutMs = 30_000;

export async function loginInBrowser({
  baseUrl,
  env,
  clock = systemClock,
}: BrowserLoginOptions): Promise<BrowserLogin> {
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(32).toString("base64url");
  if (!URL.canParse("/auth", baseUrl)) throw new GalleyError("invalid_config", "The service's base URL is not a URL.");
  const address = new URL("/auth", baseUrl);
  const { port, answered, close } = await listenOnce(state, clock);
  address.searchParams.set("callback_url", `http://localhost:${port}/callback?state=${state}`);
  address.searchParams.set("code_challenge", createHash("sha256").update(verifier).digest("base64url"));
  address.searchParams.set("code_challenge_method", "S256");
  return {
    address: address.href,
    answered,
    close,
    async exchange(pasted) {
      const payload = { code: codeIn(pasted, state), code_verifier: verifier, code_challenge_method: "S256" };
      const url = `${baseUrl}/auth/keys`;
      const { signal } = new AbortController();
      const refused = (reason: string) =>
        new GalleyError("start_failed", `${address.origin} ${reason}. Nothing was stored.`);
      const answer = await getJson({ url, headers: {}, payload, proxyVariables: env, signal, clock, timeoutMs }).catch(
        (error) => {
          throw refused(`did not answer (${problemOfException(error).message})`);
        },
      );
      if (answer.ok && isObject(answer.value) && typeof answer.value.key === "string") return answer.value.key;
      // Without the service's words: they may hold the key.
      const status = answer.ok ? undefined : answer.problem.failure.status;
      throw refused(status === undefined ? "sent no key" : `refused the code (HTTP ${status})`);
    },
  };
}

interface Listening {
  readonly port: number;
  readonly answered: Promise<string>;
  close(): void;
}

async function listenOnce(state: string, clock: Clock): Promise<Listening> {
  let settle = (_code: string) => {};
  let fail = (_error: GalleyError) => {};
  const answered = new Promise<string>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  answered.catch(() => {}); // a caller that took a pasted code does not wait for it
  const server = createServer((request, response) => {
    const code = codeOf(request, state);
    if (code === undefined) return answer(response, 400, "This is not the answer that galley waits for.");
    answer(response, 200, "galley has the answer. You can close this page.");
    response.once("close", () => {
      settle(code);
      close();
    });
  });
  const cancel = clock.after(
    waitMs,
    () => {
      fail(new GalleyError("timeout", "No answer came from the browser within 5 minutes. Nothing was stored."));
      close();
    },
    { isAwaited: true },
  );
  const close = () => {
    cancel();
    server.close();
    server.closeAllConnections();
  };
  server.maxConnections = 16;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return { port: (server.address() as AddressInfo).port, answered, close };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${text}\n`);
}

/** Another page of the user's browser can send requests here too: it does not know the state. */
function codeOf({ method, url = "", headers }: IncomingMessage, state: string): string | undefined {
  const isHere = /^(?:localhost|127\.0\.0\.1):\d+$/.test(headers.host ?? "");
  if (method !== "GET" || !isHere || !url.startsWith("/callback?")) return undefined;
  const query = new URLSearchParams(url.slice(url.indexOf("?")));
  const code = query.get("code") ?? "";
  return isSame(query.get("state") ?? "", state) && isCode(code) ? code : undefined;
}

/** The user may paste the code, or the address that the browser could not open. */
function codeIn(pasted: string, state: string): string {
  const text = pasted.trim();
  const query = URL.canParse(text) ? new URL(text).searchParams : undefined;
  const code = query ? (query.get("code") ?? "") : text;
  if (!isCode(code) || (query && !isSame(query.get("state") ?? "", state)))
    throw new GalleyError("start_failed", "This is not the code of this login. Nothing was stored.");
  return code;
}

function isCode(text: string): boolean {
  return /^[!-~]{1,2048}$/.test(text);
}

function isSame(given: string, state: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(state)];
  return a.length === b.length && timingSafeEqual(a, b);
}

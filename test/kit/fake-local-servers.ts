// Stand-ins for the servers that run models on a user's machine: real HTTP on free ports, answers by path, and a record of
// what was asked. `environmentOf` points all four variables at them, so that no test asks a real one.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LocalServer } from "../../src/provider/provider-list.js";

/** A value is sent as JSON; a function answers as it likes, or not at all. */
export type Route = unknown | ((request: FakeRequest, response: ServerResponse) => void);

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export class FakeServer {
  readonly requests: FakeRequest[] = [];
  readonly #server: Server;
  readonly #waiting: (() => void)[] = [];

  constructor(routes: { readonly [path: string]: Route }) {
    this.#server = createServer(async (request, response) => {
      let text = "";
      for await (const part of request.setEncoding("utf8")) text += part;
      const { method = "", url: path = "", headers } = request;
      const asked = { method, path, headers, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
      this.requests.push(asked);
      for (const wake of this.#waiting.splice(0)) wake();
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (typeof route === "function") route(asked, response);
      else if (route === undefined) response.writeHead(404).end("not found");
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(route));
    });
  }

  listen(): Promise<this> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve(this)));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves once it was asked so often. */
  async asked(times: number): Promise<void> {
    while (this.requests.length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }
}

export const startFakeServer = (routes: { readonly [path: string]: Route }): Promise<FakeServer> =>
  new FakeServer(routes).listen();

/** Takes the connection and never answers. */
export const hangs: Route = () => {};

/** A port at which nothing listens any more. */
export async function freeUrl(): Promise<string> {
  const server = await startFakeServer({});
  const { url } = server;
  await server.close();
  return url;
}

const variables: { readonly [id in LocalServer["id"]]: string } = {
  ollama: "OLLAMA_HOST",
  "lm-studio": "LM_STUDIO_BASE_URL",
  "llama.cpp": "LLAMA_CPP_BASE_URL",
  vllm: "VLLM_BASE_URL",
};

/** Discovery is on, and all four variables point at one of these servers or at a port without one. */
export async function environmentOf(
  servers: Partial<Record<LocalServer["id"], FakeServer | string>>,
): Promise<Record<string, string>> {
  const nothing = await freeUrl();
  const addresses = Object.entries(variables).map(([id, variable]) => {
    const server = servers[id as LocalServer["id"]] ?? nothing;
    return [variable, typeof server === "string" ? server : server.url];
  });
  return { GALLEY_OFFLINE: "0", ...Object.fromEntries(addresses) };
}

export interface OllamaModel {
  readonly id: string;
  readonly capabilities?: readonly string[];
  readonly modified?: string;
  readonly parameters?: string;
  /** The window it is loaded with. */
  readonly loaded?: number;
  readonly remote?: string;
}

/** As Ollama answers, with what it would say of the length a model was trained for. */
export function ollamaRoutes(models: readonly OllamaModel[]): Record<string, Route> {
  const entry = ({ id, modified = "2026-01-01T00:00:00Z", remote }: OllamaModel) => ({
    ...{ name: id, model: id, modified_at: modified, size: 1, digest: "d" },
    ...(remote && { remote_host: remote, remote_model: id }),
  });
  const shown = new Map(
    models.map(({ id, capabilities = ["completion", "tools"], parameters }) => [
      id,
      { parameters, capabilities, model_info: { "general.architecture": "x", "x.context_length": 262_144 } },
    ]),
  );
  return {
    "/api/tags": { models: models.map(entry) },
    "/api/ps": {
      models: models.flatMap((one) => (one.loaded ? [{ ...entry(one), context_length: one.loaded }] : [])),
    },
    "/api/show": ({ body }: FakeRequest, response: ServerResponse) => {
      const answer = shown.get((body as { model: string }).model);
      response.writeHead(answer ? 200 : 404).end(JSON.stringify(answer ?? {}));
    },
  };
}

/** A reply of chat completions to every prompt. */
export function replying(text: string, usage?: { prompt_tokens: number; completion_tokens: number }): Route {
  return (_request: FakeRequest, response: ServerResponse) => {
    const chunk = (more: object) => `data: ${JSON.stringify({ id: "r", ...more })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ choices: [{ index: 0, delta: { content: text } }] }));
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
    if (usage) response.write(chunk({ choices: [], usage }));
    response.end("data: [DONE]\n\n");
  };
}

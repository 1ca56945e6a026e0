import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import {
  environmentOf,
  type FakeServer,
  hangs,
  ollamaRoutes,
  type Route,
  startFakeServer,
} from "../../../test/kit/fake-local-servers.js";
import { manualClock } from "../../testing/manual-clock.js";
import { findLocalModels, type LocalSearch } from "./local-servers.js";
import { type ServerType, usualServers } from "./server-address.js";

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(routes: Record<string, Route>): Promise<FakeServer> {
  const server = await startFakeServer(routes);
  servers.push(server);
  return server;
}

/** On a clock that stands still: a busy machine must not end a search. */
const find = (env: Record<string, string>, more: Partial<LocalSearch> = {}) =>
  findLocalModels({ env, clock: manualClock(), ...more });

/** The models of one server, asked as the only one. */
async function modelsAt(type: ServerType, routes: Record<string, Route>, env: Record<string, string> = {}) {
  const { url } = await serve(routes);
  const { models } = await find(env, { servers: [{ provider: type, type, baseUrl: `${url}/v1` }] });
  return models;
}

const windows = (models: readonly { id: string; contextWindow: number }[]) =>
  models.map(({ id, contextWindow }) => [id, contextWindow]);

describe("Ollama", () => {
  it("tells of a model with all that galley needs to know", async () => {
    const routes = ollamaRoutes([
      { id: "qwen3:8b", capabilities: ["completion", "tools", "vision", "thinking"], loaded: 32_768 },
    ]);
    const server = await serve(routes);
    const { models } = await find(await environmentOf({ ollama: server }));
    expect(models).toEqual([
      {
        id: "qwen3:8b",
        name: "qwen3:8b",
        api: "openai-completions",
        provider: "ollama",
        baseUrl: `${server.url}/v1`,
        baseUrlSource: "OLLAMA_HOST",
        reasoning: true,
        thinking: { mode: "effort", minLevel: "low", maxLevel: "high", levels: { off: "none" } },
        input: ["text", "image"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 32_768,
        maxTokens: 16_384,
      },
    ]);
  });

  it("has the window it is loaded with, else that of its parameters, else of the server, never the trained one", async () => {
    const parameters = 'stop                           "x"\nnum_ctx                        8192\ntemperature 1';
    const listed = [
      { id: "loaded", loaded: 65_536, parameters },
      { id: "set", parameters, modified: "2026-01-03T00:00:00Z" },
      { id: "plain", modified: "2026-01-02T00:00:00Z" },
    ];
    const rest = [
      ["loaded", 65_536],
      ["set", 8192],
    ];
    expect(windows(await modelsAt("ollama", ollamaRoutes(listed)))).toEqual([...rest, ["plain", 4096]]);
    expect(windows(await modelsAt("ollama", ollamaRoutes(listed), { OLLAMA_CONTEXT_LENGTH: "20000" }))).toEqual([
      ...rest,
      ["plain", 20_000],
    ]);
    expect(windows(await modelsAt("ollama", ollamaRoutes(listed), { OLLAMA_CONTEXT_LENGTH: "all" }))).toEqual([
      ...rest,
      ["plain", 4096],
    ]);
  });

  it("leaves out what cannot use tools, and puts loaded ones first, then the newest, other machines last", async () => {
    const models = await modelsAt(
      "ollama",
      ollamaRoutes([
        { id: "old", modified: "2025-01-01T00:00:00Z" },
        { id: "new", modified: "2026-06-01T00:00:00Z" },
        { id: "cloud", modified: "2026-07-01T00:00:00Z", remote: "https://ollama.com:443" },
        { id: "embed", capabilities: ["embedding"] },
        { id: "talks", capabilities: ["completion"] },
        { id: "busy", modified: "2024-01-01T00:00:00Z", loaded: 4096 },
      ]),
    );
    expect(models.map(({ id }) => id)).toEqual(["busy", "new", "old", "cloud"]);
    expect(models.map(({ cost }) => cost !== undefined)).toEqual([true, true, true, false]);
  });

  it("is used without /api/ps, and without the models it says nothing of", async () => {
    const { "/api/ps": _ps, "/api/show": show, ...rest } = ollamaRoutes([{ id: "a" }, { id: "b" }]);
    const partly: Route = (request: { body: { model: string } }, response: ServerResponse) =>
      request.body.model === "a" ? response.destroy() : (show as (...args: unknown[]) => void)(request, response);
    expect(windows(await modelsAt("ollama", { ...rest, "/api/show": partly }))).toEqual([["b", 4096]]);
  });
});

describe("LM Studio", () => {
  const now = {
    models: [
      { type: "llm", key: "idle", max_context_length: 131_072, loaded_instances: [], capabilities: { vision: true } },
      {
        ...{ type: "llm", key: "busy", max_context_length: 131_072, capabilities: { vision: false } },
        loaded_instances: [{ id: "busy:2", config: { context_length: 20_480 } }],
      },
      { type: "embedding", key: "nomic", max_context_length: 2048, loaded_instances: [{ id: "nomic" }] },
    ],
  };
  const before = {
    data: [
      { id: "idle", type: "vlm", state: "not-loaded", max_context_length: 131_072 },
      { id: "busy", type: "llm", state: "loaded", max_context_length: 131_072, loaded_context_length: 20_480 },
      { id: "nomic", type: "embeddings", state: "loaded", max_context_length: 2048 },
    ],
  };

  it.each([
    ["newer", { "/api/v1/models": now }],
    ["older", { "/api/v0/models": before }],
  ])("has the window of the loaded model, else its maximum, by the %s API", async (_name, routes) => {
    const models = await modelsAt("lm-studio", routes);
    expect(models.map(({ id, contextWindow, input }) => [id, contextWindow, input.length])).toEqual([
      ["busy", 20_480, 1],
      ["idle", 131_072, 2],
    ]);
  });
});

describe("llama.cpp, vLLM and other lists", () => {
  it("llama.cpp is known by its settings", async () => {
    const props = {
      default_generation_settings: { n_ctx: 24_576, params: {} },
      model_path: "/models/qwen.gguf",
      modalities: { vision: true },
    };
    const listed = { data: [{ id: "coder", owned_by: "llamacpp", meta: { n_ctx_train: 262_144 } }] };
    const [model] = await modelsAt("llama.cpp", { "/props": props, "/v1/models": listed });
    expect(model).toMatchObject({ id: "coder", contextWindow: 24_576, input: ["text", "image"], maxTokens: 12_288 });
    expect(windows(await modelsAt("llama.cpp", { "/props": props }))).toEqual([["qwen.gguf", 24_576]]);
    expect(await modelsAt("llama.cpp", { "/v1/models": listed })).toEqual([]);
  });

  it("vLLM is known by its name in the list, and an adapter has the window of its model", async () => {
    const data = [
      { id: "base", owned_by: "vllm", max_model_len: 40_960 },
      { id: "adapter", owned_by: "vllm", max_model_len: null, parent: "base" },
      { id: "other", owned_by: "me", max_model_len: 1 },
    ];
    expect(windows(await modelsAt("vllm", { "/v1/models": { data } }))).toEqual([
      ["base", 40_960],
      ["adapter", 40_960],
    ]);
    expect(await modelsAt("vllm", { "/v1/models": { data: [{ id: "no-window", owned_by: "vllm" }] } })).toEqual([]);
  });

  it("any other server is asked at the address as it is", async () => {
    const data = [{ id: "a" }, { id: "b", context_length: 9000, created: 5 }, { id: "text-embed-3" }];
    expect(windows(await modelsAt("openai-compat", { "/v1/models": { data } }))).toEqual([
      ["b", 9000],
      ["a", 128_000],
    ]);
  });
});

describe("findLocalModels", () => {
  it("asks all four at once, each with what is its own", async () => {
    const list = { "/v1/models": { data: [{ id: "v", owned_by: "vllm", max_model_len: 30_000 }] } };
    const ollama = await serve(ollamaRoutes([{ id: "o" }]));
    const lmStudio = await serve({ "/api/v0/models": { data: [] } });
    const vllm = await serve(list);
    const env = await environmentOf({ ollama, "lm-studio": lmStudio, vllm });
    const own = { ollama: "ok", vllm: "vk" };
    const toAsk = usualServers(env).map((server) => {
      const key = own[server.provider as keyof typeof own];
      return key ? { ...server, headers: async () => ({ authorization: `Bearer ${key}` }) } : server;
    });
    const { models, servers: asked } = await find(env, { servers: toAsk });
    expect(models.map(({ provider, id }) => `${provider}/${id}`)).toEqual(["vllm/v", "ollama/o"]);
    expect(asked.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ["ollama", "answered"],
      ["lm-studio", "answered"],
      ["llama.cpp", "refused"],
      ["vllm", "answered"],
    ]);
    const sent = (server: FakeServer) => [...new Set(server.requests.map(({ headers }) => headers.authorization))];
    expect([sent(ollama), sent(vllm), sent(lmStudio)]).toEqual([["Bearer ok"], ["Bearer vk"], [undefined]]);
  });

  it("ends after a second, with what was learned until then", async () => {
    const routes = ollamaRoutes([{ id: "wanted", modified: "2020-01-01T00:00:00Z" }, ...many(50)]);
    const show = routes["/api/show"] as (request: unknown, response: ServerResponse) => void;
    const slow: Route = (request: { body: { model: string } }, response: ServerResponse) =>
      request.body.model === "wanted" ? show(request, response) : undefined;
    const ollama = await serve({ ...routes, "/api/show": slow });
    const hanging = await serve({ "/props": hangs });
    const env = await environmentOf({ ollama, "llama.cpp": hanging });
    const clock = manualClock();
    const search = find(env, { clock, wanted: "wanted" });
    // Tags, running models, the one that is answered, and as many others as are asked at once.
    await Promise.all([ollama.asked(9), hanging.asked(1)]);
    clock.advance(999);
    const early = await Promise.race([search, new Promise((resolve) => setImmediate(() => resolve("waits")))]);
    expect(early).toBe("waits");
    clock.advance(1);
    const { models, servers: asked } = await search;
    expect(models.map(({ id }) => id)).toEqual(["wanted"]);
    expect(asked.map(({ outcome }) => outcome)).toEqual(["answered", "refused", "silent", "refused"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("waits for a key no longer than for a server", async () => {
    const ollama = await serve(ollamaRoutes([{ id: "o" }]));
    const clock = manualClock();
    const server = { provider: "box", type: "ollama", baseUrl: `${ollama.url}/v1` } as const;
    const search = find({}, { clock, servers: [{ ...server, headers: () => new Promise(() => {}) }] });
    clock.advance(1000);
    expect((await search).servers[0]).toMatchObject({ outcome: "silent" });
    const failing = { ...server, headers: () => Promise.reject(new Error("no key")) };
    expect((await find({}, { servers: [failing] })).servers[0]).toMatchObject({ outcome: "failed", problem: "no key" });
    expect(ollama.requests).toEqual([]);
  });

  it("does not take a server that wants a key for one without models", async () => {
    const refuse: Route = (_: unknown, response: ServerResponse) => response.writeHead(401).end("who are you?");
    const server = await serve({ "/v1/models": refuse });
    const { servers: asked } = await find(
      {},
      { servers: [{ provider: "v", type: "vllm", baseUrl: `${server.url}/v1` }] },
    );
    expect(asked[0]).toMatchObject({ outcome: "failed", problem: "HTTP 401: who are you?" });
  });

  it("stops when it is told to", async () => {
    const ollama = await serve({ "/api/tags": hangs });
    const stop = new AbortController();
    const search = find(await environmentOf({ ollama }), { signal: stop.signal });
    await ollama.asked(1);
    stop.abort();
    expect((await search).models).toEqual([]);
  });

  it("asks no other machine in the clear", async () => {
    const servers = usualServers({ OLLAMA_HOST: "192.0.2.1", VLLM_BASE_URL: "ftp://x" });
    expect(servers.map(({ provider, baseUrl }) => [provider, baseUrl])).toEqual([
      ["ollama", "http://192.0.2.1:11434/v1"],
      ["lm-studio", "http://127.0.0.1:1234/v1"],
      ["llama.cpp", "http://127.0.0.1:8080/v1"],
    ]);
    const { servers: asked } = await find({}, { servers: servers.slice(0, 1) });
    expect(asked[0]).toMatchObject({
      outcome: "failed",
      problem: expect.stringContaining("Refused to send a request to http://192.0.2.1:11434: only https") as string,
    });
  });

  const types: ServerType[] = ["ollama", "lm-studio", "llama.cpp", "vllm", "openai-compat"];
  const paths = "/api/tags /api/ps /api/show /api/v1/models /api/v0/models /props /v1/models".split(" ");
  const stranger = "http://127.0.0.1:9/elsewhere";
  const hostile: [string, Route][] = [
    ["null", null],
    ["a number", 7],
    ["a list", [[{ id: "x" }]]],
    ["wrong types", { models: { length: 9 }, data: "x", default_generation_settings: [], capabilities: "tools" }],
    ["members of wrong types", { models: [1, null, { name: 7 }], data: [{ id: {}, owned_by: "vllm" }, []] }],
    ["endless names", { models: [{ key: "x".repeat(300), type: "llm", max_context_length: 1 }], data: [] }],
    [
      "control characters and absurd numbers",
      {
        models: [{ key: "a\u001b[2J", type: "llm", max_context_length: 5 }],
        data: [{ id: "ok", owned_by: "vllm", max_model_len: 1e300, type: "llm", max_context_length: -1 }],
        default_generation_settings: { n_ctx: 1.5 },
      },
    ],
    ["a page", (_: unknown, response: ServerResponse) => response.writeHead(200).end("<html>hello</html>")],
    ["an error", (_: unknown, response: ServerResponse) => response.writeHead(500).end("{}")],
    ["a cut", (_: unknown, response: ServerResponse) => response.destroy()],
    ["a redirect", (_: unknown, response: ServerResponse) => response.writeHead(302, { location: stranger }).end()],
    [
      "a giant",
      (_: unknown, response: ServerResponse) => {
        const pour = () => {
          while (response.write("[".repeat(65_536)));
          response.once("drain", pour);
        };
        pour();
      },
    ],
  ];
  it.each(hostile)("ignores %s", async (_name, route) => {
    const { url } = await serve(Object.fromEntries(paths.map((path) => [path, route])));
    const all = types.map((type) => ({ provider: type, type, baseUrl: `${url}/v1` }));
    const { models } = await find({}, { servers: all });
    expect(models.filter(({ provider, id }) => !(provider === "openai-compat" && id === "ok"))).toEqual([]);
  });
});

function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: `m${index}` }));
}

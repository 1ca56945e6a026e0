// Sessions and the servers that run models on the user's machine: found before the first prompt that has no other model,
// by name, by the models file; never while the user is offline, and never in the way of anything else.

import { mkdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { logTo } from "../../../src/base/log.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/index.js";
import { manualClock } from "../../../src/testing/manual-clock.js";
import {
  environmentOf,
  type FakeRequest,
  type FakeServer,
  freeUrl,
  hangs,
  ollamaRoutes,
  type Route,
  replying,
  startFakeServer,
} from "../../kit/fake-local-servers.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const chat = "/v1/chat/completions";
const servers: FakeServer[] = [];
let home: string;
let told: string;

beforeEach(() => {
  vi.stubEnv("GALLEY_OFFLINE", "");
  home = temporaryDirectory();
  for (const name of ["agent", "project"]) mkdirSync(join(home, name));
  told = "";
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) await server.close();
});

async function serve(routes: Record<string, Route>): Promise<FakeServer> {
  const server = await startFakeServer(routes);
  servers.push(server);
  return server;
}

async function open(env: Record<string, string>, options: CreateAgentSessionOptions = {}, models?: string) {
  if (models !== undefined) writeFileSync(join(home, "agent/models.yml"), models);
  const log = logTo((line) => {
    told += line;
  });
  const place = { cwd: join(home, "project"), agentDir: join(home, "agent") };
  // The clock stands still: a busy machine must not end a search.
  const { session } = await createAgentSession({ ...place, env, log, clock: manualClock(), ...options });
  return session;
}

type Session = Awaited<ReturnType<typeof open>>;

const nameOf = ({ model }: Session) => model && `${model.provider}/${model.id}`;
const answerOf = (session: Session) => {
  const last = session.messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant"
    ? (last.errorMessage ?? last.content.map((part) => "text" in part && part.text)[0])
    : "";
};
const modelChanges = (session: Session) =>
  session.sessionManager.context.path.flatMap((entry) =>
    entry.type === "model_change" && "model" in entry ? [entry.model] : [],
  );

describe("a session without a model", () => {
  it.each([
    ["ollama", ollamaRoutes([{ id: "q", loaded: 32_768 }]), "q", 32_768],
    [
      "lm-studio",
      { "/api/v1/models": { models: [{ type: "llm", key: "q", max_context_length: 50_000, loaded_instances: [] }] } },
      "q",
      50_000,
    ],
    [
      "llama.cpp",
      { "/props": { default_generation_settings: { n_ctx: 40_000 } }, "/v1/models": { data: [{ id: "q.gguf" }] } },
      "q.gguf",
      40_000,
    ],
    ["vllm", { "/v1/models": { data: [{ id: "a/q", owned_by: "vllm", max_model_len: 60_000 }] } }, "a/q", 60_000],
  ])("uses the model of %s from its first prompt on, and says so", async (provider, routes, id, contextWindow) => {
    const server = await serve({ ...routes, [chat]: replying("Hello.") });
    const session = await open(await environmentOf({ [provider]: server }));
    expect(nameOf(session)).toBe("galley/planner");
    expect(server.requests).toEqual([]);
    await session.prompt("Hello?");
    expect(nameOf(session)).toBe(`${provider}/${id}`);
    expect(session.model).toMatchObject({ contextWindow, baseUrl: `${server.url}/v1` });
    expect(answerOf(session)).toBe("Hello.");
    expect(modelChanges(session)).toEqual(["galley/planner", `${provider}/${id}`]);
    expect(told).toBe(`galley: Using ${provider}/${id}, which was found at ${server.url}.\n`);
    const { length } = server.requests;
    await session.prompt("And now?");
    expect(server.requests.slice(length).map(({ path }) => path)).toEqual([chat]);
    await session.dispose();
  });

  it("asks once, and the planner answers where no server runs", async () => {
    const other = await serve({ "/": "a web page" });
    const session = await open(await environmentOf({ "llama.cpp": other }));
    await session.prompt("help");
    await session.prompt("help");
    expect(nameOf(session)).toBe("galley/planner");
    expect(other.requests.map(({ path }) => path)).toEqual(["/props"]);
    await session.dispose();
  });

  it("waits a second at most, and answers everything else meanwhile", async () => {
    const hanging = await serve({ "/api/tags": hangs, "/api/ps": hangs });
    const clock = manualClock();
    const session = await open(await environmentOf({ ollama: hanging }), { clock });
    expect([nameOf(session), session.getAvailableModels().length]).toEqual(["galley/planner", 1]);
    expect(hanging.requests).toEqual([]);
    let isAccepted = false;
    const events: string[] = [];
    session.subscribe(({ type }) => void events.push(type));
    const prompt = session.prompt("help", {
      onAccepted: () => {
        isAccepted = true;
      },
    });
    await hanging.asked(2);
    await session.sessionManager.sync();
    expect([isAccepted, session.isStreaming, nameOf(session), events]).toEqual([true, true, "galley/planner", []]);
    clock.advance(1000);
    await prompt;
    expect(answerOf(session)).toContain("planner");
    await session.dispose();
  });

  it("can be stopped while it looks", async () => {
    const hanging = await serve({ "/api/tags": hangs });
    const session = await open(await environmentOf({ ollama: hanging }));
    const prompt = session.prompt("help");
    await hanging.asked(1);
    await session.abort();
    await prompt;
    expect(session.lastOutcome.status).toBe("aborted");
    await session.dispose();
  });

  it("keeps what the user chose meanwhile, or before", async () => {
    const server = await serve({ ...ollamaRoutes([{ id: "a" }, { id: "b" }]), [chat]: replying("Hello.") });
    const env = await environmentOf({ ollama: server });
    for (const options of [{ modelPattern: "planner" }, { provider: "galley" }]) {
      const session = await open(env, options);
      await session.prompt("help");
      expect([nameOf(session), server.requests]).toEqual(["galley/planner", []]);
      await session.dispose();
    }
    const session = await open(env);
    session.setModel("galley", "planner");
    await session.prompt("help");
    expect([nameOf(session), server.requests]).toEqual(["galley/planner", []]);
    await session.dispose();
  });

  it("never takes a model that its server runs elsewhere", async () => {
    const cloud = await serve(ollamaRoutes([{ id: "cloud", remote: "https://ollama.com" }]));
    const session = await open(await environmentOf({ ollama: cloud }));
    await session.prompt("help");
    expect(nameOf(session)).toBe("galley/planner");
    expect(session.getAvailableModels().map(({ id }) => id)).toEqual(["cloud"]);
    await session.dispose();
  });
});

describe("offline", () => {
  it.each([
    ["the environment", { GALLEY_OFFLINE: "1" }, {}],
    ["the setting", {}, { models: { discovery: "off" } }],
  ])("by %s nobody is asked", async (_name, variables, settings) => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    writeFileSync(join(home, "agent/config.yml"), JSON.stringify(settings));
    const env = { ...(await environmentOf({ ollama: server })), ...variables };
    for (const options of [{}, { modelPattern: "ollama/q" }]) {
      const session = await open(env, options);
      await session.learnModel("ollama", "other");
      await session.prompt("help");
      await session.dispose();
    }
    // Who names a model wants it to be asked.
    expect(server.requests.map(({ path }) => path)).toEqual([chat]);
  });
});

describe("a provider that is named", () => {
  const routes = { ...ollamaRoutes([{ id: "old" }, { id: "qwen3:8b", loaded: 24_000 }]), [chat]: replying("Hello.") };

  it.each([
    [{ modelPattern: "ollama/qwen3:8b" }],
    [{ modelPattern: "ollama/qwen3:8b:high" }],
    [{ provider: "ollama", modelPattern: "qwen3" }],
    [{ provider: "ollama" }],
  ])("is asked at the start: %j", async (options) => {
    const server = await serve(routes);
    const session = await open(await environmentOf({ ollama: server }), options);
    expect([nameOf(session), session.model?.contextWindow]).toEqual(["ollama/qwen3:8b", 24_000]);
    await session.prompt("Hello?");
    expect(answerOf(session)).toBe("Hello.");
    await session.dispose();
  });

  it("gets the key of this run, and says what it says without one", async () => {
    const list = { data: [{ id: "q", owned_by: "vllm", max_model_len: 60_000 }] };
    const guarded =
      (answer: (response: ServerResponse) => void): Route =>
      ({ headers }: FakeRequest, response: ServerResponse) =>
        headers.authorization === "Bearer k" ? answer(response) : response.writeHead(401).end("who are you?");
    const hello = replying("Hello.") as (request: unknown, response: ServerResponse) => void;
    const server = await serve({
      "/v1/models": guarded((response) => response.writeHead(200).end(JSON.stringify(list))),
      [chat]: guarded((response) => hello(undefined, response)),
    });
    const env = await environmentOf({ vllm: server });
    const session = await open(env, { modelPattern: "vllm/q", apiKey: "k" });
    await session.prompt("Hello?");
    expect([answerOf(session), session.model?.contextWindow]).toEqual(["Hello.", 60_000]);
    await session.dispose();
    const keyless = await open(env, { modelPattern: "vllm/q" });
    await keyless.prompt("Hello?");
    expect(answerOf(keyless)).toContain("HTTP 401: who are you?");
    await keyless.dispose();
  });

  it("has no model that its server does not have", async () => {
    const env = await environmentOf({ ollama: await serve(routes) });
    await expect(open(env, { modelPattern: "ollama/nothing" })).rejects.toThrow("Model not found: ollama/nothing");
  });

  it("is not there: a named model fails with its first prompt, the name alone at once", async () => {
    const url = await freeUrl();
    const env = await environmentOf({ ollama: url });
    const session = await open(env, { modelPattern: "ollama/qwen3:8b" });
    session.setAutoRetryEnabled(false);
    await session.prompt("Hello?");
    expect(answerOf(session)).toBe(`Nothing listens at ${url}. Is Ollama running?`);
    await session.dispose();
    await expect(open(env, { provider: "ollama" })).rejects.toThrow(`Nothing listens at ${url}. Is Ollama running?`);
  });

  it("by a setting is the model of the session, and is asked before its first prompt", async () => {
    const server = await serve(routes);
    writeFileSync(join(home, "agent/config.yml"), "modelRoles: { default: ollama/qwen3:8b }\n");
    const session = await open(await environmentOf({ ollama: server }));
    expect([nameOf(session), server.requests]).toEqual(["ollama/qwen3:8b", []]);
    await session.prompt("Hello?");
    expect([answerOf(session), session.model?.contextWindow]).toEqual(["Hello.", 24_000]);
    expect(modelChanges(session)).toEqual(["ollama/qwen3:8b"]);
    await session.dispose();
  });

  it("by the record comes back with it", async () => {
    const server = await serve(routes);
    const env = await environmentOf({ ollama: server });
    const session = await open(env, { persist: true });
    await session.prompt("Hello?");
    await session.dispose();
    const { length } = server.requests;
    const again = await open(env, { persist: true, resume: { kind: "continue" } });
    expect([nameOf(again), server.requests.length]).toEqual(["ollama/qwen3:8b", length]);
    await again.prompt("Again?");
    expect([answerOf(again), again.model?.contextWindow]).toEqual(["Hello.", 24_000]);
    await again.dispose();
  });

  it("by a command is asked then", async () => {
    const server = await serve(routes);
    const session = await open(await environmentOf({ ollama: server }));
    await session.learnModel("ollama", "old");
    expect(session.setModel("ollama", "old").contextWindow).toBe(4096);
    await session.learnModel("ollama", "nothing");
    expect(() => session.setModel("ollama", "nothing")).toThrow("Model not found: ollama/nothing");
    await session.dispose();
  });
});

describe("discovery of the models file", () => {
  const models = (url: string, more = "") => `providers:
  box:
    baseUrl: ${url}
    discovery: { type: ollama }
    modelOverrides:
      q: { contextWindow: 50000 }
${more}`;

  it("asks the server at its address, with its own key", async () => {
    const server = await serve({ ...ollamaRoutes([{ id: "q" }]), [chat]: replying("Hello.") });
    const env = { ...(await environmentOf({})), BOX_KEY: "k" };
    const session = await open(env, {}, models(server.url, "    apiKey: $BOX_KEY\n"));
    await session.prompt("Hello?");
    expect([nameOf(session), session.model?.contextWindow, answerOf(session)]).toEqual(["box/q", 50_000, "Hello."]);
    expect([...new Set(server.requests.map(({ headers }) => headers.authorization))]).toEqual(["Bearer k"]);
    expect(told).toBe(`galley: Using box/q, which was found at ${server.url}.\n`);
    await session.dispose();
  });

  it("finds what any compatible server lists, at the address as it is", async () => {
    const list = { "/api/models": { data: [{ id: "m", context_length: 70_000 }] } };
    const server = await serve({ ...list, "/api/chat/completions": replying("Hello.") });
    const file = `providers:\n  mine:\n    baseUrl: ${server.url}/api\n    discovery: { type: openai-compat }\n`;
    const session = await open(await environmentOf({}), { provider: "mine" }, file);
    expect([nameOf(session), session.model?.contextWindow]).toEqual(["mine/m", 70_000]);
    await session.prompt("Hello?");
    expect(answerOf(session)).toBe("Hello.");
    await session.dispose();
  });

  it("moves a usual server to another address", async () => {
    const server = await serve({ ...ollamaRoutes([{ id: "q" }]), [chat]: replying("Hello.") });
    const usual = await serve({});
    const file = `providers:\n  ollama:\n    baseUrl: ${server.url}/v1\n    discovery: { type: ollama }\n`;
    const session = await open(await environmentOf({ ollama: usual }), {}, file);
    await session.prompt("Hello?");
    expect([nameOf(session), usual.requests]).toEqual(["ollama/q", []]);
    await session.dispose();
  });

  it("asks none that is disabled", async () => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    writeFileSync(join(home, "agent/config.yml"), "disabledProviders: [box, ollama]\n");
    const session = await open(await environmentOf({ ollama: server }), {}, models(server.url));
    await session.prompt("help");
    expect([nameOf(session), server.requests]).toEqual(["galley/planner", []]);
    await session.dispose();
  });
});

describe("a server that cannot hold a session", () => {
  const hint = "Start it with OLLAMA_CONTEXT_LENGTH=65536, or set num_ctx.";

  it("is told of once when its context is small", async () => {
    const server = await serve({ ...ollamaRoutes([{ id: "q" }]), [chat]: replying("Hello.") });
    const session = await open(await environmentOf({ ollama: server }), { modelPattern: "ollama/q" });
    await session.prompt("Hello?");
    await session.prompt("Hello?");
    expect(told).toBe(`galley: ollama/q has a context of 4,096 tokens; a coding session needs more. ${hint}\n`);
    await session.dispose();
  });

  it("is told of once when it read less than half of the prompt", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5 };
    const server = await serve({ ...ollamaRoutes([{ id: "q", loaded: 40_000 }]), [chat]: replying("Hello.", usage) });
    const session = await open(await environmentOf({ ollama: server }), { modelPattern: "ollama/q" });
    await session.prompt("Hello?");
    await session.prompt("Hello?");
    expect(told).toMatch(
      /^galley: ollama\/q has read 100 of about \d,\d{3} tokens: its server cut the prompt; a coding session needs more\. Start it with OLLAMA_CONTEXT_LENGTH=65536, or set num_ctx\.\n$/,
    );
    await session.dispose();
  });

  it("is no matter where the figures fit, or none came", async () => {
    for (const usage of [undefined, { prompt_tokens: 20_000, completion_tokens: 5 }]) {
      const server = await serve({ ...ollamaRoutes([{ id: "q", loaded: 40_000 }]), [chat]: replying("Hello.", usage) });
      const session = await open(await environmentOf({ ollama: server }), { modelPattern: "ollama/q" });
      await session.prompt("Hello?");
      await session.dispose();
    }
    expect(told).toBe("");
  });
});

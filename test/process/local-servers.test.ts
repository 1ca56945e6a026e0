// The built program and the servers that run models on the user's machine, as a host and as a user at the command line
// meet them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  environmentOf,
  type FakeServer,
  freeUrl,
  hangs,
  ollamaRoutes,
  type Route,
  replying,
  startFakeServer,
} from "../kit/fake-local-servers.js";
import { createPrintRig } from "../kit/print-rig.js";
import { ensureBuilt, RpcHost, type StartOptions } from "../kit/rpc-host.js";

const chat = "/v1/chat/completions";
const found: [string, Record<string, Route>, string, number][] = [
  ["ollama", ollamaRoutes([{ id: "q:8b", loaded: 32_768 }]), "q:8b", 32_768],
  [
    "lm-studio",
    { "/api/v0/models": { data: [{ id: "q", type: "llm", state: "not-loaded", max_context_length: 50_000 }] } },
    "q",
    50_000,
  ],
  [
    "llama.cpp",
    { "/props": { default_generation_settings: { n_ctx: 40_000 } }, "/v1/models": { data: [{ id: "q" }] } },
    "q",
    40_000,
  ],
  ["vllm", { "/v1/models": { data: [{ id: "q", owned_by: "vllm", max_model_len: 60_000 }] } }, "q", 60_000],
];

/** The program gives up a server after a second of real time, which a busy machine may need. */
const patient = { retry: 3 };

const rig = createPrintRig();
const servers: FakeServer[] = [];
const hosts: RpcHost[] = [];

beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.models(undefined);
  rig.write("note.txt", "a note\n");
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.dispose();
  for (const server of servers.splice(0)) await server.close();
});
afterAll(rig.remove);

async function serve(routes: Record<string, Route>): Promise<FakeServer> {
  const server = await startFakeServer({ ...routes, [chat]: replying("Hello.") });
  servers.push(server);
  return server;
}

function start(options: StartOptions): RpcHost {
  const host = new RpcHost(options);
  hosts.push(host);
  return host;
}

async function stateOf(host: RpcHost): Promise<{ model: { provider: string; id: string; contextWindow: number } }> {
  host.send({ id: "state", type: "get_state" });
  return (await host.waitForResponse("state")).data as Awaited<ReturnType<typeof stateOf>>;
}

describe("over RPC", () => {
  it.each(found)("the first prompt finds %s and goes there", patient, async (provider, routes, id, contextWindow) => {
    const server = await serve(routes);
    const host = start({ env: await environmentOf({ [provider]: server }) });
    await host.waitForType("ready");
    expect((await stateOf(host)).model).toMatchObject({ provider: "galley", id: "planner" });
    expect(server.requests).toEqual([]);
    host.send({ id: "p", type: "prompt", message: "Hello?" });
    await host.waitForType("agent_settled");
    expect((await stateOf(host)).model).toMatchObject({ provider, id, contextWindow });
    expect(server.requests.at(-1)).toMatchObject({ method: "POST", path: chat, body: { model: id } });
    expect(host.stderr).toBe(`galley: Using ${provider}/${id}, which was found at ${server.url}.\n`);
  });

  it("a server that hangs is in the way of nothing but the prompt, which goes on without it", async () => {
    const hanging = await serve({ "/api/tags": hangs, "/api/ps": hangs });
    const host = start({ env: await environmentOf({ ollama: hanging }) });
    await host.waitForType("ready");
    expect((await stateOf(host)).model.id).toBe("planner");
    expect(hanging.requests).toEqual([]);
    host.send({ id: "p", type: "prompt", message: "help" }, { id: "s", type: "get_state" });
    await host.waitForType("agent_settled");
    // Accepted and answered before the run that waits for the server begins.
    const order = host.frames.map(({ type, id }) => (type === "response" ? id : type));
    expect(order.indexOf("s")).toBeLessThan(order.indexOf("agent_start"));
    expect(order.indexOf("p")).toBeLessThan(order.indexOf("agent_start"));
    expect(hanging.requests.map(({ path }) => path).sort()).toEqual(["/api/ps", "/api/tags"]);
    expect((await stateOf(host)).model.id).toBe("planner");
  });

  it("a host names a model of a server", patient, async () => {
    const server = await serve(ollamaRoutes([{ id: "q:8b", loaded: 32_768 }]));
    const host = start({ env: await environmentOf({ ollama: server }) });
    await host.waitForType("ready");
    host.send({ id: 1, type: "set_model", provider: "ollama", modelId: "q:8b" });
    expect(await host.waitForResponse(1)).toMatchObject({ success: true, data: { contextWindow: 32_768 } });
    host.send({ id: 2, type: "set_model", provider: "ollama", modelId: "other" });
    expect(await host.waitForResponse(2)).toMatchObject({ success: false, error: "Model not found: ollama/other" });
  });

  it("offline asks nobody", async () => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    const host = start({ env: { ...(await environmentOf({ ollama: server })), GALLEY_OFFLINE: "1" } });
    host.send({ id: "p", type: "prompt", message: "help" });
    await host.waitForType("agent_settled");
    expect(server.requests).toEqual([]);
  });
});

describe("one-shot runs", () => {
  it.each(found)("ask the model of %s", patient, async (provider, routes, id) => {
    const server = await serve(routes);
    const env = await environmentOf({ [provider]: server });
    const outcome = await rig.galley(["-p", "fix the bug"], { env });
    expect(outcome).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(outcome.stderr).toContain(`Using ${provider}/${id}, which was found at ${server.url}.`);
    const named = await rig.galley(["--model", `${provider}/${id}`, "-p", "fix the bug"], { env });
    expect(named).toMatchObject({ code: 0, stdout: "Hello.\n" });
  });

  it("go on without a server that hangs", async () => {
    const hanging = await serve({ "/props": hangs });
    const env = await environmentOf({ "llama.cpp": hanging });
    expect(await rig.galley(["-p", "show note.txt"], { env })).toMatchObject({ code: 0, stdout: "a note\n" });
    expect(hanging.requests.map(({ path }) => path)).toEqual(["/props"]);
  });

  it("say that a server does not run: 7", async () => {
    const url = await freeUrl();
    const env = await environmentOf({ ollama: url });
    const text = `Nothing listens at ${url}. Is Ollama running?`;
    const agentDir = join(rig.home, "no-retries");
    mkdirSync(agentDir, { recursive: true });
    writeFileSync(join(agentDir, "config.yml"), "retry: { enabled: false }\n");
    for (const named of [
      ["--model", "ollama/q"],
      ["--provider", "ollama"],
      ["--model", "ollama"],
    ]) {
      const run = { env: { ...env, GALLEY_AGENT_DIR: agentDir } };
      const outcome = await rig.galley([...named, "-p", "fix the bug"], run);
      expect([outcome.code, outcome.stdout]).toEqual([7, ""]);
      expect(outcome.stderr).toContain(text);
      expect(outcome.stderr).not.toContain("has a context of"); // nothing has said so
    }
    rig.models("providers: { ollama: { discovery: { type: ollama } } }\n");
    const outcome = await rig.galley(["-p", "show note.txt"], { env });
    expect([outcome.code, outcome.stdout]).toEqual([7, ""]);
    expect(outcome.stderr).toContain(text);
  });

  it("know no model that the server does not have: 1", patient, async () => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    const env = await environmentOf({ ollama: server });
    const outcome = await rig.galley(["--model", "ollama/other", "-p", "fix the bug"], { env });
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("Model not found: ollama/other");
  });

  it("do not send a key that was given for no model: 2", patient, async () => {
    const server = await serve(ollamaRoutes([{ id: "q", loaded: 32_768 }]));
    const env = await environmentOf({ ollama: server });
    const outcome = await rig.galley(["--api-key", "key-0123456789", "-p", "fix the bug"], { env });
    expect(outcome.code).toBe(2);
    expect(server.requests.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
    const named = await rig.galley(["--api-key", "key-0123456789", "--model", "ollama/q", "-p", "hi"], { env });
    expect(named.code).toBe(0);
    expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer key-0123456789");
  });

  it("take the first choice of a server that is named alone", patient, async () => {
    const server = await serve(ollamaRoutes([{ id: "old" }, { id: "q", loaded: 32_768 }]));
    const env = await environmentOf({ ollama: server });
    const outcome = await rig.galley(["--model", "ollama", "-p", "fix the bug"], { env });
    expect(outcome).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(server.requests.at(-1)).toMatchObject({ path: chat, body: { model: "q" } });
  });

  it("ask nobody offline", async () => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    const env = { ...(await environmentOf({ ollama: server })), GALLEY_OFFLINE: "1" };
    expect(await rig.galley(["-p", "show note.txt"], { env })).toMatchObject({ code: 0, stdout: "a note\n" });
    expect(server.requests).toEqual([]);
  });
});

describe("galley models", () => {
  it("lists what the servers have, free and with their windows", patient, async () => {
    const server = await serve(ollamaRoutes([{ id: "old" }, { id: "q:8b", loaded: 32_768 }]));
    const { code, stdout } = await rig.galley(["models"], { env: await environmentOf({ ollama: server }) });
    expect(code).toBe(0);
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));
    expect(rows.slice(1, 3)).toEqual([
      ["ollama/q:8b *", "32k", "16k", "free", "free", "text", "-"],
      ["ollama/old", "4k", "2k", "free", "free", "text", "-"],
    ]);
  });

  it("asks nobody offline", async () => {
    const server = await serve(ollamaRoutes([{ id: "q" }]));
    const env = { ...(await environmentOf({ ollama: server })), GALLEY_OFFLINE: "1" };
    expect((await rig.galley(["models", "--provider", "ollama"], { env })).stdout).toBe("");
    expect(server.requests).toEqual([]);
  });
});

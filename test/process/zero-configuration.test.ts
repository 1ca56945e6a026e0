// A key alone is enough: each variable that holds one, in an empty home, with the service's address on the loopback.
// Nothing of the project has a say in it.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type KnownProvider, knownProviders } from "../../src/provider/provider-list.js";
import { isSupportedApi } from "../../src/provider/stream-by-api.js";
import {
  anthropic,
  openAi,
  type Reply,
  type ScriptedServer,
  sse,
  startScriptedServer,
} from "../../src/testing/index.js";
import { createPrintRig, jsonLines } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => rig.newProject());
afterAll(rig.remove);

const key = "test-key-0123456789";
const answer = "Hello.";

const replies: Record<KnownProvider["api"], Reply> = {
  "anthropic-messages": anthropic.text(answer),
  "openai-completions": openAi.text(answer),
  "openai-responses": responsesReply(),
  "google-generative-ai": {
    steps: [
      sse({
        candidates: [{ content: { role: "model", parts: [{ text: answer }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
      }),
    ],
  },
};

function responsesReply(): Reply {
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text: answer, annotations: [] }];
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  const events = [
    { type: "response.created", response: { id: "resp_1", status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.output_text.delta", output_index: 0, item_id: "msg_1", content_index: 0, delta: answer },
    { type: "response.output_item.done", output_index: 0, item: { ...item, content } },
    {
      type: "response.completed",
      response: { id: "resp_1", status: "completed", output: [{ ...item, content }], usage },
    },
  ];
  return { steps: events.map((event) => sse(event, event.type)) };
}

async function withServer<T>(script: readonly Reply[], use: (server: ScriptedServer) => Promise<T>): Promise<T> {
  const server = await startScriptedServer(script);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const keyHeaders = ({ requests: [request] }: ScriptedServer, secret = key) =>
  Object.entries(request?.headers ?? {})
    .filter(([, value]) => String(value).includes(secret))
    .map(([name]) => name);

const supported = knownProviders.filter(({ api }) => isSupportedApi(api));
const keys = supported.flatMap((provider) => provider.keyNames.map((name) => ({ name, provider })));

describe.each(keys)("$name alone", ({ name, provider }) => {
  const { baseUrlNames, api } = provider;

  it.each(baseUrlNames)("is enough: galley -p answers, and the key is in one header (%s)", (baseUrlName) =>
    withServer([replies[api]], async (server) => {
      const env = { [name]: key, [baseUrlName]: `${server.url}/v1` };
      const { code, stdout, stderr } = await rig.galley(["-p", "hi", "--quiet"], { env });
      expect([code, stdout, stderr]).toEqual([0, `${answer}\n`, ""]);
      expect(keyHeaders(server)).toHaveLength(1);
      expect(server.requests[0]?.path).not.toContain(key);
    }),
  );

  it("tells a host the model with window and price", async () => {
    const env = { [name]: key };
    const outcome = await rig.galley(["--mode", "rpc"], { env, input: '{"id":"s","type":"get_state"}\n' });
    const state = jsonLines(outcome).find(({ id }) => id === "s")?.data as { model: Record<string, unknown> };
    expect(state.model).toMatchObject({ provider: provider.id, api, baseUrl: provider.baseUrl });
    expect(provider.defaults?.[0] ?? state.model.id).toBe(state.model.id);
    expect(state.model.contextWindow).toBeGreaterThan(100_000);
    expect((state.model.cost as { input: number }).input).toBeGreaterThan(0);
    expect(outcome.stderr).toBe("");
  });
});

describe("a key", () => {
  it("in auth.json alone is enough", () =>
    withServer([openAi.text(answer)], async (server) => {
      const agentDir = join(rig.cwd, "agent");
      mkdirSync(agentDir);
      const stored = JSON.stringify({ groq: { type: "api_key", key } });
      writeFileSync(join(agentDir, "auth.json"), stored, { mode: 0o600 });
      const env = { GALLEY_AGENT_DIR: agentDir, GROQ_BASE_URL: server.url };
      expect((await rig.galley(["-p", "hi"], { env })).stdout).toBe(`${answer}\n`);
      expect(keyHeaders(server)).toEqual(["authorization"]);
    }));

  it("of ANTHROPIC_AUTH_TOKEN is a bearer token, and the usual one is not", async () => {
    for (const [name, header] of [
      ["ANTHROPIC_AUTH_TOKEN", "authorization"],
      ["ANTHROPIC_API_KEY", "x-api-key"],
    ] as const)
      await withServer([anthropic.text(answer)], async (server) => {
        await rig.galley(["-p", "hi"], { env: { [name]: key, ANTHROPIC_BASE_URL: server.url } });
        expect(keyHeaders(server)).toEqual([header]);
        expect(server.requests[0]?.path).toBe("/v1/messages");
      });
  });

  it("for several services: the first in the order is used, and the planner only by name", async () => {
    await withServer([anthropic.text(answer)], async (server) => {
      const env = { GROQ_API_KEY: "other", ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url };
      expect((await rig.galley(["-p", "help"], { env })).stdout).toBe(`${answer}\n`);
      expect(server.requests[0]?.body).toMatchObject({ model: "claude-sonnet-5" });
      const planner = await rig.galley(["--model", "planner", "-p", "help"], { env });
      expect(planner.stdout).toContain("I am galley's planner");
    });
  });
});

describe("an address", () => {
  it("that names another host may have models that the table does not", () =>
    withServer([openAi.text(answer)], async (server) => {
      const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${server.url}/v1` };
      const { code, stdout } = await rig.galley(["--model", "openai/qwen3:30b", "-p", "hi"], { env });
      expect([code, stdout]).toEqual([0, `${answer}\n`]);
      expect(server.requests[0]).toMatchObject({
        path: "/v1/chat/completions",
        body: { model: "qwen3:30b", max_tokens: 16_384, messages: [{ role: "system" }, { role: "user" }] },
      });
    }));

  it("without TLS is refused by the name of its variable", async () => {
    const env = { GROQ_API_KEY: key, GROQ_BASE_URL: "http://llm.example/v1" };
    const { code, stderr } = await rig.galley(["-p", "hi", "--quiet"], { env });
    expect([code, stderr]).toEqual([
      7,
      "galley: Refused to send a request to http://llm.example (from GROQ_BASE_URL): only https is allowed, and plain http only to this machine.\n",
    ]);
  });

  it("with a query, a user name or a password is refused, and shown to nobody with them", async () => {
    const refused = async (url: string) => {
      const env = { GROQ_API_KEY: key, GROQ_BASE_URL: url };
      const { code, stderr } = await rig.galley(["-p", "hi", "--quiet"], { env });
      const listed = await rig.galley(["models", "--provider", "groq", "--json"], { env });
      const state = await rig.galley(["--mode", "rpc"], { env, input: '{"id":"s","type":"get_state"}\n' });
      expect(code).toBe(7);
      expect(listed.stdout + state.stdout).toContain('"baseUrl":"http://127.0.0.1:9/v1"');
      expect(listed.stdout + state.stdout).not.toContain("hush");
      return stderr;
    };
    expect(await refused("http://me:hush-0123@127.0.0.1:9/v1")).toBe(
      "galley: The model's baseUrl (from GROQ_BASE_URL) must not hold a user name or a password.\n",
    );
    expect(await refused("http://127.0.0.1:9/v1?key=hush-0123")).toBe(
      "galley: The model's baseUrl (from GROQ_BASE_URL) must not hold a query or a fragment.\n",
    );
  });

  it("and a key of a project's .env do not count", async () => {
    rig.write(".env", "GROQ_API_KEY=theirs\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n");
    rig.write("note.txt", "a note\n");
    expect(await rig.galley(["-p", "show note.txt"])).toMatchObject({ code: 0, stdout: "a note\n" });
    await withServer([openAi.text(answer)], async (server) => {
      const env = { GROQ_API_KEY: key, GROQ_BASE_URL: server.url, GALLEY_LOAD_PROJECT_ENV: "1" };
      await rig.galley(["-p", "hi"], { env });
      expect(keyHeaders(server)).toEqual(["authorization"]);
    });
  });
});

it("without a key, the table is no reason for a word on stderr", async () => {
  rig.write("note.txt", "a note\n");
  const { code, stderr } = await rig.galley(["-p", "show note.txt", "--quiet"]);
  expect([code, stderr]).toEqual([0, ""]);
  const outcome = await rig.galley(["--mode", "rpc"], { input: '{"id":"s","type":"get_state"}\n' });
  expect(outcome.stderr).toBe("");
});

it("the name of a service means its usual model", () =>
  withServer([anthropic.text(answer)], async (server) => {
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url, OPENROUTER_API_KEY: "other" };
    expect((await rig.galley(["--model", "anthropic:low", "-p", "hi"], { env })).stdout).toBe(`${answer}\n`);
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-sonnet-5", output_config: { effort: "low" } });
  }));

it("a name that means nothing is answered with those like it", async () => {
  const { code, stderr } = await rig.galley(["--model", "claude-sonet-5", "-p", "hi"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^galley: Model not found: claude-sonet-5\. Did you mean anthropic\/claude-sonnet-5(, [^ ]+){2}\? See: galley models --all\n$/,
  );
});

// `galley models` in the built program: the table, its options, and what it says when there is nothing to list.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { createPrintRig } from "../kit/print-rig.js";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.models(undefined);
});
afterAll(rig.remove);

const own = `providers:
  acme:
    baseUrl: https://llm.example
    api: openai-completions
    apiKey: "!echo ran > ran.txt"
    headers: { X-Secret: header-secret }
    models:
      - { id: fable, contextWindow: 32768, maxTokens: 16384, cost: { input: 0.075, output: 1 } }
      - { id: deep, reasoning: true, input: [text, image], compat: { extraBody: { token: body-secret } } }
      - { id: open, cost: { input: 0, output: 0 } }
`;
const key = { MINIMAX_API_KEY: "k" };

describe("a model that is not in the table", () => {
  const ask = async (model: string, ...replies: Reply[]) => {
    const server = await startScriptedServer(replies);
    rig.models(`providers:\n  groq: { baseUrl: "${server.url}/v1", apiKey: k0123456789 }\n`);
    const outcome = await rig.galley(["-p", "--model", model, "go"]);
    await server.close();
    return { ...outcome, sent: server.requests.map(({ body }) => (body as { model: string }).model) };
  };

  it("is not found where it looks like a misspelt one, and nothing is sent", async () => {
    const { code, stderr, sent } = await ask("groq/llama-3.3-70b-versatle");
    expect([code, sent]).toEqual([1, []]);
    expect(stderr).toBe(
      "galley: Model not found: groq/llama-3.3-70b-versatle. Did you mean groq/llama-3.3-70b-versatile? " +
        "See: galley models --all\n",
    );
  });

  it.each(["llama-3-3-70b-versatile", "Llama-3.3-70B-Versatile"])("is the one that %s means", async (name) => {
    const { code, stderr, sent } = await ask(`groq/${name}`, openAi.text("Hello."));
    expect([code, sent]).toEqual([0, ["llama-3.3-70b-versatile"]]);
    expect(stderr).not.toContain("table");
  });

  it("is not found over RPC either, at the start and by set_model", async () => {
    // Of another host the table does not tell everything.
    const env = { GROQ_API_KEY: "k0123456789", GROQ_BASE_URL: "http://127.0.0.1:9/v1" };
    const misspelt = new RpcHost({ env, args: ["--model", "groq/llama-3.3-70b-versatle"] });
    expect(await misspelt.exit()).toMatchObject({ code: 1 });
    expect(misspelt.stderr).toBe(
      "Model not found: groq/llama-3.3-70b-versatle. Did you mean groq/llama-3.3-70b-versatile?\n",
    );
    await misspelt.dispose();
    const host = new RpcHost({ env });
    await host.waitForType("ready");
    const setTo = async (modelId: string) => {
      host.send({ id: modelId, type: "set_model", provider: "groq", modelId });
      return host.waitForResponse(modelId);
    };
    expect(await setTo("llama-3.3-70b-versatle")).toMatchObject({
      success: false,
      error: "Model not found: groq/llama-3.3-70b-versatle",
    });
    expect(await setTo("quite-new")).toMatchObject({ success: true });
    await host.dispose();
  });

  it("is tried at the service itself as well, where none is near", async () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-0123456789", HTTPS_PROXY: "http://127.0.0.1:9" };
    const { code, stderr } = await rig.galley(["-p", "--model", "anthropic/quite-new", "go"], { env });
    expect([code, stderr.split("\n")[0]]).toEqual([
      7,
      "galley: anthropic/quite-new is not in galley's table of models. It may be newer, so it is tried.",
    ]);
    const misspelt = await rig.galley(["-p", "--model", "anthropic/claude-sonet-4-5", "go"], { env });
    expect([misspelt.code, misspelt.stderr]).toEqual([1, expect.stringContaining("Did you mean anthropic/claude-son")]);
  });

  it("is tried where none is near, since it may be newer, and one line says so", async () => {
    for (const name of ["groq/llama-9.9-70b-versatile", "groq/quite-new"]) {
      const { code, stdout, stderr } = await ask(name, openAi.text("Hello."));
      expect([code, stdout]).toEqual([0, "Hello.\n"]);
      expect(stderr).toContain(`${name} is not in galley's table of models. It may be newer, so it is tried.\n`);
    }
  });

  it("nothing is said of one that is there", async () => {
    const { code, stderr } = await ask("groq/llama-3.3-70b-versatile", openAi.text("Hello."));
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("table")]);
  });
});

describe("galley models", () => {
  it("shows what can be used, in columns, with the one that is used now", async () => {
    rig.models(own);
    const { code, stdout, stderr } = await rig.galley(["models"]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = stdout.split("\n");
    expect(lines.slice(0, 2)).toEqual([
      "MODEL         CONTEXT  OUTPUT  IN $/M  OUT $/M  INPUT       THINKING",
      "acme/fable *      32k     16k   0.075     1.00  text        -",
    ]);
    expect(lines[2]).toMatch(/^acme\/deep {8}128k {5}16k .* text image {2}minimal-high$/);
    expect(lines[3]).toBe("acme/open        128k     16k    free     free  text        -");
    expect(lines.slice(4)).toEqual(["* used now. 16 more providers: galley models --all.", ""]);
  });

  it("shows the table of a service with a key, and of when its prices are", async () => {
    const { stdout } = await rig.galley(["models"], { env: key });
    const [, first = ""] = stdout.split("\n");
    expect(first).toMatch(/^minimax\/MiniMax-M3 \* +1M +524k +0\.30 +1\.20 {2}text/);
    expect(stdout).toMatch(/\n\* used now\. 15 more providers: galley models --all\. Prices of 20\d\d-\d\d-\d\d\.\n$/);
  });

  it("finds by part of a name, and by provider", async () => {
    const found = async (...words: string[]) =>
      (await rig.galley(["models", ...words], { env: key })).stdout.match(/^\S+\/\S+/gm) ?? [];
    expect(await found("M3")).toEqual(["minimax/MiniMax-M3", "minimax/MiniMax-M3.1-Flash"]);
    expect(await found("--provider", "minimax", "m2.7")).toHaveLength(2);
    expect(await found("--provider=groq")).toEqual([]);
    expect((await found("--provider", "groq", "--all")).length).toBeGreaterThan(3);
    expect(await found("nothing of the kind")).toEqual([]);
  });

  it("--all adds what cannot be used, and what it needs", async () => {
    const { stdout } = await rig.galley(["models", "--all", "gpt-oss-120b"], { env: key });
    expect(stdout).toMatch(/^groq\/openai\/gpt-oss-120b .* needs GROQ_API_KEY$/m);
    expect(stdout).toMatch(/^cerebras\/gpt-oss-120b .* needs CEREBRAS_API_KEY$/m);
    expect(stdout).not.toContain("more providers");
  });

  it("--json prints models without secrets, with where their key is from or what is missing", async () => {
    rig.models(own);
    const { stdout } = await rig.galley(["models", "--json", "--all"], { env: key });
    const models = JSON.parse(stdout) as Record<string, unknown>[];
    const named = (id: string) => models.find((model) => model.id === id);
    expect(named("MiniMax-M3")).toMatchObject({ available: true, source: "MINIMAX_API_KEY", isDefault: false });
    // The first that the user has listed.
    expect(models.filter(({ isDefault }) => isDefault).map(({ provider }) => provider)).toEqual(["acme"]);
    expect(named("fable")).toMatchObject({ available: true, source: "models.yml" });
    expect(named("devstral-medium-latest")).toMatchObject({ available: false, missing: "MISTRAL_API_KEY" });
    expect(named("devstral-medium-latest")).not.toHaveProperty("source");
    expect(stdout).not.toContain("secret");
    expect(models.some(({ provider }) => provider === "galley")).toBe(false);
    expect(JSON.parse((await rig.galley(["models", "--json"])).stdout)).toHaveLength(3);
  });

  it("says how to get a key where there is none", async () => {
    expect(await rig.galley(["models"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "No key found. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, … or run: galley login\n",
    });
    expect((await rig.galley(["models", "--json"])).stdout).toBe("[]\n");
  });

  it.each([
    [["--al"], "Unknown option --al. Did you mean --all?"],
    [["--all=1"], "Unknown option --all=1."],
    [["--provider"], "--provider needs a value."],
    [["--provider", "grok"], "Unknown provider grok. Did you mean groq?"],
  ])("refuses %j with 2", async (words, text) => {
    const { code, stdout, stderr } = await rig.galley(["models", ...words]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(text);
  });

  it("runs no command that gives a key", async () => {
    rig.models(own);
    await rig.galley(["models", "--all"]);
    await rig.galley(["--list-models"]);
    expect((await rig.galley(["tools", "run", "ls", "{}"])).stdout).not.toContain("ran.txt");
  });
});

it("--list-models prints names", async () => {
  const { stdout } = await rig.galley(["--list-models", "m3"], { env: key });
  expect(stdout).toBe("minimax/MiniMax-M3\nminimax/MiniMax-M3.1-Flash\n");
});

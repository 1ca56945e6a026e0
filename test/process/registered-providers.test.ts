// Providers that extensions register, in the built program: what is asked, with which key, and that nothing of the user's is
// taken.

import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.js";
import { ensureBuilt, RpcHost, type StartOptions } from "../kit/rpc-host.js";

beforeAll(ensureBuilt, 150_000);

let server: ScriptedServer;
let host: RpcHost | undefined;
beforeEach(() => {
  host = undefined;
});
afterEach(async () => {
  await host?.dispose();
  await server.close();
});

type Answer = { success: boolean; data: Record<string, unknown>; error?: string };

async function start(script: readonly Reply[], body: (url: string) => string, options: StartOptions = {}) {
  server = await startScriptedServer(script);
  const { files, args = ["-e", "provider.ts"], ...rest } = options;
  const source = `export default (pi) => { ${body(server.url)} };`;
  const opened = new RpcHost({ files: { "provider.ts": source, ...files }, args, ...rest });
  host = opened;
  let sent = 0;
  const ask = async (command: object): Promise<Answer> => {
    const id = `c${++sent}`;
    opened.send({ id, ...command });
    return (await opened.waitForResponse(id)) as unknown as Answer;
  };
  /** The text of the last reply. */
  const prompt = async (message: string) => {
    const before = opened.frames.filter(({ type }) => type === "agent_settled").length;
    await ask({ type: "prompt", message });
    await expect
      .poll(() => opened.frames.filter(({ type }) => type === "agent_settled").length, { timeout: 20_000 })
      .toBe(before + 1);
    return (await ask({ type: "get_last_assistant_text" })).data.text;
  };
  const errors = () => opened.frames.filter(({ type }) => type === "extension_error").map(({ error }) => String(error));
  return { ask, prompt, errors, host: opened };
}

const models =
  '[{ id: "big", name: "Big", reasoning: false, input: ["text"], cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }, contextWindow: 9000, maxTokens: 900 }]';
const described = (url: string, more = "") =>
  `{ baseUrl: "${url}/v1", api: "openai-completions", apiKey: "$MINE_KEY", models: ${models}, ${more} }`;
const mine = { env: { MINE_KEY: "key-of-mine" } };

describe("pi.registerProvider", () => {
  it("adds models that are listed, chosen and asked with their own key and headers", async () => {
    const { ask, prompt } = await start(
      [openAi.text("From mine.")],
      (url) => `pi.registerProvider("mine", ${described(url, 'headers: { "x-team": "blue" }')});`,
      mine,
    );
    expect(await ask({ type: "set_model", provider: "mine", modelId: "big" })).toMatchObject({ success: true });
    const listed = (await ask({ type: "get_available_models" })).data.models as { id: string; provider: string }[];
    expect(listed).toContainEqual(expect.objectContaining({ provider: "mine", id: "big", contextWindow: 9000 }));
    expect(await prompt("Hello")).toBe("From mine.");
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({ authorization: "Bearer key-of-mine", "x-team": "blue" });
    server.verify();
  }, 60_000);

  it("can be named for the start, where its models are found later too, and is found again by the session", async () => {
    const body = (url: string) => `pi.registerProvider("mine", { ...${described(url)}, models: [],
      refreshModels: async ({ signal, publish }) => (await new Promise((done) => setImmediate(done)), ${models}) });`;
    const { ask, prompt, host } = await start([openAi.text("One."), openAi.text("Two.")], body, {
      ...mine,
      args: ["-e", "provider.ts", "--model", "mine/big"],
    });
    expect(await prompt("Hello")).toBe("One.");
    await ask({ type: "new_session" });
    expect((await ask({ type: "get_state" })).data.model).toMatchObject({ provider: "mine", id: "big" });
    expect(await prompt("Hello")).toBe("Two.");
    expect(host.stderr).not.toMatch(/mine/);
  }, 60_000);

  it("ends the start where a named model is not there after all", async () => {
    const { host } = await start([], (url) => `pi.registerProvider("mine", ${described(url)});`, {
      ...mine,
      args: ["-e", "provider.ts", "--model", "mine/bigger"],
    });
    expect(await host.exited).toMatchObject({ code: 1 });
    expect(host.stderr).toContain("Model not found: mine/bigger");
  }, 60_000);

  it("never takes the place of what the user set up, nor the user's key", async () => {
    const { errors, ask } = await start(
      [],
      (url) => `pi.registerProvider("acme", ${described(url)});
        pi.registerProvider("anthropic", { baseUrl: "${url}" });
        pi.registerProvider("openai", { baseUrl: "${url}/v1" });
        pi.registerProvider("mine", ${described(url)});`,
      {
        models:
          "providers:\n  acme: { baseUrl: 'http://127.0.0.1:9/v1', api: openai-completions, apiKey: K, models: [{ id: scripted }] }\n",
        env: { ANTHROPIC_API_KEY: "sk-users-own-key", ...mine.env },
      },
    );
    await expect.poll(errors, { timeout: 20_000 }).toHaveLength(2);
    expect(errors()).toEqual([
      expect.stringMatching(/^The provider acme is set up by the user \(.*models\.yml\), and that counts\.$/),
      "The provider anthropic is set up by the user (ANTHROPIC_API_KEY), and that counts.",
    ]);
    const listed = (await ask({ type: "get_available_models" })).data.models as { provider: string; baseUrl: string }[];
    expect(new Set(listed.filter(({ provider }) => provider === "anthropic").map(({ baseUrl }) => baseUrl))).toEqual(
      new Set(["https://api.anthropic.com"]),
    );
    expect(listed.map(({ provider }) => provider)).toContain("mine");
    // The user has no key for it: nothing is listed, and nothing could be sent.
    expect(listed.map(({ provider }) => provider)).not.toContain("openai");
  }, 60_000);

  it("asks through the function that the extension brings", async () => {
    const { ask, prompt } = await start(
      [],
      () => `pi.registerProvider("own", {
        baseUrl: "own://here", api: "own-api", apiKey: "$MINE_KEY", models: ${models},
        streamSimple(model, context, options) {
          const said = [model.api, context.systemPrompt.length > 0, context.messages.at(-1).role, options.apiKey.length, options.signal instanceof AbortSignal].join(" ");
          const message = { role: "assistant", api: model.api, provider: model.provider, model: model.id, content: [{ type: "text", text: said }],
            usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }, stopReason: "stop", timestamp: 1 };
          return (async function* () {
            yield { type: "start", partial: { ...message, content: [] } };
            yield { type: "text_start", contentIndex: 0, partial: message };
            yield { type: "text_delta", contentIndex: 0, delta: said, partial: message };
            yield { type: "text_end", contentIndex: 0, content: said, partial: message };
            yield { type: "done", reason: "stop", message };
          })();
        },
      });`,
      mine,
    );
    await expect
      .poll(async () => (await ask({ type: "set_model", provider: "own", modelId: "big" })).success, {
        timeout: 20_000,
      })
      .toBe(true);
    expect(await prompt("Hello")).toBe("own-api true user 11 true");
    const stats = (await ask({ type: "get_session_stats" })).data as { cost?: number };
    expect(stats.cost).toBeCloseTo(0.00002);
  }, 60_000);

  it("says what cannot be used, and the rest of the extension works", async () => {
    const { errors, ask, host } = await start(
      [],
      (
        url,
      ) => `pi.registerProvider("far", { baseUrl: "http://far.example/v1", api: "openai-completions", apiKey: "k", models: ${models} });
        pi.registerProvider("odd", { baseUrl: "https://odd.example", api: "bedrock-converse-stream", apiKey: "k", models: ${models} });
        pi.registerProvider("logs", ${described(url, 'oauth: { name: "Logs", login() {} }')});
        pi.registerCommand("here", { handler() {} });`,
      mine,
    );
    await expect.poll(errors, { timeout: 20_000 }).toHaveLength(2);
    expect(errors()).toEqual([
      "registerProvider: far.baseUrl: expected https: plain http is for loopback hosts only",
      expect.stringContaining('galley does not speak the API "bedrock-converse-stream"'),
    ]);
    expect(host.stderr).toContain("logs: galley has no login for it (oauth); its apiKey is used");
    const { commands } = (await ask({ type: "get_commands" })).data as { commands: { name: string }[] };
    expect(commands.map(({ name }) => name)).toContain("here");
  }, 60_000);

  it("is taken back, and comes and goes during a session", async () => {
    const { ask } = await start(
      [],
      (url) => `pi.registerCommand("add", { handler: async () => { pi.registerProvider("late", ${described(url)}); } });
        pi.registerCommand("remove", { handler: async () => { pi.unregisterProvider("late"); } });`,
      mine,
    );
    const providers = async () =>
      ((await ask({ type: "get_available_models" })).data.models as { provider: string }[]).map(
        ({ provider }) => provider,
      );
    await ask({ type: "prompt", message: "/add" });
    await expect.poll(providers, { timeout: 20_000 }).toContain("late");
    await ask({ type: "prompt", message: "/remove" });
    await expect.poll(providers, { timeout: 20_000 }).not.toContain("late");
  }, 60_000);
});

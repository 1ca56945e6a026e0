// What a models file says of a service, seen in the request that the service gets over HTTP and in what the host is told.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { logTo } from "../../../src/base/log.js";
import { Settings } from "../../../src/config/settings/settings.js";
import { createAgentSession } from "../../../src/sdk/create-agent-session.js";
import { anthropic, openAi } from "../../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../../src/testing/scripted-server.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let server: ScriptedServer;
afterEach(() => server.close());

/** One prompt for each reply, to the model `m` of the provider `acme`, whose key is `the-key`. */
async function ask(provider: Record<string, unknown>, replies: readonly Reply[], temperature = -1) {
  server = await startScriptedServer(replies);
  const home = temporaryDirectory();
  const acme = { baseUrl: server.url, apiKey: "the-key", models: [{ id: "m" }], ...provider };
  mkdirSync(join(home, "agent"));
  writeFileSync(join(home, "agent/models.json"), JSON.stringify({ providers: { acme } }));
  const settings = new Settings();
  settings.override("temperature", temperature);
  const lines: string[] = [];
  const { session } = await createAgentSession({
    cwd: home,
    agentDir: join(home, "agent"),
    env: {},
    settings,
    modelPattern: "acme/m",
    contextFiles: [],
    rules: [],
    log: logTo((line) => lines.push(line.trimEnd())),
  });
  for (const _reply of replies) await session.prompt("Hello");
  const carriers = server.requests.map(({ headers }) =>
    Object.keys(headers).filter((name) => String(headers[name]).includes("the-key")),
  );
  const stats = session.getSessionStats();
  session.dispose();
  return { carriers, lines, stats, requests: server.requests };
}

describe("the key", () => {
  it.each<[string, Record<string, unknown>, Reply, string, string]>([
    ["an API's own", { api: "anthropic-messages" }, anthropic.text("Hi"), "x-api-key", "the-key"],
    [
      "bearer",
      { api: "anthropic-messages", authHeader: true },
      anthropic.text("Hi"),
      "authorization",
      "Bearer the-key",
    ],
    ["a named", { api: "openai-completions", keyHeader: "api-key" }, openAi.text("Hi"), "api-key", "the-key"],
  ])("goes in %s header, and in no other", async (_name, provider, reply, header, value) => {
    const { carriers, requests } = await ask(provider, [reply]);
    expect(carriers).toEqual([[header]]);
    expect(requests[0]?.headers[header]).toBe(value);
  });
});

describe("sampling", () => {
  it("is left out with one warning where the service takes none", async () => {
    const provider = { api: "openai-completions", compat: { supportsTemperature: false } };
    const { lines, requests } = await ask(provider, [openAi.text("1"), openAi.text("2")], 0.5);
    expect(lines).toEqual(["galley: acme/m takes no sampling options: temperature not sent."]);
    for (const { body } of requests) expect(body).not.toHaveProperty("temperature");
  });
});

describe("cost", () => {
  const usage = { prompt_tokens: 300_000, completion_tokens: 1000, total_tokens: 301_000 };
  const reply = (told: object): Reply => ({ steps: [openAi.chunk({ content: "x" }), ...openAi.finish("stop", told)] });
  const tiers = [{ inputTokensAbove: 200_000, input: 2, output: 8 }];
  const models = [{ id: "m", cost: { input: 1, output: 4, tiers } }];
  const costOf = async (provider: object, told: object) =>
    (await ask({ api: "openai-completions", ...provider }, [reply(told)])).stats.cost;

  it("is counted by the size of the prompt", async () => {
    // 300,000 at 2 dollars and 1000 at 8.
    expect(await costOf({ models }, usage)).toBeCloseTo(0.608, 10);
  });

  it("is what a router has billed", async () => {
    expect(await costOf({ models }, { ...usage, cost: 0.5 })).toBe(0.5);
  });

  it("is nothing where no price is known, unless a router tells", async () => {
    expect(await costOf({}, usage)).toBe(0);
  });
});

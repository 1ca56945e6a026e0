// The recipes in examples/models: galley's own reader takes each without a warning, and a request goes out as it says, to
// the loopback in place of the service.

import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isSupportedApi } from "../../src/provider/stream-by-api.js";
import { loadModelRegistry } from "../../src/sdk/load-models.js";
import { openAi, type Reply, sse, startScriptedServer } from "../../src/testing/index.js";
import { createPrintRig } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

interface Recipe {
  readonly name: string;
  readonly api: string;
  readonly model: string;
  /** Of the request. */
  readonly path: string;
  readonly keyHeader?: string;
  readonly env?: Record<string, string>;
}

const key = "recipe-key-0123456789";
const completions = { api: "openai-completions", path: "/base/chat/completions", keyHeader: "authorization" };

const recipes: readonly Recipe[] = [
  {
    name: "azure.yml",
    api: "openai-responses",
    model: "azure/DEPLOYMENT",
    path: "/base/responses",
    keyHeader: "api-key",
    env: { AZURE_OPENAI_API_KEY: key },
  },
  {
    ...completions,
    name: "bedrock.yml",
    model: "bedrock/openai.gpt-oss-120b-1:0",
    env: { AWS_BEARER_TOKEN_BEDROCK: key },
  },
  { ...completions, name: "github-models.yml", model: "github-models/openai/gpt-4.1", env: { GITHUB_TOKEN: key } },
  { ...completions, name: "litellm.yml", model: "litellm/MODEL", env: { LITELLM_API_KEY: key } },
  { name: "ollama.yml", api: completions.api, path: completions.path, model: "ollama/qwen3-coder:30b" },
  {
    ...completions,
    name: "openrouter.yml",
    model: "openrouter/anthropic/claude-sonnet-5",
    env: { OPENROUTER_API_KEY: key },
  },
  {
    name: "vertex.yml",
    api: "google-generative-ai",
    model: "vertex/gemini-2.5-pro",
    path: "/base/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    keyHeader: "authorization",
  },
];

const folder = join(projectRoot, "examples/models");
const rig = createPrintRig();
const programs = temporaryDirectory();
beforeAll(async () => {
  await ensureBuilt();
  writeFileSync(join(programs, "gcloud"), `#!/bin/sh\necho ${key}\n`);
  chmodSync(join(programs, "gcloud"), 0o755);
}, 150_000);
beforeEach(() => rig.newProject());
afterAll(rig.remove);

it("every recipe is here", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".yml"));
  expect(files.sort()).toEqual(recipes.map(({ name }) => name).sort());
});

const isReady = ({ api }: Recipe) => isSupportedApi(api);
for (const { name, api } of recipes.filter((recipe) => !isReady(recipe)))
  console.log(`Skipped: ${name}, because this version does not know ${api}.`);

describe.each(recipes.filter(isReady))("$name", ({ name, api, model, path, keyHeader, env = {} }) => {
  const text = readFileSync(join(folder, name), "utf8");

  it("is read without a warning, and its model can be used", async () => {
    const agentDir = temporaryDirectory();
    writeFileSync(join(agentDir, "models.yml"), text);
    const told: string[] = [];
    const log = { warn: (line: string) => void told.push(line), error: (line: string) => void told.push(line) };
    const registry = await loadModelRegistry({ agentDir, env, log });
    expect(told).toEqual([]);
    const found = registry.select(model);
    expect(found?.model).toMatchObject({ api });
    expect(registry.available()).toContain(found?.model);
  });

  it("sends what the service wants", async () => {
    const server = await startScriptedServer([replyOf(api)]);
    const base = `${server.url}/base`;
    rig.models(text.replace(/baseUrl: \S+/, `baseUrl: ${base}`));
    const more = { ...env, PATH: `${programs}:${process.env.PATH}`, OPENROUTER_BASE_URL: base };
    const { code, stdout, stderr } = await rig.galley(["--model", model, "-p", "hi", "--quiet"], { env: more });
    const [request] = server.requests;
    await server.close();
    // The scripted reply reports fewer tokens than were sent, which galley tells of where the server is a local one.
    const told = stderr.replace(/^galley: ollama\/\S+ has read 10 of .*\n/, "");
    expect([code, stdout, told]).toEqual([0, "Hello.\n", ""]);
    expect(request?.path).toBe(path);
    const carriers = Object.entries(request?.headers ?? {}).filter(([, value]) => String(value).includes(key));
    expect(carriers.map(([header]) => header)).toEqual(keyHeader === undefined ? [] : [keyHeader]);
    if (name === "openrouter.yml") expect(request?.body).toMatchObject({ provider: { data_collection: "deny" } });
  });
});

function replyOf(api: string): Reply {
  if (api === "google-generative-ai") {
    const content = { role: "model", parts: [{ text: "Hello." }] };
    return { steps: [sse({ candidates: [{ content, finishReason: "STOP" }] })] };
  }
  if (api !== "openai-responses") return openAi.text("Hello.");
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text: "Hello.", annotations: [] }];
  const events = [
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.output_text.delta", output_index: 0, item_id: "msg_1", content_index: 0, delta: "Hello." },
    { type: "response.output_item.done", output_index: 0, item: { ...item, content } },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [{ ...item, content }] } },
  ];
  return { steps: events.map((event) => sse(event, event.type)) };
}

// Starts programs.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { silentLog } from "../../base/log.js";
import type { ModelRegistry } from "../../provider/models/model-registry.js";
import type { StreamEvent } from "../../provider/provider.js";
import { streamByApi } from "../../provider/stream-by-api.js";
import { Gate, openAi, type Reply, type ScriptedServer, startScriptedServer } from "../../testing/index.js";
import { collect, streamRequest } from "../../testing/scripted-replies.js";
import { createAgentSession } from "../create-agent-session.js";
import { loadModelRegistry } from "../load-models.js";
import { streamWithKeys } from "./stream-with-keys.js";

const refusal: Reply = {
  status: 401,
  headers: { "content-type": "application/json" },
  body: '{"error":{"message":"Token expired","code":"expired"}}',
};
const hello = () => openAi.text("Hello.");

let agentDir: string;
beforeEach(() => {
  agentDir = temporaryDirectory();
});

/** Prints key-1, key-2 and so on, and counts its runs. */
const counter = "n=$(($(cat runs 2>/dev/null || echo 0) + 1)); echo $n > runs; echo key-$n";
const runs = () => (existsSync(join(agentDir, "runs")) ? Number(readFileSync(join(agentDir, "runs"), "utf8")) : 0);
const env = { PATH: process.env.PATH };

async function serve(replies: readonly Reply[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(replies);
  onTestFinished(() => server.close());
  return server;
}

function put(provider: string, url: string, lines: readonly string[]): void {
  const own = lines.map((line) => `    ${line}\n`).join("");
  writeFileSync(
    join(agentDir, "models.yml"),
    `providers:\n  ${provider}:\n    baseUrl: ${url}/v1\n    api: openai-completions\n${own}    models:\n      - id: m\n`,
  );
}

async function ask(registry: ModelRegistry, given: { apiKey?: string } = {}): Promise<StreamEvent[]> {
  const [model] = registry.available();
  if (!model) throw new Error("no model");
  const apiKey = given.apiKey ?? (await registry.apiKeyFor(model));
  const headers = await registry.headersFor(model);
  const request = streamRequest(model, { headers, ...(apiKey === undefined ? {} : { apiKey }) });
  return collect(streamWithKeys(streamByApi, registry)(request));
}

const load = (changes: Record<string, string> = {}) =>
  loadModelRegistry({ agentDir, env: { ...env, ...changes }, log: silentLog });
const textOf = (events: readonly StreamEvent[]) =>
  events.flatMap((event) =>
    event.type === "error" ? event.errorMessage : event.type === "text_delta" ? event.delta : [],
  );
const bearers = ({ requests }: ScriptedServer) => requests.map(({ headers }) => headers.authorization);

describe("a key from a command that has expired", () => {
  it("is asked for again: one 401, two runs, the turn succeeds and tells of no retry", async () => {
    const server = await serve([refusal, hello()]);
    put("acme", server.url, [`apiKey: "!${counter}"`]);
    const { session } = await createAgentSession({ agentDir, env, cwd: agentDir, contextFiles: [] });
    const types: string[] = [];
    session.subscribe(({ type }) => void types.push(type));
    await session.prompt("hi");
    await session.waitForIdle();
    await session.dispose();
    expect(session.messages.at(-1)).toMatchObject({ stopReason: "stop", content: [{ text: "Hello." }] });
    expect(bearers(server)).toEqual(["Bearer key-1", "Bearer key-2"]);
    expect(runs()).toBe(2);
    expect(types.filter((type) => /retry|error/.test(type))).toEqual([]);
  });

  it("stays the new one for the next request, also in another session of the process", async () => {
    const server = await serve([refusal, hello(), hello(), hello()]);
    put("acme", server.url, [`apiKey: "!${counter}"`]);
    const [first, other] = [await load(), await load()];
    await ask(first);
    await ask(first);
    await ask(other);
    expect(bearers(server)).toEqual(["Bearer key-1", "Bearer key-2", "Bearer key-2", "Bearer key-2"]);
    expect(runs()).toBe(2);
  });

  it("that is refused again is the failure; the next request tries once more", async () => {
    const server = await serve([refusal, refusal, hello()]);
    put("acme", server.url, [`apiKey: "!${counter}"`]);
    const registry = await load();
    const [event] = await ask(registry);
    const text = `HTTP 401 expired: Token expired. The key from models.yml was refused by ${server.url}. Check it; acme is described in models.yml.`;
    expect(event).toMatchObject({ type: "error", errorMessage: text, failure: { kind: "auth", status: 401 } });
    expect(runs()).toBe(2);
    expect(textOf(await ask(registry))).toEqual(["Hello."]);
  });

  it("runs its command once for requests that were refused together", async () => {
    const gates = [new Gate(), new Gate()];
    const refusals = gates.map((gate) => ({ status: 401, steps: [gate.step] }));
    const server = await serve([...refusals, hello(), hello()]);
    put("acme", server.url, [`apiKey: "!${counter}"`]);
    const registry = await load();
    const asked = [ask(registry), ask(registry)];
    for (const { reached } of gates) await reached;
    for (const gate of gates) gate.open();
    const both = await Promise.all(asked);
    expect(both.map(textOf)).toEqual([["Hello."], ["Hello."]]);
    expect(runs()).toBe(2);
  });

  it("in a header counts too", async () => {
    const server = await serve([refusal, hello()]);
    put("acme", server.url, ["auth: none", "headers:", `  X-Token: "!${counter}"`]);
    expect(textOf(await ask(await load()))).toEqual(["Hello."]);
    expect(server.requests.map(({ headers }) => headers["x-token"])).toEqual(["key-1", "key-2"]);
  });

  it("whose command fails now is told with the service's words", async () => {
    const server = await serve([refusal]);
    put("acme", server.url, ['apiKey: "!test -f runs && exit 3; touch runs; echo key"']);
    const [text] = textOf(await ask(await load()));
    expect(text).toContain("Token expired. No API key found for acme. The command ended with exit code 3.");
  });
});

describe("a key that is no answer of a command", () => {
  it.each([
    [{}, ["apiKey: literal-key"], "models.yml"],
    [{ ACME_KEY: "k-12345678" }, ["apiKey: $ACME_KEY"], "ACME_KEY"],
  ])("is not sent twice, and its source is named (%#)", async (variables, lines, source) => {
    const server = await serve([refusal]);
    put("acme", server.url, lines);
    const [text] = textOf(await ask(await load(variables)));
    expect(text).toContain(
      `Token expired. The key from ${source} was refused by ${server.url}. Check it; acme is described in models.yml.`,
    );
  });

  it("of a service that galley knows: the command to store another one", async () => {
    const server = await serve([{ ...refusal, status: 403 }]);
    put("deepseek", server.url, ["apiKey: k"]);
    const [text] = textOf(await ask(await load({ DEEPSEEK_API_KEY: "k-12345678" })));
    expect(text).toContain(
      `The key from DEEPSEEK_API_KEY was refused by ${server.url}. Check it, or run: galley login deepseek`,
    );
  });

  it("that the caller of the request brought is not explained, nor replaced", async () => {
    const server = await serve([refusal]);
    put("acme", server.url, [`apiKey: "!${counter}"`]);
    expect(textOf(await ask(await load(), { apiKey: "own" }))).toEqual(["HTTP 401 expired: Token expired"]);
    expect(runs()).toBe(0);
  });
});

it("a model without a key is not asked, and the sentence says how to get one", async () => {
  put("deepseek", "http://127.0.0.1:9", ["apiKey: $DEEPSEEK_API_KEY"]);
  const { session } = await createAgentSession({
    ...{ agentDir, env, cwd: agentDir, contextFiles: [] },
    modelPattern: "deepseek/m",
  });
  onTestFinished(() => session.dispose());
  await expect(session.prompt("hi")).rejects.toMatchObject({
    code: "no_credential",
    message: "No API key found for deepseek. Set DEEPSEEK_API_KEY, or run: galley login deepseek",
  });
});

it("a quota that is used up is told so, unless the service names a time", async () => {
  const body = '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}';
  const server = await serve([
    { status: 429, body },
    { status: 429, headers: { "retry-after": "5" }, body },
  ]);
  put("acme", server.url, ["apiKey: k"]);
  const registry = await load();
  const sentence = "acme reports that the quota is used up; this is not retried.";
  expect(textOf(await ask(registry))[0]).toBe(
    `HTTP 429 insufficient_quota: You exceeded your current quota. ${sentence}`,
  );
  expect(textOf(await ask(registry))[0]).not.toContain(sentence);
});

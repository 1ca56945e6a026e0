// One conversation that moves between models: what Gemini signed comes back to it on the same parts, and no model is sent
// the signature of another.

import { afterEach, expect, it } from "vitest";
import { ModelRegistry } from "../../../src/provider/models/model-registry.js";
import { readModelsFile } from "../../../src/provider/models/models-file.js";
import type { ProviderModel } from "../../../src/provider/provider.js";
import { streamByApi } from "../../../src/provider/stream-by-api.js";
import { openSession } from "../../../src/testing/open-session.js";
import { google } from "../../../src/testing/scripted-google.js";
import { anthropic, openAi } from "../../../src/testing/scripted-replies.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../../src/testing/scripted-server.js";

let server: ScriptedServer;
afterEach(() => server.close());

/** As a user sets up the three services. */
async function start(replies: Reply[]) {
  server = await startScriptedServer(replies);
  const models = [{ id: "gemini-3.8-flash", reasoning: true }];
  const providers = {
    google: { baseUrl: server.url, api: "google-generative-ai", apiKey: "k", models },
    anthropic: { baseUrl: server.url, api: "anthropic-messages", apiKey: "k", models: [{ id: "c", reasoning: true }] },
    openai: { baseUrl: server.url, api: "openai-completions", apiKey: "k", models: [{ id: "o", reasoning: true }] },
  };
  const modelRegistry = new ModelRegistry({
    sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
    file: readModelsFile({ providers }, "models.yml"),
  });
  const model = modelRegistry.find("google", "gemini-3.8-flash") as ProviderModel;
  return openSession({
    files: { "a.txt": "one\n" },
    session: { modelRegistry, model, streamFn: streamByApi, thinkingLevel: "high" },
  });
}

const sent = (index: number) => server.requests[index]?.body as { contents: { role: string; parts: object[] }[] };

it("brings every part back as it came", async () => {
  const parts = [
    { text: "hm", thought: true },
    { text: "I ", thought: false },
    { text: "look.", thoughtSignature: "text-1" },
    { functionCall: { id: "f1", name: "read", args: { path: "a.txt" } }, thoughtSignature: "call-1" },
    { functionCall: { id: "f2", name: "read", args: { path: "b.txt" } } },
  ];
  const { session } = await start([
    google.reply(parts),
    google.thinking("well", "Done.", "text-2"),
    google.text("Yes."),
  ]);
  await session.prompt("Look.");
  await session.prompt("Sure?");
  await session.dispose();
  expect(sent(1).contents.slice(0, 3)).toEqual([
    { role: "user", parts: [{ text: "Look." }] },
    {
      role: "model",
      parts: [
        { text: "hm", thought: true },
        { text: "I " },
        { text: "look.", thoughtSignature: "text-1" },
        { functionCall: { id: "f1", name: "read", args: { path: "a.txt" } }, thoughtSignature: "call-1" },
        { functionCall: { id: "f2", name: "read", args: { path: "b.txt" } } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "f1", name: "read", response: { output: expect.stringContaining("one") } } },
        { functionResponse: { id: "f2", name: "read", response: { error: expect.any(String) } } },
      ],
    },
  ]);
  expect(sent(2).contents.slice(3)).toEqual([
    {
      role: "model",
      parts: [{ text: "well", thought: true }, { text: "Done." }, { text: "", thoughtSignature: "text-2" }],
    },
    { role: "user", parts: [{ text: "Sure?" }] },
  ]);
});

it("tells no model the signature of another, and its own again when it comes back", async () => {
  const read = { name: "read", arguments: { path: "a.txt" } };
  const { session } = await start([
    google.toolCalls([{ id: "g1", ...read }], "google-call"),
    google.thinking("one", "From Google.", "google-text"),
    anthropic.thinking("two", "From Anthropic.", "anthropic-sig"),
    openAi.thinking("three", "From OpenAI."),
    openAi.toolCalls([{ id: "o1", ...read }]),
    openAi.text("Read."),
    google.text("Back."),
  ]);
  await session.prompt("1");
  session.setModel("anthropic", "c");
  await session.prompt("2");
  session.setModel("openai", "o");
  await session.prompt("3");
  await session.prompt("4");
  session.setModel("google", "gemini-3.8-flash");
  await session.prompt("5");
  await session.dispose();

  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  expect(server.requests.map(({ path }) => path.split(/[/:]/).at(-1))).toEqual([
    ...["streamGenerateContent?alt=sse", "streamGenerateContent?alt=sse"],
    "messages",
    ...["completions", "completions", "completions"],
    "streamGenerateContent?alt=sse",
  ]);
  for (const body of bodies.slice(2, 6)) expect(body).not.toMatch(/google-|ignature":"(?!anthropic)/);
  for (const body of bodies.slice(2, 6)) expect(body).toContain("From Google.");
  for (const body of bodies.slice(3)) expect(body).not.toContain("anthropic-sig");
  const last = sent(6).contents;
  expect(last.filter(({ role }) => role === "model").map(({ parts }) => parts)).toEqual([
    [{ functionCall: { id: "g1", name: "read", args: { path: "a.txt" } }, thoughtSignature: "google-call" }],
    [{ text: "one", thought: true }, { text: "From Google." }, { text: "", thoughtSignature: "google-text" }],
    [{ text: "two" }, { text: "From Anthropic." }],
    [{ text: "three" }, { text: "From OpenAI." }],
    [
      {
        functionCall: { id: "o1", name: "read", args: { path: "a.txt" } },
        thoughtSignature: "skip_thought_signature_validator",
      },
    ],
    [{ text: "Read." }],
  ]);
});

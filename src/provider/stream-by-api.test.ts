import { expect, it } from "vitest";
import { google } from "../testing/scripted-google.js";
import { anthropic, collect, openAi, streamRequest } from "../testing/scripted-replies.js";
import { openAiResponses } from "../testing/scripted-responses.js";
import { startScriptedServer } from "../testing/scripted-server.js";
import type { StreamRequest } from "./provider.js";
import { streamByApi } from "./stream-by-api.js";

it("finds the provider for each api", async () => {
  const server = await startScriptedServer([
    openAi.text("a"),
    anthropic.text("b"),
    openAiResponses.text("c"),
    google.text("d"),
  ]);
  for (const { model } of [openAi, anthropic, openAiResponses, google])
    expect((await collect(streamByApi(streamRequest(model(server.url))))).at(-1)).toMatchObject({
      type: "done",
      reason: "stop",
    });
  await server.close();
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
  ]);
});

it.each(["carrier-pigeon", "constructor"])("says that it does not speak %s", async (api) => {
  const model = openAi.model("http://127.0.0.1:1", { api });
  expect(await collect(streamByApi(streamRequest(model)))).toEqual([
    {
      type: "error",
      reason: "error",
      errorMessage: `Unsupported api "${api}" for model openai/scripted.`,
      failure: { kind: "invalid_request" },
    },
  ]);
});

it("turns whatever a provider throws into one error", async () => {
  const broken = { model: openAi.model("http://127.0.0.1:1") } as StreamRequest;
  expect(await collect(streamByApi(broken))).toMatchObject([{ type: "error", reason: "error" }]);
});

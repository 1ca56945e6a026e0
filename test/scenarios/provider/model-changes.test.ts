// One conversation that goes through all four APIs, twice: no service is sent what another has signed, or an id that it
// would refuse, and each gets its own signatures back when it is asked again.

import { afterEach, expect, it } from "vitest";
import { ModelRegistry } from "../../../src/provider/models/model-registry.js";
import { readModelsFile } from "../../../src/provider/models/models-file.js";
import type { ProviderModel } from "../../../src/provider/provider.js";
import { streamByApi } from "../../../src/provider/stream-by-api.js";
import { openSession } from "../../../src/testing/open-session.js";
import { google } from "../../../src/testing/scripted-google.js";
import { anthropic, openAi } from "../../../src/testing/scripted-replies.js";
import { openAiResponses } from "../../../src/testing/scripted-responses.js";
import { type Reply, type ScriptedServer, startScriptedServer } from "../../../src/testing/scripted-server.js";

let server: ScriptedServer;
afterEach(() => server.close());

const read = { name: "read", arguments: { path: "a.txt" } };

interface Service {
  api: string;
  /** A thought and a call, signed where the service signs; then text. */
  replies: [Reply, Reply];
  again: Reply;
  /** Only its own requests may hold these. */
  seals: string[];
  /** The ids of calls and results in a body. */
  ids: RegExp;
  allowed: RegExp;
}

const services: Record<string, Service> = {
  openai: {
    api: "openai-responses",
    replies: [
      openAiResponses.reply([
        openAiResponses.reasoning(["hm"], "seal-of-responses"),
        openAiResponses.call({ id: "call_r", ...read }),
      ]),
      openAiResponses.text("From responses."),
    ],
    again: openAiResponses.text("Again."),
    seals: ["seal-of-responses", "rs_1", "fc_call_r", "msg_1"],
    ids: /"call_id":"([^"]*)"/g,
    allowed: /^[a-zA-Z0-9_-]{1,64}$/,
  },
  anthropic: {
    api: "anthropic-messages",
    replies: [
      anthropic.reply(
        [
          ...anthropic.block(0, { type: "thinking", thinking: "" }, [
            { type: "thinking_delta", thinking: "hm" },
            { type: "signature_delta", signature: "seal-of-anthropic" },
          ]),
          ...anthropic.block(1, { type: "tool_use", id: "toolu_a", name: "read", input: read.arguments }, []),
        ],
        "tool_use",
      ),
      anthropic.text("From messages."),
    ],
    again: anthropic.text("Again."),
    seals: ["seal-of-anthropic"],
    ids: /"(?:id|tool_use_id)":"([^"]*)"/g,
    allowed: /^[a-zA-Z0-9_-]{1,64}$/,
  },
  chat: {
    api: "openai-completions",
    replies: [
      {
        steps: [
          openAi.chunk({ reasoning_content: "hm" }),
          openAi.chunk({
            tool_calls: [{ index: 0, id: "call_c", function: { name: "read", arguments: '{"path":"a.txt"}' } }],
          }),
          ...openAi.finish("tool_calls"),
        ],
      },
      openAi.text("From completions."),
    ],
    again: openAi.text("Again."),
    seals: ["reasoning_content"],
    ids: /"(?:id|tool_call_id)":"([^"]*)"/g,
    allowed: /^[a-zA-Z0-9_-]{1,40}$/,
  },
  google: {
    api: "google-generative-ai",
    replies: [google.toolCalls([{ id: "g1", ...read }], "seal-of-google"), google.text("From Gemini.")],
    again: google.text("Again."),
    seals: ["seal-of-google"],
    ids: /"id":"([^"]*)"/g,
    allowed: /^[a-zA-Z0-9_-]{1,64}$/,
  },
};

it("keeps signatures, items and ids with the service that gave them", async () => {
  const names = Object.keys(services);
  const all = Object.values(services);
  server = await startScriptedServer([...all.flatMap(({ replies }) => replies), ...all.map(({ again }) => again)]);
  const model = { id: "gemini-3.8-flash", reasoning: true }; // Google's rules follow the name
  const provider = ({ api }: Service) => ({ baseUrl: server.url, api, apiKey: "k", models: [model] });
  const providers = Object.fromEntries(Object.entries(services).map(([name, service]) => [name, provider(service)]));
  const modelRegistry = new ModelRegistry({
    sources: { env: {}, authFile: new Map(), runtimeKeys: new Map(), runCommand: async () => "" },
    file: readModelsFile({ providers }, "models.yml"),
  });
  const { session } = await openSession({
    files: { "a.txt": "one\n" },
    session: {
      ...{ modelRegistry, streamFn: streamByApi, thinkingLevel: "high" },
      model: modelRegistry.find("openai", model.id) as ProviderModel,
    },
  });
  for (const name of [...names, ...names]) {
    session.setModel(name, model.id);
    await session.prompt(`Ask ${name}`);
    expect(session.lastOutcome).toMatchObject({ status: "completed" });
  }
  await session.dispose();

  const askedBy = [...names.flatMap((name) => [name, name]), ...names];
  expect(server.requests).toHaveLength(askedBy.length);
  for (const [index, asked] of askedBy.entries()) {
    const body = JSON.stringify(server.requests[index]?.body);
    for (const [name, { seals }] of Object.entries(services))
      if (name !== asked)
        for (const seal of seals) expect(body, `request ${index + 1} to ${asked}`).not.toContain(seal);
    const { ids, allowed } = services[asked]!;
    for (const [, id] of body.matchAll(ids)) expect(id, `request ${index + 1} to ${asked}`).toMatch(allowed);
    if (index >= 2 * names.length) for (const seal of services[asked]!.seals) expect(body).toContain(seal);
  }
});

// aiSdkModel with the published packages, through whole sessions: each calls a tool, its second request carries what its
// service had signed, and usage and refusals arrive as the service gave them.

import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import {
  type AiSdkLanguageModel,
  type AiSdkModelOptions,
  aiSdkModel,
  createAgentSession,
} from "../../../src/sdk/index.js";
import { anthropic, collect, streamRequest } from "../../../src/testing/scripted-replies.js";
import { openAiResponses } from "../../../src/testing/scripted-responses.js";
import { type Reply, type ScriptedServer, sse, startScriptedServer } from "../../../src/testing/scripted-server.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";
import { compile } from "../../oracles/check-types.js";
import { describeWithOracles, oracle } from "./oracle.test-kit.js";

let server: ScriptedServer;
afterEach(() => server?.close());

const args = { number: 7 };
const google = (parts: object[], finishReason: string) =>
  sse({
    candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 3, totalTokenCount: 15 },
    responseId: "resp_1",
  });

interface Published {
  /** The function that makes the provider, and the model's id. */
  make: string;
  id: string;
  replies: [Reply, Reply];
  providerOptions?: AiSdkModelOptions["providerOptions"];
  /** What the second request must hold of the first reply. */
  signed: string[];
}

const published: [string, Published][] = [
  [
    "@ai-sdk/openai",
    {
      make: "createOpenAI",
      id: "gpt-5",
      replies: [
        openAiResponses.reply([
          openAiResponses.reasoning(["hm"], "openai-seal"),
          openAiResponses.call({ id: "call_a", name: "ticket", arguments: args }),
        ]),
        openAiResponses.text("About the parser."),
      ],
      providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
      signed: ['"id":"rs_1","encrypted_content":"openai-seal"', '"call_id":"call_a"'],
    },
  ],
  [
    "@ai-sdk/anthropic",
    {
      make: "createAnthropic",
      id: "claude-sonnet-4-5",
      replies: [
        anthropic.reply(
          [
            ...anthropic.block(0, { type: "thinking", thinking: "" }, [
              { type: "thinking_delta", thinking: "hm" },
              { type: "signature_delta", signature: "anthropic-seal" },
            ]),
            ...anthropic.block(1, { type: "tool_use", id: "toolu_1", name: "ticket", input: {} }, [
              { type: "input_json_delta", partial_json: '{"num' },
              { type: "input_json_delta", partial_json: 'ber":7}' },
            ]),
          ],
          "tool_use",
        ),
        anthropic.text("About the parser."),
      ],
      signed: ['{"type":"thinking","thinking":"hm","signature":"anthropic-seal"}', '"toolu_1"'],
    },
  ],
  [
    "@ai-sdk/google",
    {
      make: "createGoogleGenerativeAI",
      id: "gemini-2.5-pro",
      replies: [
        {
          steps: [
            google(
              [
                { text: "hm", thought: true },
                { functionCall: { name: "ticket", args }, thoughtSignature: "google-seal" },
              ],
              "STOP",
            ),
          ],
        },
        { steps: [google([{ text: "About the parser." }], "STOP")] },
      ],
      signed: ['"thoughtSignature":"google-seal"'],
    },
  ],
];

function load(name: string, { make, id }: Published, url: string): AiSdkLanguageModel {
  return oracle(name)[make]({ apiKey: "k", baseURL: `${url}/v1` })(id);
}

describeWithOracles("aiSdkModel", () => {
  it.each(published)("%s calls a tool of the session and gets back what it signed", async (name, each) => {
    server = await startScriptedServer(each.replies);
    const given = aiSdkModel(load(name, each, server.url), {
      ...(each.providerOptions ? { providerOptions: each.providerOptions } : {}),
      cost: { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
    const home = temporaryDirectory();
    const { session } = await createAgentSession({
      ...{ ...given, cwd: home, agentDir: join(home, "agent"), env: {}, toolNames: [] },
      customTools: [
        {
          name: "ticket",
          description: "Looks up a ticket",
          parameters: { type: "object", properties: { number: { type: "integer" } } },
          execute: async (_id: string, asked: unknown) => ({
            content: [{ type: "text" as const, text: `asked for ${JSON.stringify(asked)}` }],
          }),
        },
      ],
    });
    await session.prompt("What is ticket 7 about?");
    expect(session.lastOutcome).toMatchObject({ status: "completed" });
    expect(session.getLastAssistantText()).toBe("About the parser.");
    const body = JSON.stringify(server.requests[1]?.body);
    for (const text of [...each.signed, "asked for"]) expect(body).toContain(text);
    const [first] = session.messages.filter((message) => message.role === "assistant");
    expect(first).toMatchObject({
      ...{ api: "ai-sdk", stopReason: "toolUse", model: each.id },
      usage: { input: 10, output: 5, cost: { input: 10 } },
    });
    await session.dispose();
  });

  it.each(published)("%s tells status and delay of a refusal", async (name, each) => {
    const body = JSON.stringify({
      error: { message: "Slow down", type: "rate_limit_error", status: "RESOURCE_EXHAUSTED" },
    });
    const headers = { "content-type": "application/json", "retry-after": "7" };
    server = await startScriptedServer([{ status: 429, headers, body }]);
    const { model, streamFn } = aiSdkModel(load(name, each, server.url));
    expect(await collect(streamFn(streamRequest(model)))).toMatchObject([
      {
        ...{ type: "error", errorMessage: expect.stringContaining("Slow down") },
        failure: { kind: "rate_limit", status: 429, retryAfterMs: 7000 },
      },
    ]);
  });
});

describeWithOracles("aiSdkModel: the types", () => {
  it("take the packages' models as they are", { timeout: 120_000 }, () => {
    const source = `
      import type { LanguageModelV3 } from "@ai-sdk/provider";
      import { aiSdkModel } from "galley-source/provider/ai-sdk-model";
      export const adapt = (model: LanguageModelV3) => aiSdkModel(model, { contextWindow: 1 });
    `;
    expect(compile([source])).toBe("");
  });
});

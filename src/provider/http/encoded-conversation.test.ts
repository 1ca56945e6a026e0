import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent } from "../../protocol/content.js";
import type { AssistantMessage, StopReason } from "../../protocol/messages.js";
import { google } from "../../testing/scripted-google.js";
import { anthropic, openAi, streamRequest } from "../../testing/scripted-replies.js";
import { openAiResponses } from "../../testing/scripted-responses.js";
import { messagesPayload } from "../anthropic/request.js";
import { generateContentPayload } from "../google/request.js";
import { completionsPayload } from "../openai/request.js";
import { responsesPayload } from "../openai/responses-request.js";
import {
  type ModelMessage,
  type ProviderModel,
  type StreamOptions,
  type StreamRequest,
  zeroUsage,
} from "../provider.js";
import { encodeBody } from "./json-body.js";

const url = "http://127.0.0.1:1";
const dialects: {
  name: string;
  models: ProviderModel[];
  payload: (request: StreamRequest) => JsonObject;
}[] = [
  {
    name: "completions",
    payload: completionsPayload,
    models: [
      openAi.model(url),
      { ...openAi.model(url), id: "other", provider: "mistral" },
      { ...openAi.model(url), id: "anthropic/other", provider: "openrouter" },
      {
        ...openAi.model(url),
        provider: "somewhere",
        input: ["text"],
        compat: { requiresAssistantAfterToolResult: true },
      },
    ],
  },
  {
    name: "messages",
    payload: messagesPayload,
    models: [
      { ...anthropic.model(url), reasoning: true },
      { ...anthropic.model(url), id: "other", input: ["text"] },
    ],
  },
  {
    name: "responses",
    payload: responsesPayload,
    models: [
      { ...openAiResponses.model(url), reasoning: true },
      { ...openAiResponses.model(url), id: "other", input: ["text"] },
    ],
  },
  {
    name: "generateContent",
    payload: generateContentPayload,
    models: [
      { ...google.model(url), reasoning: true },
      { ...google.model(url), id: "gemini-2.5-pro" },
      { ...google.model(url), id: "other", input: ["text"] },
    ],
  },
];

const text = fc.constantFrom("", " ", "plain", "naïve … 日本 😀", "cut \ud83d", '"quoted"\n');
const image: InputContent = { type: "image", data: "AAAA", mimeType: "image/png" };
const input: fc.Arbitrary<InputContent> = fc.oneof(
  text.map((value): InputContent => ({ type: "text", text: value })),
  fc.constant(image),
);
const callId = fc.constantFrom("a", "b", "c|d", "call_1", "", "é");
const block: fc.Arbitrary<AssistantContent> = fc.oneof(
  text.map((value): AssistantContent => ({ type: "text", text: value })),
  fc.constantFrom<AssistantContent>(
    { type: "thinking", thinking: "hm" },
    { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
    { type: "thinking", thinking: "", thinkingSignature: '{"type":"reasoning","encrypted_content":"x"}' },
    { type: "redactedThinking", data: "x" },
  ),
  callId.map((id): AssistantContent => ({ type: "toolCall", id, name: "read", arguments: { path: id } })),
);

function conversation(models: readonly ProviderModel[]): fc.Arbitrary<ModelMessage[]> {
  const reply = fc
    .tuple(
      fc.array(block, { maxLength: 4 }),
      fc.constantFrom(...models),
      fc.constantFrom<StopReason>("stop", "toolUse", "error"),
    )
    .map(
      ([content, { api, provider, id }, stopReason]): AssistantMessage => ({
        role: "assistant",
        content,
        api,
        provider,
        model: id,
        usage: zeroUsage,
        stopReason,
        timestamp: 1,
      }),
    );
  const result = fc.tuple(callId, fc.array(input, { maxLength: 2 })).map(
    ([toolCallId, content]): ModelMessage => ({
      role: "toolResult",
      toolCallId,
      toolName: "read",
      content,
      isError: false,
      timestamp: 1,
    }),
  );
  const answers = (message: AssistantMessage): ModelMessage[] =>
    message.content.flatMap((part) =>
      part.type === "toolCall"
        ? [{ role: "toolResult", toolCallId: part.id, toolName: "read", content: [image], isError: true, timestamp: 1 }]
        : [],
    );
  const question = fc
    .tuple(fc.constantFrom("user" as const, "developer" as const), fc.oneof(text, fc.array(input, { maxLength: 2 })))
    .map(([role, content]): ModelMessage => ({ role, content, timestamp: 1 }) as ModelMessage);
  return fc
    .array(
      fc.oneof(
        { weight: 10, arbitrary: question.map((message) => [message]) },
        // Mostly as a session has them, and sometimes with a result that is missing, late or nobody's.
        { weight: 10, arbitrary: reply.map((message) => [message, ...answers(message)]) },
        { weight: 1, arbitrary: reply.map((message) => [message]) },
        { weight: 1, arbitrary: result.map((message) => [message]) },
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.flat());
}

describe.each(dialects)("$name: what was kept is what converting everything tells", ({ models, payload }) => {
  const step = fc.oneof(
    { weight: 6, arbitrary: conversation(models).map((added) => ({ kind: "append" as const, added })) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace" as const), at: fc.nat(20), by: text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), to: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), by: text }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("switch" as const), to: fc.nat(models.length - 1) }) },
    { weight: 1, arbitrary: fc.constant({ kind: "force" as const }) },
  );

  it("after any appends, edits, cuts, compactions and switches of model or thinking", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
        let messages: ModelMessage[] = [];
        let model = models[0] as ProviderModel;
        let options: Partial<StreamOptions> = { reasoning: "low" };
        for (const change of steps) {
          if (change.kind === "append") messages.push(...change.added);
          else if (change.kind === "replace" && change.at < messages.length)
            messages[change.at] = { role: "user", content: change.by, timestamp: 1 };
          else if (change.kind === "cut") messages.length = Math.min(messages.length, change.to);
          else if (change.kind === "compact")
            messages = [{ role: "user", content: change.by, timestamp: 1 }, ...messages.slice(-3)];
          else if (change.kind === "switch") model = models[change.to] as ProviderModel;
          else if (change.kind === "force") options = options.reasoning ? {} : { reasoning: "low" };
          const bodyFor = (list: ModelMessage[]) =>
            Buffer.concat(encodeBody(payload(streamRequest(model, options, { messages: list })))).toString("utf8");
          const body = bodyFor(messages);
          expect(body).toBe(bodyFor([...messages]));
          expect(() => JSON.parse(body) as unknown).not.toThrow();
          expect(body).not.toMatch(/\\ud[89a-f]/);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("converts a message once", () => {
    const [model] = models as [ProviderModel];
    let reads = 0;
    const watched = (content: string): ModelMessage => ({
      role: "user",
      get content() {
        reads++;
        return content;
      },
      timestamp: 1,
    });
    const { api, provider, id } = model;
    const answer: ModelMessage = {
      role: "assistant",
      content: [{ type: "text", text: "Yes." }],
      api,
      provider,
      model: id,
      usage: zeroUsage,
      stopReason: "stop",
      timestamp: 1,
    };
    const messages: ModelMessage[] = [];
    const readsOf = () => {
      reads = 0;
      messages.push(watched("Well?"), answer);
      encodeBody(payload(streamRequest(model, {}, { messages })));
      return reads;
    };
    const first = readsOf();
    expect(first).toBeGreaterThan(0);
    expect(Array.from({ length: 50 }, readsOf)).toEqual(Array.from({ length: 50 }, () => first));
  });
});

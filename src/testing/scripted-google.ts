// Replies for the scripted server as Google's Gemini API streams them, and the model that asks for them.

import type { ProviderModel } from "../provider/provider.js";
import { openAi, type ScriptedCall } from "./scripted-replies.js";
import { many, type Reply, type Step, sse } from "./scripted-server.js";

const googleUsage = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

export const google = {
  model: (baseUrl: string, changes: Partial<ProviderModel> = {}) =>
    openAi.model(baseUrl, {
      api: "google-generative-ai",
      provider: "google",
      baseUrl: `${baseUrl}/v1beta`,
      id: "gemini-3.8-flash",
      ...changes,
    }),

  /** Further parts of the reply; `fields` are those of the candidate. */
  chunk: (parts: readonly object[], fields: object = {}): Step =>
    sse({ candidates: [{ content: { role: "model", parts }, index: 0, ...fields }], responseId: "resp_1" }),

  finish: (finishReason: string, usageMetadata: object = googleUsage): Step =>
    sse({ candidates: [{ finishReason, index: 0 }], usageMetadata, responseId: "resp_1" }),

  reply: (parts: readonly object[], finishReason = "STOP"): Reply => ({
    steps: [...parts.map((part) => google.chunk([part])), google.finish(finishReason)],
  }),

  /** One piece per delta. */
  text: (...pieces: string[]): Reply => google.reply(pieces.map((text) => ({ text }))),

  /** Thoughts have no signature of their own: it comes with the end of the answer, on an empty text. */
  thinking: (thoughts: string, text: string, thoughtSignature = "sig-1"): Reply =>
    google.reply([{ text: thoughts, thought: true }, { text }, { text: "", thoughtSignature }]),

  /** All calls in one chunk. The first is signed, as Gemini signs parallel calls. */
  toolCalls: (calls: readonly ScriptedCall[], thoughtSignature = "sig-1"): Reply => ({
    steps: [
      google.chunk(
        calls.map(({ id, name, arguments: args }, index) => ({
          functionCall: { id, name, args },
          ...(index === 0 ? { thoughtSignature } : {}),
        })),
      ),
      google.finish("STOP"),
    ],
  }),

  /** `count` text deltas as fast as the socket takes them. */
  manyDeltas: (count: number, text = "word "): Reply => {
    const chunk = { candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0 }], responseId: "resp_1" };
    return { steps: [many(count, () => `data: ${JSON.stringify(chunk)}\r\n\r\n`), google.finish("STOP")] };
  },
};

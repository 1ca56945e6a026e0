// The ask tool: questions to the person, answered by choosing or by typing. Nobody at the keyboard is an answer too: after
// a while the recommended option counts, and where none is recommended the model is told to decide for itself.

import type { XStatic } from "typebox/schema";
import { throwIfAborted } from "../base/abort.js";
import { type Answer, type AskOptions, answerText, ask } from "./ask-person.js";
import { type AgentTool, textResult } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: 20,
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          question: { type: "string" },
          options: {
            type: "array",
            minItems: 1,
            maxItems: 50,
            items: {
              type: "object",
              properties: { label: { type: "string" }, description: { type: "string" } },
              required: ["label"],
            },
          },
          multi: { type: "boolean", description: "Several may be chosen" },
          recommended: { type: "integer", minimum: 0, description: "Index; taken if nobody answers" },
        },
        required: ["id", "question", "options"],
      },
    },
  },
  required: ["questions"],
} as const;

type AskParams = XStatic<typeof parameters>;

export function createAsk({ dialogs, timeoutMs }: AskOptions): AgentTool<AskParams> {
  return {
    name: "ask",
    label: "Ask",
    description: "Ask the user to choose, where the answer changes what you do next.",
    parameters,
    approval: "read",
    // Two dialogs at once would lie on top of each other.
    concurrency: "exclusive",
    async execute(_toolCallId, { questions }, signal) {
      const answers: Answer[] = [];
      for (const question of questions) {
        answers.push(await ask(question, { dialogs, timeoutMs, signal }));
        throwIfAborted(signal);
      }
      return textResult(answerText(answers), { answers });
    },
  };
}

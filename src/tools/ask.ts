// The ask tool: questions to the user, answered by choosing or by typing. If the user does not answer in time, the
// recommended option counts; without a recommendation the model is told to decide for itself.

import type { XStatic } from "typebox/schema";
import { throwIfAborted } from "../base/abort.js";
import { type AgentTool, type Dialogs, textResult, toolFailure } from "./tool.js";

const otherLabel = "Other (type your own)";
const doneLabel = "Done";

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
          recommended: { type: "integer", minimum: 0, description: "Index, used without an answer" },
        },
        required: ["id", "question", "options"],
      },
    },
  },
  required: ["questions"],
} as const;

type AskParams = XStatic<typeof parameters>;
type Question = AskParams["questions"][number];

interface Answer {
  id: string;
  question: string;
  selected: string[];
  /** The user did not answer in time; the recommendation counts. */
  timedOut?: true;
}

export interface AskOptions {
  readonly dialogs: Dialogs;
  /** 0: wait for as long as it takes. */
  readonly timeoutMs: number;
}

export function createAsk({ dialogs, timeoutMs }: AskOptions): AgentTool<AskParams> {
  return {
    name: "ask",
    label: "Ask",
    description: "Ask the user to choose, where it changes what you do next.",
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

interface Asking extends AskOptions {
  signal: AbortSignal | undefined;
}

async function ask(question: Question, asking: Asking): Promise<Answer> {
  const { id, question: title } = question;
  const { dialogs, timeoutMs, signal } = asking;
  let isLate = false;
  const extra = {
    signal,
    ...(timeoutMs > 0 ? { timeoutMs } : {}),
    ...(question.recommended === undefined ? {} : { initialIndex: question.recommended }),
    onTimeout: () => {
      isLate = true;
    },
  };
  const selected = question.multi
    ? await chooseSeveral(question, (options) => dialogs.select(title, options, extra))
    : await dialogs.select(title, [...shownOptions(question), otherLabel], extra).then((label) => label && [label]);
  if (isLate) return { id, question: title, selected: [recommendation(question, timeoutMs)], timedOut: true };
  if (!selected) throw toolFailure("Ask tool was cancelled by the user");
  return { id, question: title, selected: await withOwnWords(selected, question, asking) };
}

/** One choice after another, each marked, until the user is done. */
async function chooseSeveral(
  question: Question,
  select: (options: string[]) => Promise<string | undefined>,
): Promise<string[] | undefined> {
  const labels = [...shownOptions(question), otherLabel];
  const chosen = new Set<string>();
  for (;;) {
    const marked = labels.map((label) => `${chosen.has(label) ? "[x]" : "[ ]"} ${label}`);
    const answer = await select([...marked, doneLabel]);
    if (answer === undefined) return undefined;
    if (answer === doneLabel) return [...chosen];
    const label = labels[marked.indexOf(answer)];
    if (label === undefined) return undefined; // an answer that was not offered is no answer
    if (!chosen.delete(label)) chosen.add(label);
  }
}

async function withOwnWords(selected: string[], question: Question, { dialogs, signal }: Asking): Promise<string[]> {
  const labels = shownOptions(question);
  const answers = selected.map((shown) => question.options[labels.indexOf(shown)]?.label ?? shown);
  if (!selected.includes(otherLabel)) return answers;
  const typed = await dialogs.input(question.question, undefined, { signal });
  if (typed === undefined) throw toolFailure("Ask tool was cancelled by the user");
  return answers.map((answer) => (answer === otherLabel ? typed : answer));
}

function shownOptions({ options }: Question): string[] {
  return options.map(({ label, description }) => (description ? `${label}: ${description}` : label));
}

function recommendation({ options, recommended }: Question, timeoutMs: number): string {
  const option = recommended === undefined ? undefined : options[recommended];
  if (option) return option.label;
  throw toolFailure(
    `The user did not answer within ${timeoutMs / 1000} seconds. Decide yourself and say what you assumed.`,
  );
}

function answerText(answers: readonly Answer[]): string {
  const line = ({ selected, timedOut }: Answer) =>
    `User selected: ${selected.join(", ") || "(none)"}${timedOut ? " (no answer in time; this was recommended)" : ""}`;
  if (answers.length === 1 && answers[0]) return line(answers[0]);
  return answers.map((answer) => `${answer.id}: ${line(answer)}`).join("\n");
}

// What the planner says: about the results of its calls, and about itself. It never states what no result said.

import { isObject } from "../../base/json.js";
import type { ToolCall } from "../../protocol/content.js";
import type { ToolResultMessage } from "../../protocol/messages.js";
import type { Sentence } from "./sentence.js";

/** One result with the call it answers. */
export interface Outcome {
  call: ToolCall | undefined;
  result: ToolResultMessage;
}

export function answerTo(sentence: Sentence, outcomes: readonly Outcome[]): string {
  if (sentence.verb === "replace" || sentence.verb === "rename")
    return outcomes.map(({ result }) => changeAnswer(sentence, result)).join("\n\n");
  const texts = outcomes.map(({ result }) => textOf(result));
  if (sentence.verb === "find" && texts.every((text) => text.startsWith("No matches found"))) return noMatch(sentence);
  if (texts.length === 1) return texts[0] ?? "";
  return outcomes.map(({ call, result }) => `${String(call?.arguments.path ?? "")}:\n${textOf(result)}`).join("\n\n");
}

export function textOf({ content }: ToolResultMessage): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

type ChangeSentence = Extract<Sentence, { verb: "replace" | "rename" }>;

function changeAnswer(sentence: ChangeSentence, result: ToolResultMessage): string {
  const text = textOf(result);
  const details = isObject(result.details) ? result.details : {};
  const { totalReplacements: replacements, filesTouched: files, pendingId, applied } = details;
  if (typeof replacements !== "number" || typeof files !== "number") return text;
  // The answer says the same as the tool's first line, but better.
  const rest = text.replace(/^[^\n]*\n*/, "");
  if (replacements === 0) return [noMatch(sentence), ...(rest === "" ? [] : [rest])].join("\n\n");
  if (applied === true || typeof pendingId !== "string") return text;
  const amount = `${count(replacements, "replacement")} in ${count(files, "file")}`;
  const parts = [`Previewed ${amount} as ${pendingId}. Nothing is written yet.`, ...withoutListing(rest)];
  if (sentence.verb === "rename")
    parts.push(
      `By name, without scopes: every identifier ${sentence.pattern} counts, whatever it refers to; names of properties (shorthand ones too), classes and types are left alone.`,
    );
  if (/^.* The user decides\.$/m.test(text)) return [...parts, onlyTheUser(pendingId)].join("\n\n");
  const how = `Say "apply ${pendingId}" or "discard ${pendingId}"; on the command line: galley apply ${pendingId}, galley discard ${pendingId}.`;
  return [...parts, how].join("\n\n");
}

/** Where everything waits for the user's own word, what is said to the planner writes nothing. */
export function onlyTheUser(id: string): string {
  return `Only you decide about it: /apply ${id} or /discard ${id} in the terminal; on the command line: galley apply ${id}, galley discard ${id}.`;
}

/** The list of places is for models: people see the preview itself. What else the tool said stays. */
function withoutListing(text: string): string[] {
  const isListed = (line: string) => /^(?:#|[-+]\d+:\d+ |… \d+ more changes)/.test(line);
  return text.split("\n\n").filter((block) => block.trim() !== "" && !block.split("\n").every(isListed));
}

function noMatch({ pattern, paths }: { pattern: string; paths: readonly string[] }): string {
  const places = paths.map((path) => (path === "." ? "this directory" : path));
  return `No match for ${pattern} in ${places.join(", ")}.`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

const sentences: { form: string; example: string; tools: string[] }[] = [
  {
    form: "replace PATTERN with REPLACEMENT [in PATHS]",
    example: "replace console.log($$$A) with logger.debug($$$A) in src",
    tools: ["ast_edit"],
  },
  { form: "rename A to B [in PATHS]", example: "rename fetchUser to loadUser in src", tools: ["ast_edit"] },
  { form: "find PATTERN [in PATHS]", example: "find await $CALL in src test", tools: ["ast_grep", "grep"] },
  { form: "show PATH", example: "show README.md", tools: ["read"] },
  { form: "run COMMAND", example: "run npm test", tools: ["bash"] },
  { form: "apply [ID] / discard [ID]", example: "apply pa_1", tools: ["resolve"] },
  { form: "undo [CHANGE]", example: "undo", tools: ["undo"] },
  { form: "help", example: "help", tools: [] },
];

/** What to type, and how to get a language model instead. Sentences whose tools are missing are marked. */
export function helpAnswer(isActive: (tool: string) => boolean): string {
  const rows = sentences.map(({ form, example, tools }) => {
    const note = tools.length === 0 || tools.some(isActive) ? "" : "   (not active in this session)";
    return `  ${form}${note}\n      ${example}`;
  });
  return `I am galley's planner, not a language model. I turn these sentences into tool calls:

${rows.join("\n")}

In a PATTERN $NAME stands for one piece of code and $$$NAME for any number.
Put code that contains the words "with", "to" or "in" in backquotes; two
backquotes are the empty text. Put paths with spaces in quotes.

For a language model, set the key of a service (ANTHROPIC_API_KEY,
OPENAI_API_KEY, GEMINI_API_KEY, …) or run galley login. Any other server:
models.yml in the agent directory (~/.galley/agent, or GALLEY_AGENT_DIR):

  providers:
    mine:
      baseUrl: https://llm.example/v1
      api: openai-completions
      apiKey: $MY_KEY
      models:
        - id: MODEL
    local:
      baseUrl: http://127.0.0.1:8000/v1
      api: openai-completions
      auth: none
      models:
        - id: MODEL`;
}

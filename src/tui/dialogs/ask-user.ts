// The questions that galley itself asks: whether a call may run, whether a project may run its own code, yes or no.

import { sanitizeForTerminal } from "../../base/sanitize.js";
import { writtenOut } from "../../base/written-out.js";
import { type CallAnswer, type CallQuestion, escalationTitle, type TrustQuestion } from "../../sdk/index.js";
import { type DialogPlace, QuestionDialog, type QuestionText } from "./question-dialog.js";
import type { QuestionQueue } from "./question-queue.js";

export type TrustAnswer = "no" | "trust" | "once";

/** `directory`: the working directory as a user writes it. */
export function askCall(
  queue: QuestionQueue,
  place: DialogPlace,
  question: CallQuestion & { readonly directory: string },
): Promise<CallAnswer> {
  const { tool, tier, isConfined, lines, directory, signal } = question;
  const none: CallAnswer = { kind: "no" };
  const text: QuestionText<CallAnswer> = {
    title: `Run ${writtenOut(tool)}?`,
    facts: [tier, isConfined ? "confined" : "not confined"],
    lines: [...shortened(lines), `in ${writtenOut(directory)}`],
    choices: [
      { key: "y", label: "once", needsWhole: true, answer: () => ({ kind: "once" }) },
      { key: "s", label: "for this session", needsWhole: true, answer: () => ({ kind: "session" }) },
      { key: "a", label: "always", needsWhole: true, answer: () => ({ kind: "always" }) },
      { key: "n", label: "no, with a reason", asksReason: true, answer: (reason) => ({ kind: "no", reason }) },
    ],
    none,
  };
  return queue.ask<CallAnswer>((close) => new QuestionDialog(text, place, close), { none, signal });
}

/** Whether a command may leave the sandbox. A yes is for this command only. */
export function askEscalation(
  queue: QuestionQueue,
  place: DialogPlace,
  { lines, signal }: { readonly lines: readonly string[]; readonly signal: AbortSignal },
): Promise<boolean> {
  const text: QuestionText<boolean> = {
    title: escalationTitle,
    facts: ["exec", "not confined"],
    lines,
    choices: [
      { key: "y", label: "once", needsWhole: true, answer: () => true },
      { key: "n", label: "no", answer: () => false },
    ],
    none: false,
  };
  return queue.ask((close) => new QuestionDialog(text, place, close), { none: false, signal });
}

export type HostAnswer = "once" | "session" | "always" | "no";

/** Whether confined commands may reach a host. */
export function askHost(
  queue: QuestionQueue,
  place: DialogPlace,
  { host, signal }: { readonly host: string; readonly signal: AbortSignal },
): Promise<HostAnswer> {
  const text: QuestionText<HostAnswer> = {
    title: `Allow ${writtenOut(host)}?`,
    facts: ["network"],
    lines: ["A command wants to reach it."],
    choices: [
      { key: "y", label: "once", needsWhole: true, answer: () => "once" },
      { key: "s", label: "session", needsWhole: true, answer: () => "session" },
      { key: "a", label: "always", needsWhole: true, answer: () => "always" },
      { key: "n", label: "no", answer: () => "no" },
    ],
    none: "no",
  };
  return queue.ask<HostAnswer>((close) => new QuestionDialog(text, place, close), { none: "no", signal });
}

/** A call with one argument, its command, is that command. */
function shortened(lines: readonly string[]): string[] {
  const [first = "", ...rest] = lines;
  if (first === "command:" && rest.every((line) => line.startsWith("  | "))) return rest.map((line) => line.slice(2));
  return first.startsWith("command: ") ? [first.slice("command: ".length), ...rest] : [...lines];
}

export function askTrust(
  queue: QuestionQueue,
  place: DialogPlace,
  { title, lines, signal }: TrustQuestion & { readonly signal: AbortSignal },
): Promise<TrustAnswer> {
  const text: QuestionText<TrustAnswer> = {
    title,
    facts: [],
    lines,
    choices: [
      { key: "n", label: "no", answer: () => "no" },
      { key: "t", label: "trust this content", needsWhole: true, answer: () => "trust" },
      { key: "o", label: "only this run", needsWhole: true, answer: () => "once" },
    ],
    none: "no",
  };
  return queue.ask<TrustAnswer>((close) => new QuestionDialog(text, place, close), { none: "no", signal });
}

export function askYesOrNo(
  queue: QuestionQueue,
  place: DialogPlace,
  { title, message, signal }: { title: string; message: string; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const text: QuestionText<boolean> = {
    title: writtenOut(title),
    facts: [],
    lines: message === "" ? [] : sanitizeForTerminal(message).split("\n"),
    choices: [
      { key: "y", label: "yes", needsWhole: true, answer: () => true },
      { key: "n", label: "no", answer: () => false },
    ],
    none: false,
  };
  return queue.ask((close) => new QuestionDialog(text, place, close), { none: false, signal });
}

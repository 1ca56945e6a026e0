// Questions of a session in plain lines: numbered lists, answered by a line. What is not a clear yes is a no, and a line that
// comes before the question can have been read is no answer.

import { writtenOut } from "../../base/written-out.js";
import type { CallAnswer, CallQuestion, SessionUI, TrustQuestion } from "../../sdk/index.js";
import type { PlainIO } from "./plain-io.js";

type Extra = { signal?: AbortSignal | undefined };
type Option = string | { label: string; description?: string };

const who = "question";
/** No user reads a question faster. */
const earlyMs = 300;

/** `directory`: the working directory as a user writes it. */
export function plainQuestions(io: PlainIO, directory: string) {
  // One at a time, in their order.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const mine = last.then(ask, ask);
    last = mine.catch(() => {}); // its caller is told; the next question comes all the same
    return mine;
  };
  const ui: SessionUI = {
    select: (title, options, extra) => inTurn(() => select(io, title, options, extra)),
    confirm: (title, message, extra) => inTurn(() => confirm(io, title, message, extra)),
    input: (title, placeholder, extra) =>
      inTurn(() => line(io, placeholder ? `${title} (${placeholder})` : title, extra)),
    editor: (title, prefill, extra) =>
      inTurn(() =>
        line(io, prefill ? `${title}\n${prefill}\nA new text in one line; empty keeps it.` : title, extra).then(
          (text) => text || prefill,
        ),
      ),
    notify: (message, kind = "info") => io.say("galley", kind === "info" ? message : `${kind}: ${message}`),
  };
  return {
    ui,
    inTurn,
    askCall: (question: CallQuestion) => inTurn(() => askCall(io, question, directory)),
    askTrust: (question: TrustQuestion, signal: AbortSignal) => inTurn(() => askTrust(io, question, signal)),
    askHost: (host: string, signal: AbortSignal) => inTurn(() => askHost(io, host, signal)),
  };
}

async function askCall(io: PlainIO, question: CallQuestion, directory: string): Promise<CallAnswer> {
  const { tool, tier, isConfined, lines, signal } = question;
  io.say(
    who,
    [
      `Run ${writtenOut(tool)}? ${tier}, ${isConfined ? "confined" : "not confined"}`,
      ...lines,
      `in ${writtenOut(directory)}`,
      ...["1 once", "2 for this session", "3 always", "4 no, with a reason"],
      "A number. Anything else is no.",
    ].join("\n"),
  );
  const said = await answer(io, signal);
  const kinds = { "1": "once", "2": "session", "3": "always" } as const;
  if (said === "1" || said === "2" || said === "3") return { kind: kinds[said] };
  if (said !== "4") return { kind: "no" };
  io.say(who, "What should it do instead? An empty line says only no.");
  const reason = (await io.ask(signal))?.trim();
  return { kind: "no", ...(reason ? { reason } : {}) };
}

async function askTrust(io: PlainIO, { title, lines }: TrustQuestion, signal: AbortSignal) {
  const choices = ["1 no", "2 trust this content", "3 only this run", "A number. Anything else is no."];
  io.say(who, [title, ...lines, ...choices].join("\n"));
  const said = await answer(io, signal);
  return said === "2" ? "trust" : said === "3" ? "once" : "no";
}

async function askHost(io: PlainIO, host: string, signal: AbortSignal) {
  const choices = ["1 once", "2 session", "3 always", "4 no", "A number. Anything else is no."];
  io.say(who, [`Allow ${writtenOut(host)}? A command wants to reach it.`, ...choices].join("\n"));
  const kinds = { "1": "once", "2": "session", "3": "always" } as const;
  const said = await answer(io, signal);
  return said === "1" || said === "2" || said === "3" ? kinds[said] : "no";
}

/** The next line of the user's that was typed after the question could be read; undefined: none comes. */
export async function answer(io: PlainIO, signal: AbortSignal | undefined): Promise<string | undefined> {
  const since = io.now();
  for (;;) {
    const said = (await io.ask(signal))?.trim();
    if (said === undefined || !io.isTyped || io.now() - since >= earlyMs) return said;
    io.say(who, "That line came before the question could be read. A number, please.");
  }
}

async function select(io: PlainIO, title: string, options: readonly Option[], extra: Extra = {}) {
  const names = options.map((option) => (typeof option === "string" ? option : option.label));
  const rows = options.map((option, index) => {
    const about = typeof option === "string" || !option.description ? "" : `  ${option.description}`;
    return `${index + 1} ${names[index]}${about}`;
  });
  io.say(who, [title, ...rows, "A number, or an empty line for none."].join("\n"));
  for (;;) {
    const said = (await io.ask(extra.signal))?.trim();
    if (said === undefined || said === "") return undefined;
    const chosen = names[Number(said) - 1] ?? names.find((name) => name === said);
    if (chosen !== undefined) return chosen;
    io.say(who, `A number from 1 to ${names.length}, or an empty line for none.`);
  }
}

async function confirm(io: PlainIO, title: string, message: string, extra: Extra = {}): Promise<boolean> {
  io.say(who, [title, message, "1 yes", "2 no", "A number."].join("\n"));
  const said = (await answer(io, extra.signal))?.toLowerCase();
  return said === "1" || said === "y" || said === "yes";
}

async function line(io: PlainIO, title: string, extra: Extra = {}): Promise<string | undefined> {
  io.say(who, title);
  return io.ask(extra.signal);
}

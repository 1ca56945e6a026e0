// Questions of a session in plain lines: numbered lists, answered by a line. What is not a clear yes is a no.

import type { SessionUI } from "../../sdk/index.js";
import type { PlainIO } from "./plain-io.js";

type Extra = { signal?: AbortSignal | undefined };
type Option = string | { label: string; description?: string };

const who = "question";

export function plainQuestions(io: PlainIO): SessionUI {
  // One at a time, in their order.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const mine = last.then(ask, ask);
    last = mine.catch(() => {});
    return mine;
  };
  return {
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
  const said = (await io.ask(extra.signal))?.trim().toLowerCase();
  return said === "1" || said === "y" || said === "yes";
}

async function line(io: PlainIO, title: string, extra: Extra = {}): Promise<string | undefined> {
  io.say(who, title);
  return io.ask(extra.signal);
}

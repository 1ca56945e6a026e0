// The commands of plain mode. What is no command of ours goes to the session, whose extensions have theirs.

import { GalleyError } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import type { AgentSession } from "../../sdk/index.js";
import { applyUsage, applyWords, discardUsage, discardWords, redoWords, undoWords } from "../commands/decide-words.js";
import type { PlainIO } from "./plain-io.js";
import { reviewPlainly } from "./plain-review.js";

export interface PlainProgram {
  readonly session: AgentSession;
  readonly io: PlainIO;
  leave(code: number): void;
  /** `galley login`, with the terminal. */
  login(provider: string): Promise<boolean>;
}

interface PlainCommand {
  readonly help: string;
  run(program: PlainProgram, argument: string): Promise<unknown> | undefined;
}

export const plainCommands: Readonly<Record<string, PlainCommand>> = {
  help: { help: "the commands", run: async ({ io }) => io.say("galley", helpText()) },
  review: { help: "decide hunk by hunk", run: ({ session, io }) => reviewPlainly(session, io) },
  pending: { help: "what waits for a decision", run: pending },
  apply: { help: `${applyUsage} apply the next, or this one`, run: telling(applyWords) },
  discard: { help: `${discardUsage} discard it`, run: telling(discardWords) },
  undo: { help: "[CHANGE] take back the newest change, or this one", run: telling(undoWords) },
  redo: { help: "make the last undone change again", run: telling(redoWords) },
  changes: { help: "what was applied", run: changes },
  login: { help: "[PROVIDER] store a key for a model", run: login },
  quit: { help: "leave", run: async (program) => program.leave(0) },
};

/** `line` begins with a slash. */
export async function runPlainCommand(program: PlainProgram, line: string): Promise<void> {
  const [word = "", ...rest] = line.slice(1).split(" ");
  const command = Object.hasOwn(plainCommands, word) ? plainCommands[word] : undefined;
  if (command) return void (await command.run(program, rest.join(" ").trim()));
  if (program.session.getCommands().some(({ name }) => name === word)) return program.session.prompt(line);
  throw new GalleyError("usage", `Unknown command /${word}. /help lists them.`);
}

function helpText(): string {
  const rows = Object.entries(plainCommands).map(([name, { help }]) => `/${name} ${help}`);
  return ["A line is a prompt, or one of these commands:", ...rows].join("\n");
}

function telling(work: (session: AgentSession, argument: string) => Promise<string>): PlainCommand["run"] {
  return async ({ session, io }, argument) => io.say("galley", await work(session, argument));
}

async function pending({ session, io }: PlainProgram): Promise<void> {
  const actions = await session.getPendingActions({ check: true });
  if (actions.length === 0) io.say("galley", "Nothing is pending.");
  for (const { id, label, status } of actions)
    io.say(`preview ${id}`, `${writtenOut(label)}${status === "pending" ? "" : `, ${status}`}`);
}

async function changes({ session, io }: PlainProgram): Promise<void> {
  const all = await session.getChanges();
  if (all.length === 0) io.say("galley", "Nothing was applied yet.");
  for (const { id, label, state } of all) io.say(`change ${id}`, `${writtenOut(label)}, ${state}`);
}

async function login({ io, login }: PlainProgram, provider: string): Promise<void> {
  io.say("galley", (await login(provider)) ? "Stored." : "Nothing was stored.");
}

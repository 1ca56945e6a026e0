// The commands of plain mode. What is no command of ours goes to the session, whose extensions have theirs.

import { GalleyError } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import type { AgentSession } from "../../sdk/index.js";
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
  apply: { help: "[ID] apply the newest, or this one", run: (program, id) => decide(program, "apply", id) },
  discard: { help: "[ID|all] [REASON] discard it", run: (program, id) => decide(program, "discard", id) },
  undo: { help: "[CHANGE] stage the undo of a change", run: undo },
  redo: { help: "stage the redo", run: async ({ session }) => void (await session.redo({})) },
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

async function pending({ session, io }: PlainProgram): Promise<void> {
  const actions = await session.getPendingActions({ check: true });
  if (actions.length === 0) io.say("galley", "Nothing is pending.");
  for (const { id, label, status } of actions)
    io.say(`preview ${id}`, `${writtenOut(label)}${status === "pending" ? "" : `, ${status}`}`);
}

async function decide({ session, io }: PlainProgram, action: "apply" | "discard", argument: string): Promise<void> {
  const [id = "", ...rest] = argument.split(" ");
  const reason = rest.join(" ").trim() || (action === "apply" ? "applied by command" : "discarded by command");
  const which = id === "all" ? { all: true } : id === "" ? {} : { pendingId: id };
  const { text } = await session.resolvePendingAction({ action, reason, by: "user", ...which });
  io.say("galley", text);
}

async function undo({ session }: PlainProgram, changeId: string): Promise<void> {
  await session.undo(changeId === "" ? {} : { changeId });
}

async function changes({ session, io }: PlainProgram): Promise<void> {
  const all = await session.getChanges();
  if (all.length === 0) io.say("galley", "Nothing was applied yet.");
  for (const { id, label, state } of all) io.say(`change ${id}`, `${writtenOut(label)}, ${state}`);
}

async function login({ io, login }: PlainProgram, provider: string): Promise<void> {
  io.say("galley", (await login(provider)) ? "Stored." : "Nothing was stored.");
}

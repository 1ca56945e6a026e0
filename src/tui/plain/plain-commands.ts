// The commands of plain mode. What is no command of ours goes to the session, whose extensions have theirs.

import { GalleyError } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import { type AccessMode, type AgentSession, accessModes } from "../../sdk/index.js";
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
  queue: { help: "TEXT send it after the run", run: queue },
  stop: { help: "stop the run", run: async ({ session, io }) => stopPlainly(session, io) },
  access: { help: "[MODE] what the agent may do", run: access },
  model: { help: "[PROVIDER/ID] choose the model", run: model },
  new: { help: "begin a new session", run: begin },
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

async function queue({ session, io }: PlainProgram, text: string): Promise<void> {
  if (text === "") throw new GalleyError("usage", "Use  /queue TEXT.  It is sent after the run.");
  if (!session.isStreaming) return session.prompt(text);
  await session.followUp(text);
  io.say("galley", `Queued: ${text}`);
}

/** What is queued must not be delivered meanwhile, and is not lost. */
export async function stopPlainly(session: AgentSession, io: PlainIO): Promise<void> {
  const { steering, followUp } = session.clearQueue();
  for (const text of [...steering, ...followUp]) io.say("galley", `Not sent: ${text}`);
  await session.abort();
}

async function access({ session, io }: PlainProgram, argument: string): Promise<void> {
  if (argument !== "") {
    if (!accessModes.includes(argument as AccessMode))
      throw new GalleyError("usage", `/access takes one of ${accessModes.join(", ")}.`);
    session.setAccess(argument as AccessMode);
  }
  io.say("galley", `Access: ${session.access}`);
}

async function model({ session, io }: PlainProgram, argument: string): Promise<void> {
  const models = session.getAvailableModels().map(({ provider, id }) => ({ provider, id, name: `${provider}/${id}` }));
  const found = models.find(({ id, name }) => argument === name || argument === id);
  if (argument !== "" && !found)
    throw new GalleyError("not_found", `No model ${argument} with a key. /model lists those that can be used.`);
  if (found) session.setModel(found.provider, found.id);
  const inUse = session.model ? `${session.model.provider}/${session.model.id}` : "none";
  io.say(
    "galley",
    argument === "" ? ["Models:", ...models.map(({ name }) => name), `In use: ${inUse}`].join("\n") : `Model: ${inUse}`,
  );
}

async function begin({ session, io }: PlainProgram): Promise<void> {
  if (await session.newSession()) io.say("galley", "A new session. Files are as they are.");
}

async function changes({ session, io }: PlainProgram): Promise<void> {
  const all = await session.getChanges();
  if (all.length === 0) io.say("galley", "Nothing was applied yet.");
  for (const { id, label, state } of all) io.say(`change ${id}`, `${writtenOut(label)}, ${state}`);
}

async function login({ session, io, login }: PlainProgram, provider: string): Promise<void> {
  const isStored = await login(provider);
  await session.reloadKeys();
  io.say("galley", isStored ? "Stored. /model lists what can be used." : "Nothing was stored.");
}

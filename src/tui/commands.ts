// The commands that begin with a slash, as data. What is no command of ours goes to the session, whose extensions, templates
// and skills have theirs; an unknown one is not sent to a model.

import { GalleyError } from "../base/errors.js";
import { accessCommand } from "./access-commands.js";
import type { TerminalApp } from "./terminal-app.js";

export interface SlashCommand {
  readonly usage: string;
  readonly help: string;
  run(app: TerminalApp, argument: string): Promise<unknown> | undefined;
}

export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: {
    usage: "",
    help: "the commands",
    run: async (app) => app.notice("info", commandLines().join("\n")),
  },
  access: { usage: "[MODE]", help: "what the agent may do", run: accessCommand },
  quit: { usage: "", help: "leave", run: async (app) => app.leave({ code: 0 }) },
};

export function commandLines(): string[] {
  return Object.entries(slashCommands).map(([name, { usage, help }]) => `/${`${name} ${usage}`.padEnd(24)} ${help}`);
}

/** `line` begins with a slash. */
export async function runCommand(app: TerminalApp, line: string): Promise<void> {
  const [word = "", ...rest] = line.slice(1).split(" ");
  const command = Object.hasOwn(slashCommands, word) ? slashCommands[word] : undefined;
  if (command) return void (await command.run(app, rest.join(" ").trim()));
  if (app.session.getCommands().some(({ name }) => name === word)) return app.session.prompt(line);
  throw new GalleyError("usage", `Unknown command /${word}.`);
}

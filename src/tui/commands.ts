// The commands that begin with a slash, as data. What is no command of ours goes to the session, whose extensions, templates
// and skills have theirs; an unknown one is not sent to a model.

import { GalleyError } from "../base/errors.js";
import { chooseThemeBy } from "./pickers/theme-picker.js";
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
  theme: { usage: "[NAME]", help: "choose the colours", run: (app, name) => chooseThemeBy(app, app.themes, name) },
  login: { usage: "[PROVIDER]", help: "store a key for a model", run: login },
  tour: { usage: "", help: "preview, apply and undo in a scratch project", run: (app) => app.access.runTour() },
  quit: { usage: "", help: "leave", run: async (app) => app.leave({ code: 0 }) },
};

/** The key is typed into `galley login`, and so is in no history, log or session of this one. */
async function login(app: TerminalApp, provider: string): Promise<void> {
  if (await app.access.login(provider)) app.notice("info", "Stored. Choose a model with  /model.");
  else app.notice("warning", "Nothing was stored.");
}

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

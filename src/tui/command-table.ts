// The commands that begin with a slash, as data. What is no command of ours goes to the session, whose extensions, templates
// and skills have theirs; an unknown one is not sent to a model.

import { editDistance } from "../base/edit-distance.js";
import { GalleyError } from "../base/errors.js";
import { oneLine } from "../base/sanitize.js";
import { accessCommand } from "./access-commands.js";
import { aboutCommands } from "./commands/about-commands.js";
import { modelCommands } from "./commands/model-commands.js";
import { pendingCommands } from "./commands/pending-commands.js";
import { sessionCommands } from "./commands/session-commands.js";
import type { SlashCommand, SlashCommands } from "./commands/slash-command.js";
import { openModels } from "./pickers/choices.js";
import { chooseThemeBy } from "./pickers/theme-picker.js";
import type { TerminalApp } from "./terminal-app.js";

export type { SlashCommand };

export const slashCommands: SlashCommands = {
  help: { usage: "", help: "the commands", run: async (app) => app.notice("info", commandLines(app).join("\n")) },
  ...modelCommands,
  ...pendingCommands,
  ...sessionCommands,
  review: {
    usage: "[ID]",
    help: "review what is pending",
    run: async (app, id) => (await import("./review/open-review.js")).openReview(app, id || undefined),
  },
  access: { usage: "[MODE]", help: "what the agent may do", run: accessCommand },
  theme: { usage: "[NAME]", help: "choose the colours", run: (app, name) => chooseThemeBy(app, app.themes, name) },
  login: { usage: "[PROVIDER]", help: "store a key for a model", run: login },
  logout: { usage: "PROVIDER|--all", help: "remove stored keys", run: logout },
  trust: { usage: "", help: "let this project run its own tools and extensions", run: trust },
  tour: { usage: "", help: "preview, apply and undo in a scratch project", run: (app) => app.access.runTour() },
  ...aboutCommands,
};

/** The key is typed into `galley login`, and so is in no history, log or session of this one. */
async function login(app: TerminalApp, provider: string): Promise<void> {
  if (!(await app.access.runVerb("login", provider))) return app.notice("warning", "Nothing was stored.");
  await app.session.reloadKeys();
  openModels(app);
}

async function logout(app: TerminalApp, argument: string): Promise<void> {
  if (argument === "") throw new GalleyError("usage", "Use  /logout PROVIDER  or  /logout --all.");
  const isDone = await app.access.runVerb("logout", argument);
  await app.session.reloadKeys();
  if (!isDone) app.notice("warning", "Nothing was removed.");
}

/** What the project would run is shown before it is asked about; what was trusted is loaded at once. */
async function trust(app: TerminalApp): Promise<void> {
  if (!(await app.access.runVerb("trust", ""))) return app.notice("warning", "Nothing was decided.");
  await app.session.reloadModules();
  await app.session.whenLoaded();
}

export function commandLines(app: TerminalApp): string[] {
  const own = Object.entries(slashCommands)
    .filter(([name]) => !isReplaced(app, name))
    .map(([name, { usage, help }]) => [`/${name} ${usage}`.trim(), help] as const);
  const others = app.session
    .getCommands()
    .map(
      ({ name, description = "", source }) => [`/${oneLine(name, 40)}`, oneLine(description, 80) || source] as const,
    );
  const width = Math.max(...own.map(([name]) => name.length));
  return [...own, ...others].map(([name, help]) => `${name.padEnd(width)}  ${help}`);
}

/** `line` begins with a slash. */
export async function runCommand(app: TerminalApp, line: string): Promise<void> {
  const [word = "", ...rest] = line.slice(1).split(/\s/);
  const command = Object.hasOwn(slashCommands, word) ? slashCommands[word] : undefined;
  if (command && !isReplaced(app, word)) return void (await command.run(app, rest.join(" ").trim()));
  const others = app.session.getCommands().map(({ name }) => name);
  if (others.includes(word)) return app.session.prompt(line, { source: "interactive", streamingBehavior: "steer" });
  const near = nearest(word, [...Object.keys(slashCommands), ...others]);
  const meant = near === undefined ? " /help lists them." : ` Did you mean /${oneLine(near, 40)}?`;
  throw new GalleyError("usage", `Unknown command /${oneLine(word, 40)}.${meant}`);
}

function isReplaced(app: TerminalApp, name: string): boolean {
  const isTheirs = () => app.session.getCommands().some((other) => other.name === name && other.source === "extension");
  return slashCommands[name]?.isReplaceable === true && isTheirs();
}

/** More lenient than for longer names: commands are short, and nothing is run without being typed again. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const close = known
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= 2 && distance < Math.max(word.length, name.length));
  return close.sort((a, b) => a.distance - b.distance)[0]?.name;
}

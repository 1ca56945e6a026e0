// The custom command contract: a module that defines `/name` commands, each of which turns what is typed behind it into
// a prompt, or handles it alone. Promises: nothing that a command does reaches its caller except its text.

import { GalleyError } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { SlashCommand } from "../../protocol/data.js";
import { runGuarded } from "../load/load-guard.js";
import type { CustomToolAPI } from "./custom-tool.js";
import { failureOf, type ToolFailure } from "./custom-tool-failure.js";
import { checkName } from "./extension-commands.js";
import {
  type CommandHost,
  type ContextDeps,
  type ContextHost,
  createCommandContext,
  type ExtensionCommandContext,
} from "./extension-context.js";
import type { ExtensionOrigin } from "./extension-origin.js";
import { sourceInfoOf } from "./source-info.js";

export interface CustomCommand {
  /** What is typed after the slash: one word. */
  name: string;
  description: string;
  /**
   * `args` are the words behind the name. A returned text becomes the prompt; without one the command has handled
   * everything. Throws to fail: hosts are told, and nothing is started.
   */
  execute(args: string[], ctx: ExtensionCommandContext): string | undefined | Promise<string | undefined>;
}

/** A module's default export. Nothing (`null`, `undefined`, `[]`) means: no command on this machine. */
export type CustomCommandFactory = (pi: CustomToolAPI) => FactoryResult | Promise<FactoryResult>;
type FactoryResult = CustomCommand | readonly CustomCommand[] | null | undefined;

export interface LoadedCommand extends Omit<ExtensionOrigin, "needsTrust"> {
  readonly command: CustomCommand;
}

/** What the factory made, and a sentence for each command that cannot be used. */
export async function makeCommands(
  factory: CustomCommandFactory,
  api: CustomToolAPI,
): Promise<{ commands: CustomCommand[]; problems: string[] }> {
  const made: unknown = await factory(api);
  const list: unknown[] = made === null || made === undefined ? [] : Array.isArray(made) ? made : [made];
  const commands: CustomCommand[] = [];
  const problems: string[] = [];
  for (const [index, command] of list.entries()) {
    try {
      if (!isCommand(command)) throw new GalleyError("invalid_argument", shapeText(index));
      checkName(command.name);
      commands.push(command);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { commands, problems };
}

export interface RunCommandDeps {
  readonly context: ContextDeps<ContextHost & CommandHost>;
  readonly log: Log;
  onError(failure: ToolFailure): void;
}

/** The longest prompt that a command may make. */
const maxPrompt = 1024 * 1024;

/** The prompt it made, if any. Never rejects because of the command. */
export async function runCustomCommand(
  { command, realPath }: LoadedCommand,
  args: string[],
  { context, log, onError }: RunCommandDeps,
): Promise<string | undefined> {
  const { name } = command;
  try {
    const ctx = createCommandContext(context);
    const said: unknown = await runGuarded({ path: realPath, log }, async () => command.execute(args, ctx));
    if (typeof said !== "string" || said.trim() === "") return undefined;
    if (said.length > maxPrompt)
      throw new GalleyError(
        "invalid_argument",
        `The prompt that /${name} made is too long; it may have ${maxPrompt} characters.`,
      );
    return said;
  } catch (error) {
    onError({ extensionPath: `custom-command:${name}`, event: "command", ...failureOf(error) });
    return undefined;
  }
}

/** As `get_commands` lists it: for hosts it looks like an extension's command. */
export function customSlashCommand({ command, path, source }: LoadedCommand): SlashCommand {
  const { name, description } = command;
  return { name, description, source: "extension", sourceInfo: sourceInfoOf(path, source) };
}

function isCommand(value: unknown): value is CustomCommand {
  if (!isObject(value)) return false;
  const { name, description, execute } = value;
  return typeof name === "string" && typeof description === "string" && typeof execute === "function";
}

function shapeText(index: number): string {
  return `Command factory returned invalid command at index ${index}: expected object with string name, string description, and execute function`;
}

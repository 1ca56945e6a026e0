// The `/name` commands of extensions: what a prompt may begin with instead of words for the model.

import { GalleyError, messageOf } from "../../base/errors.js";
import { writtenOut } from "../../base/written-out.js";
import type { SlashCommand } from "../../protocol/data.js";
import type { ExtensionCommandContext } from "./extension-context.js";

export interface CommandDefinition {
  description?: string;
  /** For a front end that completes what is typed; null where there is nothing to offer. */
  getArgumentCompletions?(prefix: string): unknown;
  handler(args: string, ctx: ExtensionCommandContext): unknown;
}

export interface RegisteredCommand {
  readonly name: string;
  readonly definition: CommandDefinition;
  /** As hosts are told where it comes from. */
  readonly sourceInfo: SlashCommand["sourceInfo"];
}

/** Why a command could not be typed or called. */
export function problemOfCommand(name: unknown, definition: unknown): string | undefined {
  try {
    checkName(name);
  } catch (error) {
    return messageOf(error);
  }
  const hasHandler = typeof (definition as CommandDefinition | undefined)?.handler === "function";
  return hasHandler ? undefined : `Command "${name}" has no handler`;
}

/** Throws `invalid_argument` for a name that could not be typed: with a space, or with what cannot be seen. */
export function checkName(name: unknown): asserts name is string {
  if (typeof name === "string" && /^[^\s/]\S*$/.test(name) && !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u.test(name)) return;
  const shown = writtenOut(String(JSON.stringify(name)));
  throw new GalleyError("invalid_argument", `Command name ${shown} is invalid: use one word`);
}

/** The command that a prompt names, and the rest of it. */
export function findCommand<Command>(
  commands: ReadonlyMap<string, Command>,
  text: string,
): { readonly command: Command; readonly args: string } | undefined {
  const [, name = "", args = ""] = /^\/(\S+)\s*(.*)$/s.exec(text) ?? [];
  const command = commands.get(name);
  return command && { command, args };
}

/** As `get_commands` lists it. */
export function asSlashCommand({ name, definition, sourceInfo }: RegisteredCommand): SlashCommand {
  const { description } = definition;
  return { name, ...(typeof description === "string" ? { description } : {}), source: "extension", sourceInfo };
}

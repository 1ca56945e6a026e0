// What a command that begins with a slash is.

import type { TerminalApp } from "../terminal-app.js";

export interface SlashCommand {
  /** What follows the name. */
  readonly usage: string;
  readonly help: string;
  /** What rejects becomes a notice. */
  run(app: TerminalApp, argument: string): Promise<unknown> | undefined;
  /** What may follow, for completion. */
  values?(app: TerminalApp): readonly string[];
}

export type SlashCommands = Readonly<Record<string, SlashCommand>>;

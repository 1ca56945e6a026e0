// What a command that begins with a slash is.

import type { TerminalApp } from "../terminal-app.js";

export interface SlashCommand {
  /** What follows the name. */
  readonly usage: string;
  readonly help: string;
  /** A command of an extension that has its name is run instead: it only tells something. */
  readonly isReplaceable?: true;
  /** What rejects becomes a notice. */
  run(app: TerminalApp, argument: string): Promise<unknown> | undefined;
  /** What may follow, for completion. */
  values?(app: TerminalApp): readonly string[];
}

export type SlashCommands = Readonly<Record<string, SlashCommand>>;

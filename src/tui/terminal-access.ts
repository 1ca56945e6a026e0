// What the terminal program needs beyond the session and the terminal. Files are opened and programs started by the command
// line, which makes this.

import type { InputAccess } from "./editor/input-access.js";

export interface TerminalAccess extends InputAccess {
  /** The working directory as a user writes it. */
  readonly directory: string;
  /** The access mode that holds, for the footer. */
  mode(): string;
  /** In the user's editor, while the terminal is free for it; undefined: there is none, or it failed. */
  editText(text: string, name: string): Promise<string | undefined>;
  /** The same for a file of the project. */
  openFile(path: string): Promise<void>;
}

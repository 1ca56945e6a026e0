// Saved prompts that are called by name, as a session knows them: a contract, so that the session need not know where
// they are stored.

import type { SlashCommand } from "../protocol/data.js";

export interface PromptLibrary {
  /** They are read. The first call starts reading. Never rejects. */
  ready(): Promise<void>;
  readonly isReady: boolean;
  /** What `/name words` stands for; undefined where it names nothing. Throws `invalid_argument` for too many words. */
  expand(text: string): string | undefined;
  commands(): SlashCommand[];
}

// How the blocks of the conversation are drawn at the moment.

import type { MarkdownTheme } from "@earendil-works/pi-tui";
import type { Theme } from "../../sdk/index.js";

/** What is drawn alike in all blocks. */
export interface ChatLook {
  readonly theme: Theme;
  readonly markdown: MarkdownTheme;
  readonly now: () => number;
  areToolsUnfolded: boolean;
  areThoughtsUnfolded: boolean;
}

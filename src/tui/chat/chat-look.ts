// How the blocks of the conversation are drawn at the moment.

import type { MarkdownTheme } from "@earendil-works/pi-tui";
import type { Theme, ToolRenderer } from "../../sdk/index.js";

/** What is drawn alike in all blocks. */
export interface ChatLook {
  readonly theme: Theme;
  readonly markdown: MarkdownTheme;
  readonly now: () => number;
  readonly cwd: string;
  /** What draws calls of this tool; undefined: we do. One for each call. */
  toolRenderer(name: string): ToolRenderer | undefined;
  /** Calls `draw` with the renderer for this message, if there is one that has not failed; undefined: we draw it. */
  drawMessage(
    message: { readonly customType: string },
    draw: (renderer: (...args: unknown[]) => unknown) => string[] | undefined,
  ): string[] | undefined;
  areToolsUnfolded: boolean;
  areThoughtsUnfolded: boolean;
}

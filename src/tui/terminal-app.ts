// What the parts of the terminal program may do: the contract between the program, its keys, its commands and its dialogs.

import type { Component, Editor } from "@earendil-works/pi-tui";
import type { ImageContent } from "../protocol/content.js";
import type { AgentSession, Theme } from "../sdk/index.js";
import type { ChatLook } from "./chat/chat-look.js";
import type { FullView } from "./full-screen.js";
import type { KeyTable } from "./keys.js";
import type { Screen } from "./screen.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { ThemeControl } from "./theme/apply-theme.js";

/** Why the program ends. */
export interface Leaving {
  readonly code: number;
}

export interface TerminalApp {
  readonly session: AgentSession;
  readonly theme: Theme;
  /** Changes the theme that everything is drawn with. */
  readonly themes: ThemeControl;
  readonly keys: KeyTable;
  /** What the program may do outside the terminal and the session. */
  readonly access: TerminalAccess;
  readonly screen: Screen;
  readonly editor: Editor;
  readonly look: ChatLook;
  /** Ends the program; the terminal is put back before anything else is printed. */
  leave(leaving: Leaving): void;
  /** As if the user had typed it. */
  send(text: string, kind?: "steer" | "followUp"): void;
  notice(level: "info" | "warning" | "error", text: string): void;
  /** In place of the editor, whose text is kept. Undefined brings the editor back. */
  showDialog(dialog: Component | undefined): void;
  /** On the alternate screen, until `closeView`. */
  openView(view: FullView): void;
  closeView(): void;
  /** An image for the next prompt. */
  attach(image: ImageContent): void;
  /** Something has changed. */
  draw(): void;
  /** The colours have changed. */
  redraw(): void;
}

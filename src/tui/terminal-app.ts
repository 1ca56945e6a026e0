// What the parts of the terminal program may do: the contract between the program, its keys, its commands and its dialogs.

import type { Component, EditorComponent, EditorTheme } from "@earendil-works/pi-tui";
import type { AgentSession, Theme } from "../sdk/index.js";
import type { ChatItem, ChatLog } from "./chat/chat-log.js";
import type { ChatLook } from "./chat/chat-look.js";
import type { Attachments } from "./editor/attachments.js";
import type { PromptEditor } from "./editor/prompt-editor.js";
import type { FullView } from "./full-screen.js";
import type { ReviewKeyTable } from "./review/review-keys.js";
import type { Screen } from "./screen.js";
import type { TerminalAccess } from "./terminal-access.js";
import type { KeyTable } from "./terminal-keys.js";
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
  readonly reviewKeys: ReviewKeyTable;
  /** What the program may do outside the terminal and the session. */
  readonly access: TerminalAccess;
  readonly screen: Screen;
  readonly editor: PromptEditor;
  readonly look: ChatLook;
  readonly chat: Pick<ChatLog, "whileAsked">;
  readonly editorTheme: EditorTheme;
  /** What is typed into: the editor, or an extension's in its place. */
  readonly input: EditorComponent;
  /** An extension's editor in place of ours, with the text; undefined brings ours back. */
  useEditor(editor: EditorComponent | undefined): void;
  /** Ends the program; the terminal is put back before anything else is printed. */
  leave(leaving: Leaving): void;
  /** As if the user had typed it. */
  send(text: string, kind?: "steer" | "followUp"): void;
  notice(level: "info" | "warning" | "error", text: string): void;
  /** Above the editor, as long as it counts; the conversation does not keep it. */
  hint(text: string, forMs: number): void;
  /** What to do next, for views that cover the conversation. */
  readonly tip: string | undefined;
  /** In place of the editor, whose text is kept. Undefined brings the editor back. */
  showDialog(dialog: Component | undefined): void;
  /** On the alternate screen, until `closeView`. */
  openView(view: FullView): void;
  closeView(): void;
  /** A dialog or a list has the keyboard. */
  readonly hasDialog: boolean;
  /** Images that go with what is typed. */
  readonly attachments: Attachments;
  /** At the end of the conversation. */
  addBlock(item: ChatItem): void;
  /** The session is another one, or at another point: its last blocks are drawn below this sentence. */
  restart(note: string, options?: { readonly maxBlocks?: number }): void;
  /** Queued messages come back into the editor, before what is typed. False: none was queued. */
  takeBackQueue(): boolean;
  /** Into the clipboard of the terminal. */
  copy(text: string): void;
  /** Something has changed. */
  draw(): void;
  /** The colours have changed. */
  redraw(): void;
}

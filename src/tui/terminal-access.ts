// What the terminal program needs beyond the session and the terminal. Files are opened and programs started by the command
// line, which makes this.

import type { ImageContent } from "../protocol/content.js";
import type { InputAccess } from "./editor/input-access.js";
import type { NotificationKind } from "./notifier.js";
import type { ThemeFile } from "./theme/choose-theme.js";

export interface TerminalAccess extends InputAccess {
  /** The working directory as a user writes it. */
  readonly directory: string;
  /** The access mode that holds, for the footer. */
  mode(): string;
  /** What the user set for terminals. */
  readonly preferences: TerminalPreferences;
  /** The screen that gives the terminal away while another program has it. */
  attach(screen: GivingScreen): void;
  /** Stops the program until the shell continues it. */
  suspend(): Promise<void>;
  /** In the user's editor, under this file name; undefined: the editor failed. Throws a sentence where none is set. */
  editText(text: string, name: string): Promise<string | undefined>;
  /** Opens a file in the user's editor. False: the editor failed. */
  openFile(path: string): Promise<boolean>;
  clipboardImage(): Promise<ImageContent | "no program" | "no image">;
  /** `more`: what extensions name. */
  themeFiles(more?: readonly string[]): Promise<readonly ThemeFile[]>;
  /** In the user's configuration; returns the file's name, as a user writes it. */
  saveSetting(key: string, value: string): Promise<string>;
  /** A command of galley's own, with the terminal: a key passes through no part of this program. False: it failed. */
  runVerb(verb: "login" | "logout" | "trust", argument: string): Promise<boolean>;
  /** Another galley in a new scratch project, with the terminal, until the user leaves it. */
  runTour(): Promise<void>;
}

export interface TerminalPreferences {
  /** `auto`, a built-in theme, or the name of a file. */
  readonly theme: string;
  readonly notifications: NotificationKind;
}

export interface GivingScreen {
  release(): void;
  take(): void;
}

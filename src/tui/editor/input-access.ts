// What typing, completion and the lists need beyond the session and the terminal. The command line makes it: the terminal
// program opens no file.

import type { ImageContent } from "../../protocol/content.js";
import type { SessionInfo } from "../../sdk/index.js";

export interface InputAccess {
  readonly version: string;
  /** What the user sent in this project, the oldest first. */
  readonly history: PromptHistoryFile;
  /** The user's file of keys; `text` is undefined where there is none. */
  keyFile(): { readonly path: string; readonly text: string | undefined };
  /** Files of the working directory, ignored ones left out. */
  fileNames(signal: AbortSignal): Promise<readonly string[]>;
  /** As a user writes it: relative, absolute or with `~`. Empty where there is none. */
  listDirectory(path: string): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[]>;
  readImage(path: string): Promise<ImageContent | undefined>;
  /** The branch of the repository around the working directory. */
  branch(): string | undefined;
  readonly sessions: SessionFiles;
  readonly settings: SettingsFile;
}

export interface PromptHistoryFile {
  load(): readonly string[];
  add(text: string): void;
}

export interface SessionFiles {
  /** Newest first. */
  list(scope: "project" | "all"): Promise<readonly SessionInfo[]>;
  rename(path: string, name: string): Promise<void>;
  delete(path: string): Promise<void>;
  countPending(path: string): Promise<number>;
}

export interface SettingRow {
  readonly key: string;
  readonly value: string;
  /** `default`, `user`, `project` or `override`. */
  readonly source: string;
  readonly help: string;
  /** What it can be; undefined where it is a text or a number. */
  readonly values: readonly string[] | undefined;
}

export interface SettingsFile {
  /** Where a choice is stored, as a user writes it. */
  readonly path: string;
  list(): Promise<readonly SettingRow[]>;
  save(key: string, value: string): Promise<void>;
}

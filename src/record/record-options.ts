// What a record is made with, and what it tells: the shapes beside SessionManager.

import type { Clock } from "../base/clock.js";
import type { Ids } from "../base/ids.js";
import type { Log } from "../base/log.js";
import type { LabelEntry, LeafEntry, SessionEntry, SessionInfoEntry } from "../protocol/entries.js";
import type { SessionDisk } from "./store/disk-access.js";
import type { PlaceOptions } from "./store/session-directories.js";

export interface SessionManagerOptions extends PlaceOptions {
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly log?: Log;
  readonly disk?: SessionDisk;
  /** Names this terminal, so that it finds its session again. */
  readonly terminalId?: string | undefined;
}

export type InMemoryOptions = Pick<SessionManagerOptions, "cwd" | "clock" | "ids" | "log">;

export interface SessionMove {
  readonly reason: string;
  readonly from: string;
  readonly to: string;
}

export interface OpenOptions {
  /** A file that is not there is a new session's place, or an error. */
  readonly ifMissing?: "create" | "fail";
  /** Asked before a new session gets its place outside of where sessions are kept; throws where there must be none. */
  checkNewPlace?(path: string): Promise<unknown>;
  /** No lock is asked for, and nothing is written. */
  readonly isReadOnly?: boolean;
}

type MarginEntry = LabelEntry | LeafEntry | SessionInfoEntry;
export type Fields<Entry> = Entry extends SessionEntry ? Omit<Entry, "id" | "parentId" | "timestamp"> : never;
/** An entry without its place in the tree; without a time it is of now. */
export type EntryFields = Fields<Exclude<SessionEntry, MarginEntry>> & { readonly timestamp?: string };

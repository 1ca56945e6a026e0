// What a record is made with, and the shapes that its callers name.

import type { Clock } from "../base/clock.js";
import type { Ids } from "../base/ids.js";
import type { Log } from "../base/log.js";
import type { LabelEntry, LeafEntry, SessionEntry, SessionHeader, SessionInfoEntry } from "../protocol/entries.js";
import type { ArtifactStore } from "./store/artifacts.js";
import type { BlobStore } from "./store/blobs.js";
import type { LoadedSession } from "./store/load-session.js";
import type { PlaceOptions } from "./store/session-directories.js";
import type { SessionDisk } from "./store/session-disk.js";

export interface RecordOptions extends PlaceOptions {
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly log?: Log;
  readonly disk?: SessionDisk;
  /** Names this terminal, so that it finds its session again. */
  readonly terminalId?: string | undefined;
}

export type InMemoryOptions = Pick<RecordOptions, "cwd" | "clock" | "ids" | "log">;

/** What a record holds before its first append. */
export interface RecordStart {
  readonly header: SessionHeader;
  readonly entries?: readonly SessionEntry[];
  /** The exact lines of entries that are kept as another program wrote them. */
  readonly originals?: ReadonlyMap<SessionEntry, string>;
  readonly warnings?: readonly string[];
}

/** Where a record is kept. `path` is absolute; `artifactsFrom` is the session file whose artifacts the entries name. */
export type RecordStorage =
  | {
      readonly kind: "memory";
      readonly options: InMemoryOptions;
      readonly artifacts?: ArtifactStore;
      readonly blobs?: BlobStore;
    }
  | {
      readonly kind: "new_file";
      readonly options: RecordOptions;
      readonly path?: string | undefined;
      readonly artifactsFrom?: string;
    }
  | { readonly kind: "loaded_file"; readonly options: RecordOptions; readonly loaded: LoadedSession };

export interface OpenOptions {
  /** Whether a missing file becomes a new session there, or is an error. */
  readonly ifMissing?: "create" | "fail";
  /** The lock is taken with the first entry: until then another process may take it, and write. */
  readonly locksLate?: boolean;
  /** No lock is asked for, and nothing is written. */
  readonly isReadOnly?: boolean;
}

type BookkeepingEntry = LabelEntry | LeafEntry | SessionInfoEntry;
export type Fields<Entry> = Entry extends SessionEntry ? Omit<Entry, "id" | "parentId" | "timestamp"> : never;
/** An entry without its place in the tree; without a time it gets the current one. */
export type EntryFields = Fields<Exclude<SessionEntry, BookkeepingEntry>> & { readonly timestamp?: string };

// A change set: what N files were when they were looked at, and the exact bytes they become. All of it happens or none
// of it. Plain data, without a word about how.

import type { Disk, DiskFile } from "../files/disk/disk.js";
import type { ChangeDescription } from "../preview/change-writer.js";

interface Placed {
  /** Absolute and canonical. */
  readonly path: string;
  /** For sentences. */
  readonly shownPath: string;
}

/** A file, or its absence, that somebody saw. */
export interface SeenPlace extends Placed {
  /** The SHA-256 of its bytes, in hex; absent where there was none. */
  readonly hash?: string;
}

interface Content {
  readonly bytes: Uint8Array;
  /** Permission bits; default: those of the file that is replaced or renamed, or what the umask leaves of 0666. */
  readonly mode?: number;
  /** Default: now. */
  readonly mtimeMs?: number;
}

interface Seen {
  /** The SHA-256, in hex, of the bytes that were seen. Any others there now make the set stale. */
  readonly beforeHash: string;
  /** The bytes themselves, where they are still at hand: what undo keeps then need not be read again. */
  readonly beforeBytes?: Uint8Array;
  /** Also a file that nobody may write. */
  readonly force?: boolean;
}

export type ChangeOp =
  | (Placed & Content & Seen & { readonly kind: "modify" })
  | (Placed & Content & { readonly kind: "create" })
  | (Placed & Seen & { readonly kind: "delete" })
  | (Placed & Content & Seen & { readonly kind: "rename"; readonly to: string; readonly shownTo: string });

export interface ChangeSet extends ChangeDescription {
  readonly ops: readonly ChangeOp[];
}

export interface AppliedSet {
  readonly txid: string;
  /** Shown paths whose other names keep the old bytes. */
  readonly hardlinkBroken: readonly string[];
  /** An undo record was kept. Not for a set that changed nothing or replaced too much. */
  readonly isUndoable: boolean;
}

/** Where the work is written down. Each directory belongs to one project root and to nobody else. */
export interface JournalPlaces {
  readonly root: string;
  readonly journalDir: string;
  readonly undoDir: string;
}

/** What the journal needs of a disk. Every call is one step: a test stops, fails or loses power between any two. */
export interface ChangeDisk extends Disk {
  mkdir(path: string, mode?: number): Promise<void>;
  /** Opens a file of ours to write at its end. Fails on a link. */
  openAppend(path: string): Promise<GrowingFile>;
}

export interface GrowingFile extends Pick<DiskFile, "append" | "fsync" | "close"> {
  truncate(sizeBytes: number): Promise<void>;
}

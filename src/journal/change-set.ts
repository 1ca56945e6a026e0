// A change set: what N files were when they were read, and the exact bytes they become. All of it happens or none of it.
// Plain data; apply.ts says how it is carried out.

import type { Disk, DiskFile } from "../files/disk/disk.js";
import type { ChangeDescription } from "../preview/change-writer.js";

interface NamedPath {
  /** Absolute and canonical. */
  readonly path: string;
  /** The path as it is shown to users and models. */
  readonly shownPath: string;
}

/** A path and what a preview found there: a file or no file. */
export interface SeenPath extends NamedPath {
  /** The SHA-256 of its bytes, in hex; absent where there was no file. */
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
  /** The SHA-256, in hex, of the bytes that were previewed. Any other bytes make the set stale. */
  readonly beforeHash: string;
  /** The bytes themselves, if the caller still has them: then they need not be read again for the undo record. */
  readonly beforeBytes?: Uint8Array;
  /** Replaces a read-only file too. */
  readonly force?: boolean;
}

export type ChangeOp =
  | (NamedPath & Content & Seen & { readonly kind: "modify" })
  | (NamedPath & Content & { readonly kind: "create" })
  | (NamedPath & Seen & { readonly kind: "delete" })
  | (NamedPath & Content & Seen & { readonly kind: "rename"; readonly to: string; readonly shownTo: string });

export interface ChangeSet extends ChangeDescription {
  readonly ops: readonly ChangeOp[];
}

export interface AppliedSet {
  readonly txid: string;
  /** Shown paths whose other names keep the old bytes. */
  readonly hardlinkBroken: readonly string[];
  /** An undo record was kept. False if the set changed nothing or replaced more bytes than undo keeps. */
  readonly isUndoable: boolean;
}

/** A project root and the directories that only its journals and undo records use. */
export interface JournalDirectories {
  readonly root: string;
  readonly journalDir: string;
  readonly undoDir: string;
}

/** What the journal needs of a disk. Every call is atomic for tests, which stop, fail or cut the power between two. */
export interface ChangeDisk extends Disk {
  mkdir(path: string, mode?: number): Promise<void>;
  /** Opens one of our own files for appending. Fails on a link. */
  openAppend(path: string): Promise<GrowingFile>;
}

export interface GrowingFile extends Pick<DiskFile, "append" | "fsync" | "close"> {
  truncate(sizeBytes: number): Promise<void>;
}

// A change set: what N paths were when they were read, and exactly what they become: files, links or directories. All of
// it happens or none of it. Plain data; apply.ts says how it is carried out.

import type { FileType } from "../base/file-type.js";
import type { Disk, DiskFile, DiskStat } from "../files/disk/disk.js";
import type { ChangeDescription } from "../plans/change-writer.js";

interface NamedPath {
  /** Absolute and canonical. */
  readonly path: string;
  /** The path as it is shown to users and models. */
  readonly shownPath: string;
}

/** A path and what a preview found there. */
export interface SeenPath extends NamedPath {
  /** Its `contentHash`; absent where there was nothing. */
  readonly hash?: string;
}

interface Content {
  /** Of a link its target; none of a directory. */
  readonly bytes: Uint8Array;
  /** What it becomes; default: a regular file. */
  readonly type?: FileType;
  /** Permission bits; default: those of the file that is replaced or renamed, or what the umask leaves of 0666 or 0777. */
  readonly mode?: number;
  /** Default: now. */
  readonly mtimeMs?: number;
}

interface Seen {
  /** The `contentHash` of what was previewed. Anything else makes the set stale. */
  readonly beforeHash: string;
  /** What was there; default: a regular file. */
  readonly beforeType?: FileType;
  /** The bytes themselves, if the caller still has them: then they need not be read again for the undo record. */
  readonly beforeBytes?: Uint8Array;
  /** Replaces a read-only file too. */
  readonly force?: boolean;
}

/** Kept for the undo record. */
interface Marked {
  readonly isProtected?: boolean;
}

export type ChangeOp =
  | (NamedPath & Marked & Content & Seen & { readonly kind: "modify" })
  | (NamedPath & Marked & Content & { readonly kind: "create" })
  | (NamedPath & Marked & Seen & { readonly kind: "delete" })
  | (NamedPath & Content & Seen & { readonly kind: "rename"; readonly to: string; readonly shownTo: string });

export interface ChangeSet extends ChangeDescription {
  readonly ops: readonly ChangeOp[];
  /** Directories that earlier changes made for files which this one takes away: removed if they are empty then. */
  readonly emptied?: readonly string[];
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

  /** Fails when the name is taken. `target`: as its bytes. */
  symlink(target: Uint8Array, path: string): Promise<void>;
  /** The target of a link, as its bytes. */
  readlink(path: string): Promise<Uint8Array>;
  /** Of a link itself. */
  chownLink(path: string, uid: number, gid: number): Promise<void>;
  /** When a link itself was last changed. */
  touchLink(path: string, modifiedMs: number): Promise<void>;
  /** Of a directory; both fail on anything else, and on a link to one. */
  chmodDirectory(path: string, mode: number): Promise<void>;
  /** Whether this process may change the mode of what it looked at; a file system may still refuse. */
  ownsMode(stat: DiskStat): boolean;
  chownDirectory(path: string, uid: number, gid: number): Promise<void>;
}

export interface GrowingFile extends Pick<DiskFile, "append" | "fsync" | "close"> {
  truncate(sizeBytes: number): Promise<void>;
}

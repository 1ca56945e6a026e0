// What a workspace needs from a disk. The rules stay in the workspace; a disk only does as told, and fails with the
// system's own errors (`ENOENT`, `EACCES`, `ELOOP`). Each changing call is one step on the disk, so that a test can stop
// or fail between any two.

/** No listing holds more names than this. */
export const maxListed = 100_000;

export interface DiskStat {
  readonly kind: "file" | "directory" | "link" | "special";
  /** `special` in words: "a FIFO". */
  readonly kindName: string;
  readonly identity: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** The twelve permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** How many names it has. */
  readonly linkCount: number;
  /** Changes with every change of the content, however small or quick. */
  readonly mark: string;
}

export type DiskKind = Pick<DiskStat, "kind" | "kindName" | "identity">;

export interface DiskEntry {
  readonly name: string;
  readonly kind: DiskStat["kind"];
}

export interface DiskRead {
  readonly bytes: Uint8Array;
  readonly isTruncated: boolean;
}

export interface Disk {
  /** The canonical path; the last component must exist. */
  realpath(path: string): Promise<string>;
  /**
   * Where a path leads and what is there; undefined where it leads nowhere or cannot be followed. Blocking, and so only
   * for the program's own files, which it reads and writes that way, and for the directory that a process starts in.
   */
  findOwn(path: string): (DiskKind & { readonly path: string }) | undefined;
  /** About the path itself: links are not followed. */
  lstat(path: string): Promise<DiskStat>;
  /** At most `maxEntries`, in any order. */
  list(path: string, maxEntries: number): Promise<DiskEntry[]>;
  /** Opens without following a link and gives `undefined` when what it opened is not the regular file `identity`. */
  read(
    path: string,
    identity: string,
    options: { maxBytes: number; signal?: AbortSignal | undefined },
  ): Promise<DiskRead | undefined>;
  /** The SHA-256 of all bytes in hex, with `read`'s rules; `undefined` also when the file changed meanwhile. */
  digest(path: string, identity: string, signal?: AbortSignal): Promise<string | undefined>;

  /** Keeps a directory open, even if it is renamed or removed. Fails on a link. */
  pin(path: string): Promise<PinnedDirectory>;
  /** A new empty file: fails when the name is taken, also by a link. The umask applies to `mode`. */
  create(path: string, mode: number): Promise<DiskFile>;
  mkdir(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  /** Fails when `to` is taken. */
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;

  /** For what lies there, and below it. */
  inBulk(place: { readonly path: string; readonly identity: string }): Promise<BulkDisk>;
}

/**
 * Reads thousands of files in a row. On a local disk its calls may block the event loop for as long as one small file
 * takes, and let other tasks have a turn in between.
 */
export interface BulkDisk {
  lstat: Disk["lstat"];
  realpath: Disk["realpath"];
  /** In the same order; undefined for a file that cannot be read: it may have vanished since it was listed. */
  lstatAll(paths: readonly string[]): Promise<(Pick<DiskStat, "kind" | "identity" | "sizeBytes"> | undefined)[]>;
  /** When each was last changed, as `lstatAll` says. Absent on disks where a call may take long. */
  readonly modifiedTimes: ((paths: readonly string[]) => Promise<(number | undefined)[]>) | undefined;
  list: Disk["list"];
  read: Disk["read"];
  /** As `read`, or `unwanted` where `isWanted` says so. It sees whole files only, and must not keep the bytes. */
  readIf(
    path: string,
    identity: string,
    options: { maxBytes: number; isWanted: (bytes: Uint8Array) => boolean; signal?: AbortSignal | undefined },
  ): Promise<DiskRead | "unwanted" | undefined>;
}

/** For a disk on which no call takes long. */
export function oneByOne(disk: Omit<Disk, "inBulk">): Disk {
  const careful = carefulBulkDisk(disk);
  return { ...disk, inBulk: async () => careful };
}

/** Of a disk's own calls, one after another. */
export function carefulBulkDisk(disk: Omit<Disk, "inBulk">): BulkDisk {
  return {
    ...disk,
    async lstatAll(paths) {
      const stats: Awaited<ReturnType<BulkDisk["lstatAll"]>> = [];
      for (const path of paths) stats.push(await disk.lstat(path).catch(() => undefined));
      return stats;
    },
    modifiedTimes: undefined,
    readIf: readThenAsk(disk.read),
  };
}

export function readThenAsk(read: Disk["read"]): BulkDisk["readIf"] {
  return async (path, identity, { isWanted, ...options }) => {
    const found = await read(path, identity, options);
    return found && !found.isTruncated && !isWanted(found.bytes) ? "unwanted" : found;
  };
}

/** A directory that was opened once. Calls on `path` act on that very directory, whatever its name is now. */
export interface PinnedDirectory {
  /** To be joined with a name. It is not the directory's real path: see `location`. */
  readonly path: string;
  /** Its real path now. */
  location(): Promise<string>;
  /** Makes the names in it durable. */
  fsync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that is being written. Acts on the file that was created, whatever its name is now. */
export interface DiskFile {
  stat(): Promise<DiskStat>;
  /** All of it. */
  append(bytes: Uint8Array): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  /** When it was last changed, kept to the microsecond. */
  utimes(modifiedMs: number): Promise<void>;
  fsync(): Promise<void>;
  close(): Promise<void>;
}

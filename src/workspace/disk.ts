// What a workspace needs from the place where files live. The rules stay in the workspace; a disk only does as told,
// and fails with the system's own errors (`ENOENT`, `EACCES`, `ELOOP`).

/** No listing holds more names than this. */
export const maxListed = 100_000;

export interface DiskStat {
  readonly kind: "file" | "directory" | "link" | "special";
  /** `special` in words: "a FIFO". */
  readonly kindName: string;
  readonly identity: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

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
}

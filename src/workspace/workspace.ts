// The workspace contract: the only hands on the user's files. One function turns what a model wrote into a target;
// everything else takes targets, so a path that was never checked cannot be opened.

/**
 * What the caller means to do. Writing joins with the apply journal, which is why every check is asked for its intent:
 * `write` will also allow a missing tail and demand a writable root, and no reader has to change for it.
 */
export type Intent = "read";

/** A checked path. Made by a workspace, never by hand. */
export interface Target {
  /** Absolute and canonical: no link, no `..`. */
  readonly path: string;
  /** For people and models: relative to `cwd` with `/` where it lies below it, control characters escaped. */
  readonly displayPath: string;
  readonly kind: "file" | "directory";
  /** What was checked (device and inode); opening anything else is an error. */
  readonly identity: string;
}

export interface FileStat {
  readonly sizeBytes: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedMs: number;
}

export interface ReadOptions {
  /** Default 50 MiB. The rest of a longer file is not read, whatever size the system reports. */
  maxBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface FileBytes {
  readonly bytes: Uint8Array;
  /** The file goes on after `bytes`. */
  readonly isTruncated: boolean;
}

export interface DirectoryEntry {
  /** As it is on disk: it may hold any character but `/` and NUL. */
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "special";
  readonly modifiedMs: number;
}

export interface DirectoryListing {
  /** The first `limit` entries, sorted without regard to case. */
  readonly entries: readonly DirectoryEntry[];
  /** How many there are; counting stops at 100,000. */
  readonly total: number;
}

export interface WalkOptions {
  signal?: AbortSignal | undefined;
  /** Which files to report, by their path below the walked directory. Default: all. */
  include?: ((relativePath: string) => boolean) | undefined;
  /** Directory names to enter although `.gitignore` or habit would skip them. */
  mentioned?: readonly string[] | undefined;
  /** Hears of each directory below the walked one that could not be listed; the walk goes on. */
  onUnreadable?: ((displayPath: string) => void) | undefined;
}

/**
 * Failures are `GalleyError`s: `not_found`; `file_refused` for what must not be opened or cannot be; `aborted`;
 * `invalid_argument` for a target of the wrong kind.
 */
export interface Workspace {
  readonly cwd: string;
  resolve(input: string, intent: Intent): Promise<Target>;
  stat(target: Target): Promise<FileStat>;
  readFile(target: Target, options?: ReadOptions): Promise<FileBytes>;
  list(target: Target, options: { limit: number; signal?: AbortSignal | undefined }): Promise<DirectoryListing>;
  /**
   * The regular files below a directory, sorted by path. Hidden ones are included; what `.gitignore` names is not, nor
   * is anything in `.git` or `node_modules`, unless the walked path or `mentioned` names it. Links are not followed.
   */
  walk(target: Target, options?: WalkOptions): AsyncIterable<Target>;
}

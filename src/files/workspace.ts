// The workspace contract: the only access to the user's files. One function turns what a model wrote into a target;
// everything else takes targets, so a path that was never checked cannot be opened.

/** What the caller wants to do. `write` allows a missing tail, and requires a writable root and an unprotected path. */
export type Intent = "read" | "write";

/** A checked path. Made by a workspace, never by hand. */
export interface Target {
  /** Absolute and canonical: no link, no `..`. */
  readonly path: string;
  /** For people and models: relative to `cwd` with `/` where it lies below it, control characters escaped. */
  readonly displayPath: string;
  readonly kind: "file" | "directory";
  /** What was checked (device and inode); opening anything else is an error. Empty where only the name is known. */
  readonly identity: string;
}

/** A checked path to write to. The file and its parent directories may not exist yet. */
export interface WriteTarget {
  /** Absolute and canonical as far as it exists; the missing tail holds neither `..` nor a link. */
  readonly path: string;
  readonly displayPath: string;
  readonly kind: "file" | "absent";
  /** Of the file that was checked; absent where there is none. */
  readonly identity?: string;
}

export interface WriteRequest {
  readonly bytes: Uint8Array;
  /**
   * What the caller saw there: the SHA-256 of the bytes in hex, or `absent`. Anything else found right before the
   * replacement is a `file_changed`, and nothing is written. Omitted: the resolved file is replaced whatever it holds
   * by now, but another file that took its place, or one that appeared where there was none, is a `file_changed`.
   */
  readonly expected?: string;
  /** Permission bits. Default: those of the file that is replaced; a new file gets what the umask leaves of 0666. */
  readonly mode?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoveRequest {
  /** The SHA-256, in hex, of the bytes that the caller saw. Anything else there is a `file_changed`. */
  readonly expected: string;
}

export interface WriteOutcome {
  readonly created: boolean;
  /** The file had other names; they keep the old bytes. */
  readonly hardlinkBroken?: true;
}

/** A path of a plan that `resolve` cannot judge: what is there is, or becomes, a link or a directory, or a command did it. */
export interface PlannedEntry {
  /** Absolute. Its last name is not followed. */
  readonly path: string;
  readonly displayPath: string;
  /** The plan makes a directory of what is there now. */
  readonly becomesDirectory: boolean;
  /** Protection does not count: the user agreed, or it is git's own data. */
  readonly isLet: boolean;
}

/** Asked where a rule says that only the user may decide. Anything but `true`, a throw included, means no. */
export type Permit = (question: PermitQuestion) => Promise<boolean>;

export interface PermitQuestion {
  readonly intent: Intent;
  /** Canonical as far as it exists, for the answer; `displayPath` for the question. */
  readonly path: string;
  readonly displayPath: string;
  readonly reason: "outside_roots" | "protected" | "secret";
}

export interface FileStat {
  readonly sizeBytes: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedMs: number;
  /** The permission bits. */
  readonly mode: number;
}

export type ModifiedTimes = (paths: readonly string[]) => Promise<(number | undefined)[]>;

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
  /** Called for each directory below the walked one that cannot be listed; the walk goes on. */
  onUnreadable?: ((displayPath: string) => void) | undefined;
}

/** What a walk would find, for a caller that has the names from a program that lists them faster. */
export interface Survey {
  /** Globs of directories that no walk would enter, besides `.git` and `node_modules`: they need not be listed. */
  readonly leftOut: readonly string[];
  /**
   * As `walk` with `include`, all at once. `paths` are those below the directory, with `/`, of every file that `include`
   * accepts and of every `.gitignore`, hidden or ignored ones as well. Undefined where only a walk can tell.
   * `wanted` are those that matter, once that is known: the others are not looked at. Without it all do.
   */
  pick(
    paths: readonly string[],
    options: {
      include: (relativePath: string) => boolean;
      wanted?: Promise<ReadonlySet<string> | undefined> | undefined;
      signal?: AbortSignal | undefined;
    },
  ): Promise<SurveyedFile[] | undefined>;
}

export interface SurveyedFile extends Target {
  /** False: it is known by its name alone, and its identity is empty. */
  readonly isSeen: boolean;
}

/**
 * Failures are `GalleyError`s: `not_found`; `file_refused` for what must not be opened or written, or cannot be;
 * `file_changed`; `aborted`; `invalid_argument` for a target of the wrong kind.
 */
export interface Workspace {
  readonly cwd: string;
  resolve(input: string, intent: "read"): Promise<Target>;
  resolve(input: string, intent: "write"): Promise<WriteTarget>;
  /** `resolve(cwd, "read")` for a command that starts there. Blocks, because the start waits for that disk anyway. */
  resolveCwd(): Promise<Target>;
  /** `resolve` for many paths, in their order. Protected paths are looked up once for all of them. */
  resolveAll(inputs: readonly string[], intent: "write"): Promise<WriteTarget[]>;
  /**
   * The rules of `resolve` for the entries of a plan; throws `file_refused`. No user is asked. Absent: this workspace
   * knows regular files only, and such plans are refused.
   */
  checkEntries?(entries: readonly PlannedEntry[]): Promise<void>;
  /** Whether a directory may be written without asking: a command may start there. */
  mayWriteBelow(target: Target): Promise<boolean>;
  stat(target: Target): Promise<FileStat>;
  readFile(target: Target, options?: ReadOptions): Promise<FileBytes>;
  /**
   * For one of thousands of files: `readFile`, or undefined where `isWanted` rejects the bytes, which it must not keep.
   * `isWanted` is not called for a file longer than `maxBytes`. May block the event loop for a short file.
   */
  readIf(
    target: Target,
    isWanted: (bytes: Uint8Array) => boolean,
    options?: ReadOptions,
  ): Promise<FileBytes | undefined>;
  /**
   * A function that says when files below a directory were last changed (as in `FileStat`), by their paths below it;
   * undefined for each that cannot be read. There is no such function on a disk where a call may take long.
   */
  modifiedTimes(target: Target): Promise<ModifiedTimes | undefined>;
  list(target: Target, options: { limit: number; signal?: AbortSignal | undefined }): Promise<DirectoryListing>;
  /**
   * The regular files below a directory, sorted by path. Hidden ones are included; what `.gitignore` names is not, nor
   * is anything in `.git` or `node_modules`, unless the walked path or `mentioned` names it. Links are not followed.
   * Files that may hold secrets are left out: a search must not read what only the user may show.
   */
  walk(target: Target, options?: WalkOptions): AsyncIterable<Target>;
  /** Undefined where `modifiedTimes` is, and where a walk would enter directories that are usually skipped. */
  survey(target: Target): Promise<Survey | undefined>;
  /**
   * Creates or replaces a file (temporary file beside it, then rename) and makes missing directories. Mode, owner and
   * group are kept; refuses if they cannot be, and refuses read-only and setuid files. A failure or an abort leaves the
   * old file, and neither a temporary file nor a new directory. Only the sync of the directory comes after the rename;
   * the error of a failed sync says that the file was written.
   */
  writeFile(target: WriteTarget, request: WriteRequest): Promise<WriteOutcome>;
  /** Removes a file that still holds the expected bytes. Directories stay. A failure leaves the file. */
  removeFile(target: WriteTarget, request: RemoveRequest): Promise<void>;
  /**
   * Runs `work` while no other work on the same file runs in this process: read, change and write without a gap. Earlier
   * work may have replaced the file, so `work` resolves its paths again. It must not ask for the same file again: that
   * would be a deadlock.
   */
  exclusively<T>(file: Pick<WriteTarget, "path" | "identity">, work: () => Promise<T>): Promise<T>;
}

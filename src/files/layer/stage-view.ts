// The contract of staged commands: a copy-on-write view of the writable roots, in which a command runs, and what it did
// there to files. Plans are the truth; the layer behind a view is only a cache of them.

/** What is at a path, on the disk or in the view. */
export type FileState =
  | { readonly type: "file"; readonly bytes: Uint8Array; readonly mode: number; readonly mtimeMs: number }
  /** `target` as its bytes. */
  | { readonly type: "symlink"; readonly target: Uint8Array }
  | { readonly type: "directory"; readonly mode: number };

/** What a command did at one path. Sorted by path; one for each path. */
export interface Effect {
  /** Absolute, below a root. */
  readonly path: string;
  /** Absent where the disk (with what is staged) had nothing there. */
  readonly before?: FileState;
  /** Absent where the view has nothing there. */
  readonly after?: FileState;
  /** The new file has other names in the view, which are separate files from here on. */
  readonly hardlinkBroken?: true;
  /**
   * Another program changed the disk there while the command ran. `before` is what the command found, not what is there
   * now; `unknown`: it could not be told, and `before` is absent.
   */
  readonly changedMeanwhile?: "known" | "unknown";
}

export interface Effects {
  readonly effects: readonly Effect[];
  /** What cannot be staged: `build.sock`, `socket`. Shown paths. */
  readonly notStaged: readonly { readonly path: string; readonly why: string }[];
  /** Ignored files that stay in the view alone. */
  readonly kept: { readonly files: number; readonly bytes: number };
  /** Instead of effects: the command changed more than can be staged, and the view has dropped it. */
  readonly dropped?: DroppedEffects;
}

/** What a command did is neither staged nor in the view. */
export interface DroppedEffects {
  readonly files: number;
  /** Before and after. */
  readonly bytes: number;
  /** What was exceeded; absent where there is another reason. */
  readonly limit?: { readonly files?: number; readonly bytes: number };
  /** The reason as a sentence. */
  readonly text: string;
}

/** What is staged in the session at this moment, as the view must show it: the newest state of each path. */
export interface StagedState {
  readonly path: string;
  /** Undefined: deleted. */
  readonly state: FileState | undefined;
}

/** One session's view of one project. */
export interface StageView {
  readonly mechanism: "overlay" | "copy";
  /**
   * Shows what is staged, and holds the view for one command. Calls wait for each other. Throws `unsupported`, `Staging
   * commands is not possible here: <reason>`.
   */
  open(staged: readonly StagedState[]): Promise<OpenView>;
  /**
   * Files that are in the view only, for the session's file tools: the path to read, outside. None while a view is open:
   * the command could replace them by links.
   */
  keptFile(path: string): string | undefined;
  keptPaths(): readonly string[];
  /** The session ends: the layer goes, if nothing is pending in it. */
  close(): Promise<void>;
}

export interface OpenView {
  /** The process whose namespaces hold the view: `BoxRules.viewHolder`. */
  readonly holder: number;
  /** What the view shows. Only this may be writable for the command: any other directory is the disk. */
  readonly roots: readonly string[];
  /** Aborted with a sentence when the layer grows beyond its limit. */
  readonly overflow: AbortSignal;
  /** What the command did. Its processes are gone. */
  collect(): Promise<Effects>;
  /** Always, also after a failure: the holder ends. */
  release(): Promise<void>;
}

// How plans reach the disk, as the rest of the program knows it: a plan in, its outcome out. The journal stands behind it,
// or a workspace that a host brings.

import type { Workspace } from "../files/workspace.js";
import type { Decider, FileStamp } from "../protocol/pending.js";
import type { PlannedChange, SeenFile } from "./plan.js";

/** What one change settles. */
export interface AppliedActions {
  /** Empty: no action is settled by it. */
  readonly pendingId: string;
  /** Other actions that the same change settles: what it rests on, the oldest first. */
  readonly alsoApplied?: readonly string[];
  /** Only a part of the action is applied: the change settles the others, and not that one. */
  readonly isPart?: true;
}

/** What an applied change set is remembered by. */
export interface ApplyOwner extends AppliedActions {
  readonly label: string;
  readonly sourceToolName: string;
  readonly by: Decider;
  readonly reason: string;
  /** The change that this one takes back. */
  readonly undoes?: string;
  /** The caller holds the files already: to wait for them would be to wait for itself. */
  readonly holdsFiles?: true;
}

export interface AppliedChanges {
  readonly changeId: string;
  /** Shown paths whose other names keep the old bytes. */
  readonly hardlinkBroken?: readonly string[];
}

/** The session that a change is made for. */
export interface ChangeSession {
  /** Its file, or its id where it has none: what a change is remembered by. */
  readonly owner: string;
  /** Puts the outcome on record, unless it is there. The journal keeps the change until then. */
  recordApplied(applied: AppliedActions, decision: { readonly by: Decider; readonly reason: string }): Promise<void>;
}

/** For changes that no session asked for. */
export const withoutSession: ChangeSession = { owner: "", recordApplied: async () => {} };

/** The session that owns a change, told again to the process that finishes the work after a crash. */
export interface ChangeOwner extends AppliedActions {
  readonly session: string;
}

/** How a change set ended. `foreign`: files that another program had changed by then and that were left as they are. */
export interface ChangeOutcome {
  readonly txid: string;
  readonly result: "applied" | "reverted";
  readonly foreign: readonly string[];
  readonly owner?: ChangeOwner;
}

/** What is told about a change set beside its files. */
export interface ChangeDescription {
  readonly label: string;
  readonly sourceToolName: string;
  readonly by: string;
  readonly reason: string;
  readonly owner?: ChangeOwner;
  /** The change that this one undoes. */
  readonly undoes?: string;
}

export interface UndoHeader extends ChangeDescription {
  readonly type: "change";
  readonly version: 1;
  readonly txid: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

export interface UndoFile {
  readonly kind: "modify" | "create" | "delete";
  readonly path: string;
  readonly shownPath: string;
  /** Null where there was no file. */
  readonly before: { readonly bytes: Uint8Array; readonly mode: number; readonly mtimeMs: number } | null;
  /** What the change left there: a hash, or null for nothing. */
  readonly afterHash: string | null;
}

/** What an applied change replaced, kept for undo. */
export interface UndoRecord extends UndoHeader {
  readonly files: readonly UndoFile[];
}

/** A file that was written without a plan. */
export type DirectChange = Omit<UndoRecord, "type" | "version" | "txid" | "at">;

export interface FileSeen {
  /** Empty where they may not be shown, or are too many to be. */
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly mode: number;
  readonly isAsLeft: boolean;
}

export interface ChangeWriter {
  /**
   * All or nothing, and on record in the session when it resolves. Throws `stale_preview` with `details` `{files, total}`
   * (shown paths that changed, how many there are) when what is on disk is not what was previewed, and `apply_failed`
   * with a whole sentence for any other reason. `workspace`: the rules that count; default: those of the session.
   */
  apply(
    changes: readonly PlannedChange[],
    owner: ApplyOwner,
    session: ChangeSession,
    workspace?: Workspace,
  ): Promise<AppliedChanges>;
  /** Keeps what a direct write replaces, for undo. Answers how to forget it, if nothing came of it. */
  note(change: Omit<DirectChange, "owner">, session: ChangeSession): Promise<() => Promise<void>>;
  /** Shown paths of what is not as it was seen. */
  staleFiles(seen: readonly SeenFile[]): Promise<string[]>;
  /** Finishes what a crash left behind. Undefined: another process is applying changes and will finish this. */
  recover(session: ChangeSession): Promise<readonly ChangeOutcome[] | undefined>;
  /** What was applied and can be undone, the newest first; of all sessions that work on this project. */
  history(): Promise<UndoRecord[]>;
  /** A sentence for the user who finds nothing to undo; absent where changes are kept on the disk. */
  readonly historyLimit?: string | undefined;
  /**
   * The file as it is now, for the other side of an undo; undefined where there is none. `left`: the hash of what the
   * change left there, which may be read again whatever the file may hold; anything else is only shown if it may be read.
   */
  look(path: string, left: string | null): Promise<FileSeen | undefined>;
  /** What a preview rests on, without its bytes; undefined where there is no file. `path` was checked. */
  stamp(path: string): Promise<Omit<FileStamp, "path" | "exists"> | undefined>;
}

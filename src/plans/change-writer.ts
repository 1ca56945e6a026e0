// The contract for writing plans to the disk: a plan in, its outcome out. The journal implements it, or a workspace that
// a host provides.

import type { FileType } from "../base/file-type.js";
import type { Workspace } from "../files/workspace.js";
import type { Decider, FileStamp } from "../protocol/pending.js";
import type { PlannedChange, SeenFile } from "./plan.js";
import type { PartStep } from "./plan-step.js";

export interface AppliedActions {
  /** Empty: no action is settled by it. */
  readonly pendingId: string;
  /** Other actions that the same change settles: those that it depends on, the oldest first. */
  readonly alsoApplied?: readonly string[];
  /** Only a part of the action is applied: the change settles the other actions, but not this one. */
  readonly isPart?: true;
  /** The actions of which only a part is applied, as their entries will say: this one, and those that it depends on. */
  readonly parts?: readonly AppliedPart[];
}

export type AppliedPart = Omit<PartStep, "event" | "action" | "by" | "changeId">;
/** The run that caused a change: one prompt to its stop. */
export interface RunMark {
  /** The session, and the entry of the prompt. */
  readonly id: string;
  /** When it began, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The description of an applied change set. */
export interface ApplyOwner extends AppliedActions {
  readonly label: string;
  readonly sourceToolName: string;
  readonly by: Decider;
  readonly reason: string;
  readonly undoes?: readonly string[];
  /** Which word asked for that; absent in older records. */
  readonly kind?: "undo" | "redo";
  /** The run that staged it; default: the one under way. */
  readonly run?: RunMark | undefined;
  /** The caller holds the files already: waiting for them would be a deadlock. */
  readonly holdsFiles?: true;
  /** Absolute paths of what a command did in the staged view: git data and read-only files among them are written. */
  readonly fromCommand?: ReadonlySet<string>;
  /** The user said that what is marked as protected may be written. */
  readonly allowsProtected?: boolean;
}

export interface AppliedChanges {
  readonly changeId: string;
  /** Shown paths of files whose other hard links keep the old bytes. */
  readonly hardlinkBroken?: readonly string[];
}

/** Which change was made, who decided, and why. */
export interface ChangeMade {
  readonly changeId: string;
  readonly by: Decider;
  readonly reason: string;
}

export interface ChangeSession {
  /** The path of its file, or its id if it has no file. Stored with the change. */
  readonly owner: string;
  /** The run under way. */
  readonly run?: RunMark | undefined;
  /** Records the outcome in the session, unless that is done. The journal keeps the change until then. */
  recordApplied(applied: AppliedActions, change: ChangeMade): Promise<void>;
}

/** For changes that no session asked for. */
export const withoutSession: ChangeSession = { owner: "", recordApplied: async () => {} };

/** The session that owns a change. The journal stores it for the process that recovers after a crash. */
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

export interface ListedChanges {
  /** The newest first. */
  readonly records: UndoRecord[];
  readonly damaged: readonly DamagedChange[];
}

/** A change whose record cannot be read. */
export interface DamagedChange {
  readonly txid: string;
  readonly reason: string;
}

/** What is told about a change set beside its files. */
export interface ChangeDescription
  extends Pick<ApplyOwner, "label" | "sourceToolName" | "reason" | "undoes" | "kind" | "run"> {
  readonly by: string;
  readonly owner?: ChangeOwner;
  /** A command did it in the staged view, so what takes it back may write the same git data. */
  readonly fromCommand?: true;
}

export interface UndoHeader extends ChangeDescription {
  readonly type: "change";
  /** 2: links or directories are among the files, or more was written than file tools may. */
  readonly version: 1 | 2;
  readonly txid: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Directories that it made for its files, the outermost first. An undo removes those that are empty then. */
  readonly dirs?: readonly string[];
}

export interface UndoFile {
  readonly kind: "modify" | "create" | "delete";
  readonly path: string;
  readonly shownPath: string;
  readonly before: OldContent | null;
  /** What the change left there: a hash, or null for nothing. */
  readonly afterHash: string | null;
  /** What git's index said that it left there (`indexMeaning`): git itself rewrites the rest of that file. */
  readonly afterMeaning?: string;
  /** Of what it left; default: a regular file. */
  readonly type?: FileType;
  /** Only the user's own word wrote it, and only that takes it back. */
  readonly protected?: true;
}

export interface OldContent {
  /** Of a link its target; none of a directory. */
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly mtimeMs: number;
  /** Default: a regular file. */
  readonly type?: FileType;
}

/** What an applied change replaced, kept for undo. */
export interface UndoRecord extends UndoHeader {
  readonly files: readonly UndoFile[];
}

/** A file that was written without a plan. */
export type DirectChange = Omit<UndoRecord, "type" | "version" | "txid" | "at">;

export interface FileSeen {
  /** Empty if they may not be shown, or are too many. */
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly mode: number;
  readonly isAsLeft: boolean;
  /** Default: a regular file. */
  readonly type?: FileType;
  /** It is neither a regular file nor what the change left there: a directory, a link, a socket. */
  readonly isOther?: true;
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
  /** Keeps what a direct write replaces, for undo. Call the returned function if the write fails. */
  note(change: Omit<DirectChange, "owner">, session: ChangeSession): Promise<() => Promise<void>>;
  /** Throws `file_refused` where the rules of the workspace forbid to write. `path` is absolute. */
  checkWritable(path: string): Promise<void>;
  /** The shown paths that are not as they were seen. */
  staleFiles(seen: readonly SeenFile[]): Promise<string[]>;
  /** Finishes what a crash left behind. Undefined: another process is applying changes and will finish this. */
  recover(session: ChangeSession): Promise<readonly ChangeOutcome[] | undefined>;
  /** What was applied and can be undone, the newest first; of all sessions that work on this project. */
  history(): Promise<UndoRecord[]>;
  /** What was applied, and cannot be undone because its record is damaged. Absent where nothing is kept on the disk. */
  damagedHistory?(): Promise<readonly DamagedChange[]>;
  /** A sentence for the user who finds nothing to undo; absent where changes are kept on the disk. */
  readonly historyLimit?: string | undefined;
  /**
   * The file as it is now, for the other side of an undo; undefined where there is none. `left`: the hash of what the
   * change left there, which may be read again whatever the file may hold; anything else is only shown if it may be read.
   */
  look(path: string, left: string | null): Promise<FileSeen | undefined>;
  /**
   * The next id of a pending action, unique among all processes that work on this project; its number is above the
   * given one. Absent or undefined where the project has no place for that: then the session counts by itself, and its
   * actions are found as `<session>:<id>`.
   */
  claimId?(above: number): string | undefined;
  /** A file that a preview depends on, without its bytes; undefined if there is no file. `path` was checked. */
  stamp(path: string): Promise<Omit<FileStamp, "path" | "exists"> | undefined>;
}

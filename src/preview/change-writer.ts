// What the session needs of the disk for its plans. The workspace stands behind it.

import type { Workspace } from "../files/workspace.js";
import type { ChangeOutcome, DirectChange, UndoRecord } from "../journal/changes.js";
import type { FileStamp } from "../protocol/pending.js";
import type { PlannedChange, SeenFile } from "./plan.js";
import type { AppliedChanges, ApplyOwner, Decision } from "./settle.js";

/** What one change settles. */
export type AppliedActions = Pick<ApplyOwner, "pendingId" | "alsoApplied" | "isPart">;

/** The session that plans are applied for. */
export interface PlanSession {
  /** Its file, or its id where it has none: what a change is remembered by. */
  owner(): string;
  recordApplied(applied: AppliedActions, decision: Pick<Decision, "by" | "reason">): Promise<void>;
}

export interface FileSeen {
  /** Empty where they may not be shown, or are too many to be. */
  readonly bytes: Uint8Array;
  readonly size: number;
  readonly mode: number;
  readonly isAsLeft: boolean;
}

export interface PlanHands {
  /** Called once, before anything else. */
  attach(session: PlanSession): void;
  /**
   * All or nothing. Throws `stale_preview` or `apply_failed`. Without a `pendingId` there is no action to settle.
   * `workspace`: whose rules count; default: that of the session.
   */
  apply(changes: readonly PlannedChange[], owner: ApplyOwner, workspace?: Workspace): Promise<AppliedChanges>;
  /** Keeps what a direct write replaces, for undo. Answers how to forget it, if nothing came of it. */
  note(change: Omit<DirectChange, "owner">): Promise<() => Promise<void>>;
  /** Shown paths of what is not as it was seen. */
  staleFiles(seen: readonly SeenFile[]): Promise<string[]>;
  /** Finishes what a crash left behind. Undefined: another program applies right now, and takes care of it. */
  recover(): Promise<readonly ChangeOutcome[] | undefined>;
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

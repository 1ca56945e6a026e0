// What is under review, for a front end that shows it: pending actions and changes, their diffs, and decisions about them.
// One implementation holds an open session, another finds the sessions of a project.

import type { Decided } from "../../pending/outcome.js";
import type { ReviseRequest } from "../../pending/revise-pending.js";
import type { PlannedBytes } from "../../plans/planned-bytes.js";
import type { DiffFile } from "../../protocol/diff.js";
import type { Change, FileChangeKind, PendingStatus } from "../../protocol/pending.js";

export interface ReviewFile {
  /** As decisions name it. */
  readonly path: string;
  /** As people see it; not cleaned. */
  readonly shown: string;
  readonly kind: FileChangeKind;
  readonly to?: string | undefined;
  readonly added: number;
  readonly removed: number;
  readonly hunks: number;
  readonly isStale: boolean;
  /** Only the user's own word writes it. */
  readonly isProtected: boolean;
  /** It stands for several paths that are decided about together, and this is what is said of them. */
  readonly group?: { readonly paths: readonly string[]; readonly text: string };
  /** What the file is now: for what has no lines to show. */
  readonly size: number;
  readonly sha256: string;
}

export interface ReviewAction {
  /** Names it among all that are under review. */
  readonly key: string;
  readonly label: string;
  readonly sourceToolName: string;
  readonly createdAt: number;
  readonly kind: "plan" | "closure";
  readonly status: PendingStatus;
  readonly revision: number;
  readonly files: readonly ReviewFile[];
  /** The prompt that caused it; empty where there was none. */
  readonly prompt: string;
  /** What would be written with it: by the key of an action, and for which files. */
  readonly restsOn: readonly { readonly key: string; readonly paths: readonly string[] }[];
  readonly lastError?: string | undefined;
  /** What a closure says about itself. */
  readonly text: string;
}

export type ReviewChange = Omit<Change, "pendingId" | "undoable">;

export interface ReviewDiff {
  /** Of the action that it shows. */
  readonly revision?: number | undefined;
  readonly files: readonly DiffFile[];
  /** What a file without lines would become, by its path. */
  readonly binaries?: ReadonlyMap<string, PlannedBytes>;
}

export interface ReviewDecision {
  readonly key: string;
  readonly revision: number;
  readonly action: "apply" | "discard";
  readonly reason: string;
  /** Absent: all of it. */
  readonly files?: readonly string[];
  readonly hunks?: Readonly<Record<string, readonly number[]>>;
  readonly withDeps?: boolean;
  /** The user was asked about the protected paths, and agreed. */
  readonly protected?: boolean;
}

export interface HunkEdit extends Omit<ReviseRequest, "pendingId" | "by"> {
  readonly key: string;
}

/** Everything decided is decided by the user. Refusals are thrown, with the sentence to show. */
export interface ReviewSource {
  /** With a look at the disk: what no longer fits is stale. */
  actions(): Promise<ReviewAction[]>;
  /** The newest first. */
  changes(): Promise<ReviewChange[]>;
  diff(of: { readonly action: string } | { readonly change: string }): Promise<ReviewDiff>;
  decide(decision: ReviewDecision): Promise<Decided>;
  revise(edit: HunkEdit): Promise<void>;
  /** The hunks that no longer find their lines: then nothing was changed. */
  rebase(
    key: string,
    revision: number,
  ): Promise<readonly { readonly path: string; readonly hunks: readonly number[] }[]>;
  /** Stages it; the key of the action. Without an id: the newest. */
  undo(changeId?: string): Promise<string>;
  redo(): Promise<string>;
  /** Something may have come, changed or gone. */
  subscribe(listener: () => void): () => void;
}

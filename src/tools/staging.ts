// Where a tool's changes go: straight to the disk, or before somebody's eyes first. A tool works out the exact bytes and
// asks; it never decides by itself.

import { GalleyError } from "../base/errors.js";
import type { AppliedChanges } from "../preview/change-writer.js";
import type { NewAction } from "../preview/pending-action-store.js";
import type { PlannedChange } from "../preview/plan.js";
import type { Decider } from "../protocol/pending.js";

export interface StagedFile {
  readonly id: string;
  /** Undefined: it would be gone. */
  readonly bytes: Uint8Array | undefined;
}

/** A file that is about to be written at once. */
export interface NotedFile {
  readonly path: string;
  readonly shownPath: string;
  readonly before: { readonly bytes: Uint8Array; readonly mode: number; readonly mtimeMs: number } | null;
  readonly afterHash: string;
}

/** A change that nobody was asked about. */
export interface AppliedAtOnce {
  readonly label: string;
  readonly sourceToolName: string;
  /** Default: the model. */
  readonly by?: Decider;
  /** Default: staging is off. */
  readonly reason?: string;
  /** Whoever asks holds the files already: to wait for them would be to wait for oneself. */
  readonly holdsFiles?: true;
}

export interface Staging {
  /** `off`: what would be previewed is applied at once. `all`: also what would be written at once is previewed. */
  mode(): "off" | "auto" | "all";
  /** Safe on record when it resolves, with its id. */
  stage(action: NewAction): Promise<string>;
  /** What is staged for a file, newest last: what a file tool of the session sees instead of the disk. */
  staged(path: string): readonly StagedFile[];
  /** Every path with something staged. */
  stagedPaths(): readonly string[];
  /** Keeps what a direct write replaces, for undo. Answers how to forget it, if nothing came of it. */
  note(what: { label: string; sourceToolName: string; files: readonly NotedFile[] }): Promise<() => Promise<void>>;
  /** Files were written without a preview: what was made for them as they were is told to be stale. */
  wrote(paths: readonly string[]): Promise<void>;
  /** All or nothing; can be undone. */
  applyNow(changes: readonly PlannedChange[], what: AppliedAtOnce): Promise<AppliedChanges>;
}

/**
 * What changes that were made for the session's view rest on. To be asked in the same breath as they are staged: throws
 * `file_changed` where somebody staged something else for a file since it was read.
 */
export function stagedBelow(staging: Staging, changes: readonly PlannedChange[]): string[] {
  const ids = new Set<string>();
  for (const change of changes) {
    const staged = staging.staged(change.path);
    if (staged.length > 0 && !isMadeFor(change, staged.at(-1)?.bytes)) throw changedSinceRead(change.stamp.path);
    for (const { id } of staged) ids.add(id);
  }
  return [...ids];
}

function isMadeFor({ stamp, before }: PlannedChange, bytes: Uint8Array | undefined): boolean {
  return bytes ? stamp.exists && Buffer.compare(before, bytes) === 0 : !stamp.exists;
}

export function changedSinceRead(displayPath: string, cause?: unknown): GalleyError {
  const message = `File changed since it was last read: ${displayPath}. Read it again.`;
  return new GalleyError("file_changed", message, { cause });
}

// Where a tool's changes go: straight to the disk, or before somebody's eyes first. A tool works out the exact bytes and
// asks; it never decides by itself.

import type { NewAction } from "../preview/pending-action-store.js";
import type { PlannedChange } from "../preview/plan.js";
import type { AppliedChanges } from "../preview/settle.js";

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

export interface Staging {
  /** `off`: what would be previewed is applied at once. `all`: also what would be written at once is previewed. */
  mode(): "off" | "auto" | "all";
  /** Safe on record when it resolves, with its id. */
  stage(action: NewAction): Promise<string>;
  /** All or nothing; can be undone. */
  /** What is staged for a file, newest last: what a file tool of the session sees instead of the disk. */
  staged(path: string): readonly StagedFile[];
  /** Every path with something staged. */
  stagedPaths(): readonly string[];
  /** Keeps what a direct write replaces, for undo. Answers how to forget it, if nothing came of it. */
  note(what: { label: string; sourceToolName: string; files: readonly NotedFile[] }): Promise<() => Promise<void>>;
  applyNow(changes: readonly PlannedChange[], what: { label: string; sourceToolName: string }): Promise<AppliedChanges>;
}

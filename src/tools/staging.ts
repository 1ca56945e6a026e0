// Where a tool's changes go: straight to the disk, or into a pending action first. A tool computes the exact bytes and
// asks; it never decides by itself.

import { GalleyError } from "../base/errors.js";
import { type FileType, usualType } from "../base/file-type.js";
import type { FileBytes, FileStat } from "../files/workspace.js";
import type { AppliedChanges } from "../plans/change-writer.js";
import type { PlannedChange } from "../plans/plan.js";
import type { NewAction } from "../plans/stored-action.js";
import type { Decider } from "../protocol/pending.js";

export interface StagedFile {
  readonly id: string;
  /** Undefined: the file would be deleted. Of a link its target; empty for a directory. */
  readonly bytes: Uint8Array | undefined;
  /** Default: a regular file. */
  readonly type?: FileType | undefined;
  /** Where a plan names it. */
  readonly mode?: number | undefined;
}

/** Ignored files that a command made: in the view only, until the session ends. */
export interface KeptFiles {
  /** The place to read it from; undefined for a path that is none. */
  file(path: string): string | undefined;
  paths(): readonly string[];
  read(place: string, maxBytes: number | undefined): Promise<FileBytes>;
  stat(place: string): Promise<FileStat>;
}

/** A file that is about to be written at once. */
export interface NotedFile {
  readonly path: string;
  readonly shownPath: string;
  readonly before: { readonly bytes: Uint8Array; readonly mode: number; readonly mtimeMs: number } | null;
  readonly afterHash: string;
}

/** A change that is applied without a decision. */
export interface AppliedAtOnce {
  readonly label: string;
  readonly sourceToolName: string;
  /** Default: the model. */
  readonly by?: Decider;
  /** Default: staging is off. */
  readonly reason?: string;
  /** The caller holds the files already: waiting for them would be a deadlock. */
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
  /** Undefined where no command was staged. */
  readonly kept?: KeptFiles | undefined;
  /** The actions that changes rest on because of the directories that they are in. */
  needed?(changes: readonly PlannedChange[]): readonly string[];
  /** Keeps what a direct write replaces, for undo. Call the returned function if the write fails. */
  note(what: { label: string; sourceToolName: string; files: readonly NotedFile[] }): Promise<() => Promise<void>>;
  /** Files were written without a preview: previews of their old content become stale. */
  wrote(paths: readonly string[]): Promise<void>;
  /** All or nothing; can be undone. */
  applyNow(changes: readonly PlannedChange[], what: AppliedAtOnce): Promise<AppliedChanges>;
}

/**
 * The files that changes to the session's view depend on. Call it in the same turn in which they are staged: throws
 * `file_changed` if another call has staged something for a file since it was read, and `file_refused` for one that is in
 * the view only: the disk has no such file, or another one, and the plan could never be applied.
 */
export function stagedBelow(staging: Staging, changes: readonly PlannedChange[]): string[] {
  const ids = new Set<string>();
  for (const change of changes) {
    const staged = staging.staged(change.path);
    const top = staged.at(-1);
    if (top && !isMadeFor(change, top)) throw changedSinceRead(change.stamp.path);
    if (!top && staging.kept?.file(change.path) !== undefined) throw keptOnly(change.stamp.path);
    for (const { id } of staged) ids.add(id);
  }
  for (const id of staging.needed?.(changes) ?? []) ids.add(id);
  return [...ids];
}

function isMadeFor({ stamp, before }: PlannedChange, { bytes, type = usualType }: StagedFile): boolean {
  if (!bytes) return !stamp.exists;
  return stamp.exists && (stamp.type ?? usualType) === type && Buffer.compare(before, bytes) === 0;
}

function keptOnly(displayPath: string): GalleyError {
  return new GalleyError(
    "file_refused",
    `Cannot change ${displayPath}: git ignores it, so it is in the staged view only and is not applied. Change it with bash.`,
  );
}

export function changedSinceRead(displayPath: string, cause?: unknown): GalleyError {
  const message = `File changed since it was last read: ${displayPath}. Read it again.`;
  return new GalleyError("file_changed", message, { cause });
}

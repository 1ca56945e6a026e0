// What an op finds at its path and what it leaves there. Most ops know files only; links behave like files, because they
// are renamed and linked like them. Directories do not: directory-ops.ts has them.

import { contentHash, type FileType, usualType } from "../../base/file-type.js";
import type { StoredOp } from "../records.js";

export const directoryHash = contentHash("directory");

/** Undefined where there is nothing. */
export interface OpTypes {
  readonly before: FileType | undefined;
  readonly after: FileType | undefined;
}

type Typed = Pick<StoredOp, "before" | "after" | "type" | "beforeType">;

export function typesOf({ before, after, type = usualType, beforeType = usualType }: Typed): OpTypes {
  return { before: before === null ? undefined : beforeType, after: after === null ? undefined : type };
}

export function isOfDirectory(op: Typed): boolean {
  const { before, after } = typesOf(op);
  return before === "directory" || after === "directory";
}

/** The directory is there when an apply begins or since its step 3; at most its mode changes. */
export function isStandingDirectory(op: Typed & Pick<StoredOp, "staged">): boolean {
  return typesOf(op).after === "directory" && op.staged === null;
}

/** Something else than a directory becomes one. */
export function becomesDirectory(op: Typed): boolean {
  const { before, after } = typesOf(op);
  return after === "directory" && before !== undefined && before !== "directory";
}

/** A directory goes, or becomes something else. */
export function losesDirectory(op: Typed): boolean {
  const { before, after } = typesOf(op);
  return before === "directory" && after !== "directory";
}

/** Step 6 renames its temporary name to the target; else it gives the target a second name. */
export function isPlacedByRename(op: Typed & Pick<StoredOp, "kind">): boolean {
  const { before, after } = typesOf(op);
  return after === "directory" || (op.kind === "modify" && before !== "directory");
}

/** Until the apply is done: files have to be put in it. */
export function openMode(mode: number): number {
  return mode | 0o700;
}

/** The mode that the directory has until step 8; undefined where it has its final mode by then. */
export function modeUntilEnd(op: StoredOp): number | undefined {
  const { afterMode, beforeMode } = op;
  if (afterMode === undefined || typesOf(op).after !== "directory") return undefined;
  const isThere = typesOf(op).before === "directory";
  const mode = isThere ? (beforeMode ?? afterMode) : openMode(afterMode);
  return mode === afterMode ? undefined : mode;
}

/** Paths at which a link is rightly found before or after step 6, although other ops are about what is below them. */
export function turnedLinks(ops: readonly StoredOp[]): string[] {
  const isTurned = (op: StoredOp) => isOfDirectory(op) && Object.values(typesOf(op)).includes("symlink");
  return ops.filter(isTurned).map(({ path }) => path);
}

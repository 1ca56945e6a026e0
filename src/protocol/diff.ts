// A complete diff as hosts read it, page by page: files, their hunks and the lines of each.

import Type, { type Static } from "typebox";
import { FileChangeKind, FileType } from "./pending.js";

const count = Type.Integer({ minimum: 0 });

/** Positions and lengths are those of the whole hunk, as in a unified diff, also where a page holds a part of it. */
export const DiffHunk = Type.Object({
  /** From 1, as `resolve_pending_action` takes it. */
  number: Type.Integer({ minimum: 1 }),
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  /** Each with its sign and without its newline; `\ No newline at end of file` is a line of its own, not counted. */
  lines: Type.Array(Type.String()),
  /** Its lines follow those that the page before ended with. */
  continued: Type.Optional(Type.Literal(true)),
});
export type DiffHunk = Static<typeof DiffHunk>;

export const DiffFile = Type.Object({
  path: Type.String(),
  kind: FileChangeKind,
  to: Type.Optional(Type.String()),
  /** What is there afterwards, of a delete what was there; absent for a regular file. Links and directories have no hunks. */
  type: Type.Optional(FileType),
  /** What was there before, where it was something else. */
  oldType: Type.Optional(FileType),
  /** Of a link: where it leads, and where it led. */
  target: Type.Optional(Type.String()),
  oldTarget: Type.Optional(Type.String()),
  /** Only the user's own word writes it. */
  protected: Type.Optional(Type.Literal(true)),
  /** A file that goes in the same action and has the same bytes. */
  renamedFrom: Type.Optional(Type.String()),
  /** Permission bits, where they change or are not the usual ones. */
  oldMode: Type.Optional(Type.Integer()),
  newMode: Type.Optional(Type.Integer()),
  /** No hunks are shown, but the sizes in bytes: `oldSize` where there was a file, `newSize` where there will be one. */
  binary: Type.Optional(Type.Literal(true)),
  oldSize: Type.Optional(count),
  newSize: Type.Optional(count),
  /** Some bytes are not UTF-8: the lines that hold them are shown as Latin-1. */
  lossy: Type.Optional(Type.Literal(true)),
  /** Of a change only: another program has written the file since, and what the change left there is not kept. */
  gone: Type.Optional(Type.Literal(true)),
  hunks: Type.Array(DiffHunk),
});
export type DiffFile = Static<typeof DiffFile>;

export const DiffPage = Type.Object({
  /** Of the pending action; absent for a change, which stays as it is. */
  revision: Type.Optional(Type.Integer({ minimum: 1 })),
  files: Type.Array(DiffFile),
  /** On the first page of a command's plan: what it did to git's own data, which is not shown file by file. */
  git: Type.Optional(Type.String()),
  /** Absent on the last page. */
  nextCursor: Type.Optional(Type.String()),
});
export type DiffPage = Static<typeof DiffPage>;

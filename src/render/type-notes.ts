// What the lines of a diff do not say of a file: links, directories, modes, protection. In words, one note for each.

import type { DiffFile } from "../protocol/diff.js";

type Written = (text: string) => string;

/** `written`: how a path is shown, with what is invisible in it written out. */
export function typeNotes(file: DiffFile, written: Written): string[] {
  const { kind, type = "file", oldType = type, renamedFrom } = file;
  const notes: string[] = [];
  if (type !== "file" || oldType !== "file") notes.push(typeNote(file, { type, oldType }, written));
  if (file.newMode !== undefined && file.oldMode === undefined && kind === "create")
    notes.push(`Mode ${modeText(file.newMode)}`);
  if (file.oldMode !== undefined && file.newMode !== undefined)
    notes.push(`Mode ${modeText(file.oldMode)} becomes ${modeText(file.newMode)}`);
  if (renamedFrom !== undefined) notes.push(`The same bytes as ${written(renamedFrom)}, which is deleted`);
  if (file.protected) notes.push("Protected: it decides what runs next, and is written only if you say so");
  return notes;
}

function typeNote(
  { kind, target, oldTarget }: DiffFile,
  { type, oldType }: { type: string; oldType: string },
  written: Written,
): string {
  const was = nameOf(oldType, oldTarget, written);
  const is = nameOf(type, target, written);
  if (kind === "delete") return `It was ${nameOf(type, oldTarget, written)}`;
  if (kind === "create") return capital(is);
  if (type === "directory" && oldType === "directory") return "A directory";
  return `${capital(was)} becomes ${is}`;
}

function nameOf(type: string, target: string | undefined, written: Written): string {
  if (type === "symlink") return target === undefined ? "a link" : `a link to ${written(target)}`;
  return type === "directory" ? "a directory" : "a file";
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function modeText(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

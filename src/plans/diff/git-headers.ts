// Git's extended headers: what a plain unified diff cannot say. Modes, types, files without lines, and names that have to
// be quoted. Where a plain diff says it all, none is written.

import type { FileType } from "../../base/file-type.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { PlannedChange } from "../plan.js";

/** The bits that git knows, with those that it does not. */
export function gitMode(type: FileType, mode: number): string {
  if (type === "symlink") return "120000";
  return (0o100000 | mode).toString(8);
}

export const usualFileMode = 0o644;

/** The real name of a change: the shown one has control characters written out. */
export function diffName({ path, stamp }: Pick<PlannedChange, "path" | "stamp">): string {
  const shown = stamp.path;
  const real = shown.startsWith("/") ? path : path.split("/").slice(-shown.split("/").length).join("/");
  return printable(real) === shown ? real : shown;
}

/** As git quotes it: in double quotes, like in C. Letters of other scripts stay readable. */
export function quotedName(name: string): string {
  if (!needsQuotes(name)) return name;
  const written = name.replace(/[\p{Cc}"\\]/gu, (character) => {
    const short = shortEscapes[character];
    return short ?? `\\${(character.codePointAt(0) ?? 0).toString(8).padStart(3, "0")}`;
  });
  return `"${written}"`;
}

const shortEscapes: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\" };

export function needsQuotes(name: string): boolean {
  return /[\p{Cc}"\\]/u.test(name);
}

/** `diff --git`, and the lines that follow it. */
export function gitHeader(name: string, lines: readonly string[]): string {
  const sides = `${quotedName(`a/${name}`)} ${quotedName(`b/${name}`)}`;
  return [`diff --git ${sides}`, ...lines, ""].join("\n");
}

/** For what has no lines to show. */
export function binaryLine(name: string, sides: { before?: number | undefined; after?: number | undefined }): string {
  const { before, after } = sides;
  const old = before === undefined ? "/dev/null" : quotedName(`a/${name}`);
  const fresh = after === undefined ? "/dev/null" : quotedName(`b/${name}`);
  const sizes = [before, after].filter((size) => size !== undefined).join(" → ");
  return `Binary files ${old} and ${fresh} differ (${sizes} bytes)\n`;
}

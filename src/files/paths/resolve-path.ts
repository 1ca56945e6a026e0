// From what a model wrote to an absolute path, by text alone: which inputs are refused before the disk is asked, which
// spellings are tried, and how a path is shown.

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { GalleyError } from "../../base/errors.js";

const maxPathBytes = 4096;
const maxComponentBytes = 255;

/**
 * The absolute paths an input can mean, the literal one first. A leading `@` (a mention) and unusual spaces (copied
 * from a title) are dropped only in later spellings, so that a file whose name really has them stays reachable.
 */
export function spellings(input: string, base: { cwd: string; home: string }): string[] {
  const withoutMention = input.startsWith("@") ? input.slice(1) : input;
  const plain = withoutMention.replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
  const texts = new Set(input === "@" ? [input] : [input, withoutMention, plain]);
  return [...new Set([...texts].map((text) => absolutePath(text, base)))];
}

/** Is `path` the directory `root` or below it? By components: `root-evil` is not in `root`. */
export function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** One form for all spellings that a file system may take for the same: composed, and without regard to case. */
export function foldPath(path: string): string {
  if (/^[ -~]*$/.test(path)) return path.toLowerCase();
  // Up first: some letters share only their capital.
  return path.normalize("NFC").toUpperCase().toLowerCase();
}

/** How a path is shown: relative to `cwd` where it lies below, with `/`, on one line. */
export function displayPath(path: string, cwd: string): string {
  const shown = isWithin(path, cwd) ? relative(cwd, path) || "." : path;
  return printable(sep === "/" ? shown : shown.replaceAll(sep, "/"));
}

/** How something below a shown directory is shown. */
export function shownBelow(directory: string, relativePath: string): string {
  if (directory === ".") return printable(relativePath);
  return `${directory === "/" ? "" : directory}/${printable(relativePath)}`;
}

/** A name from disk on one line: control characters and line separators as `\n` or `\u001b`. */
export function printable(name: string): string {
  if (/^[ -~]*$/.test(name)) return name; // most names, in a fraction of the time
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) => {
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
    return short ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}

/** An input quoted in a sentence: on one line, and cut if it is long. */
export function quoted(input: string): string {
  const shown = printable(input);
  return `'${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}'`;
}

/** One spelling, as it stands. */
export function absolutePath(text: string, { cwd, home }: { cwd: string; home: string }): string {
  if (text.trim() === "") throw refused("Path must not be empty.");
  if (/\p{Cc}/u.test(text)) throw refused(`Path ${quoted(text)} contains a control character.`);
  if (/^~[^/]/.test(text)) throw refused(`Path ${quoted(text)} names another user's home.`);
  const path = text.startsWith("~") ? join(home, text.slice(1)) : resolve(cwd, text);
  if (Buffer.byteLength(text) > maxPathBytes || Buffer.byteLength(path) > maxPathBytes)
    throw refused(`Path ${quoted(text)} is longer than ${maxPathBytes} bytes.`);
  if (path.split(sep).some((component) => Buffer.byteLength(component) > maxComponentBytes))
    throw refused(`Path ${quoted(text)} has a component longer than ${maxComponentBytes} bytes.`);
  return path;
}

function refused(message: string): GalleyError {
  return new GalleyError("file_refused", message);
}

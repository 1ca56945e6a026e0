// The patterns among a package's entries, as pi reads them: `!pattern` leaves out what matches, `+path` takes a file in
// all the same, `-path` leaves it out for good. Pure.

import { basename, dirname, relative, sep } from "node:path";
import { matchesPathGlob } from "../../base/match-glob.js";

export function isOverride(entry: string): boolean {
  return /^[!+-]/.test(entry);
}

export function isGlob(entry: string): boolean {
  return /[*?]/.test(entry);
}

/** Each file once. */
export function withOverrides(files: readonly string[], entries: readonly string[], root: string): string[] {
  const after = (sign: string) => entries.filter((entry) => entry.startsWith(sign)).map((entry) => entry.slice(1));
  const [without, always, never] = [after("!"), after("+"), after("-")];
  return [...new Set(files)].filter((file) => {
    const is = (path: string) => isExactly(file, path, root);
    if (never.some(is)) return false;
    return always.some(is) || !without.some((pattern) => matches(file, pattern, root));
  });
}

/** What the user wants of a package; an empty list is nothing. */
export function filtered(files: readonly string[], filter: readonly string[], root: string): string[] {
  if (filter.length === 0) return [];
  const wanted = filter.filter((entry) => !isOverride(entry));
  const always = filter.filter((entry) => entry.startsWith("+")).map((entry) => entry.slice(1));
  const kept = files.filter(
    (file) =>
      wanted.length === 0 ||
      wanted.some((pattern) => matches(file, pattern, root)) ||
      always.some((path) => isExactly(file, path, root)),
  );
  return withOverrides(kept, filter, root);
}

/** A skill is also known by its folder. */
function namesOf(file: string, root: string): { paths: string[]; names: string[] } {
  const own = basename(file) === "SKILL.md" ? [file, dirname(file)] : [file];
  const paths = own.map((path) => relative(root, path).replaceAll(sep, "/"));
  return { paths, names: own.map((path) => basename(path)) };
}

function isExactly(file: string, path: string, root: string): boolean {
  return namesOf(file, root).paths.includes(path.replace(/^\.\//, ""));
}

function matches(file: string, pattern: string, root: string): boolean {
  const { paths, names } = namesOf(file, root);
  return [...paths, ...names].some((name) => matchesPathGlob(name, pattern));
}

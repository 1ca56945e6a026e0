// Globs as functions, with a bound on what they may cost: the pattern comes from a model, the names from a disk.

import { basename, sep } from "node:path";
import { compileInTime, isCostlyGlob, matchInTime } from "../../files/walk/glob-cost.js";
import { toolFailure } from "../tool.js";

/** `anyDepth`: a glob without `/` is matched against the last component alone. */
export async function compileGlob(
  glob: string,
  { anyDepth }: { anyDepth: boolean },
): Promise<(path: string) => boolean> {
  if (isCostlyGlob(glob)) throw toolFailure(`Glob '${glob.slice(0, 80)}' has too many wildcards.`);
  const { default: picomatch } = await import("picomatch");
  // Its own matcher asks this expression too, and takes ten times as long for what it wraps around the answer.
  const expression = compileInTime(() => picomatch.makeRe(glob, { dot: true, noextglob: true, windows: sep === "\\" }));
  if (!expression) throw toolFailure(`Glob '${glob.slice(0, 80)}' cannot be read; use fewer backslashes.`);
  const isName = anyDepth && !glob.includes("/");
  const test = matchInTime([glob], (path) => {
    if (path === "" || path === glob) return path !== "";
    return expression.test(isName ? basename(path) : path);
  });
  return (path) => {
    const answer = test(path);
    if (answer !== undefined) return answer;
    throw toolFailure(`Glob '${glob.slice(0, 80)}' takes too long to match; use fewer wildcards.`);
  };
}

export function hasWildcard(path: string): boolean {
  return /[*?{[]/.test(path);
}

/** `src/**\/*.ts` -> the directory that needs no matching, and the rest. */
export function splitGlob(path: string): { base: string; glob: string } {
  const components = path.split("/");
  const first = components.findIndex(hasWildcard);
  const base = components.slice(0, first).join("/");
  return { base: base || (path.startsWith("/") ? "/" : "."), glob: components.slice(first).join("/") };
}

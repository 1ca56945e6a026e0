// Globs as functions, with a bound on what they may cost: the pattern comes from a model, the names from a disk.

import { isCostlyGlob, matchInTime } from "../workspace/glob-cost.js";
import { toolFailure } from "./tool.js";

/** `anyDepth`: a glob without `/` is matched against the last component alone. */
export async function compileGlob(
  glob: string,
  { anyDepth }: { anyDepth: boolean },
): Promise<(path: string) => boolean> {
  if (isCostlyGlob(glob)) throw toolFailure(`Glob '${glob.slice(0, 80)}' has too many wildcards.`);
  const { default: picomatch } = await import("picomatch");
  const isMatch = picomatch(glob, { dot: true, noextglob: true, basename: anyDepth && !glob.includes("/") });
  const test = matchInTime([glob], (path) => isMatch(path));
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

// Globs become regular expressions, and some of those take far too long. The worst are not used at all; the others are
// stopped when a name takes too long.

import { runWithin } from "../../base/time-limit.js";

const maxLength = 256;
const maxWildcards = 4;
const maxAlternatives = 3;

export function isCostlyGlob(glob: string): boolean {
  if (glob.length > maxLength || glob.split("{").length - 1 > maxAlternatives) return true;
  const components = glob.split("/");
  if (components.filter((component) => component.includes("**")).length > maxWildcards) return true;
  return components.some((component) => wildcardsIn(component) > maxWildcards);
}

/** For one name. */
const maxMatchMs = 50;
const maxCompileMs = 250;
/** About 30 ms of them. */
const maxSteps = 1_000_000;
/** Longer than any path. */
const longest = 4096;

/**
 * Compiles a glob, with an end: undefined when it took too long. picomatch 4.0.7 never returns from a wildcard that is
 * followed by four backslashes.
 */
export function compileInTime<Compiled>(compile: () => Compiled): Compiled | undefined {
  let compiled: Compiled | undefined;
  const run = () => {
    compiled = compile();
  };
  // Once more, because it may have been the machine that was slow.
  return runWithin(maxCompileMs, run) || runWithin(maxCompileMs, run) ? compiled : undefined;
}

/** The test of these globs with a time limit: undefined when it took too long. Ordinary names cost nothing extra. */
export function matchInTime<Answer>(
  globs: readonly string[],
  test: (path: string) => Answer,
): (path: string) => Answer | undefined {
  const safeLength = findSafeLength(globs);
  return (path) => {
    if (path.length <= safeLength) return test(path);
    let answer: Answer | undefined;
    const run = () => {
      answer = test(path);
    };
    // Once more, because the machine may have been slow.
    return runWithin(maxMatchMs, run) || runWithin(maxMatchMs, run) ? answer : undefined;
  };
}

/** Up to here no name can need too many steps: there are as many ways to match as to place the wildcards' ends. */
function findSafeLength(globs: readonly string[]): number {
  const counts: number[] = []; // of globs, by their wildcards
  for (const glob of globs) {
    const wildcards = wildcardsIn(glob);
    counts[wildcards] = (counts[wildcards] ?? 0) + 1;
  }
  const steps = (length: number) => counts.reduce((sum, count, wildcards) => sum + count * ways(length, wildcards), 0);
  let [safe, unsafe] = [0, longest + 1];
  while (unsafe - safe > 1) {
    const middle = (safe + unsafe) >> 1;
    if (steps(middle) <= maxSteps) safe = middle;
    else unsafe = middle;
  }
  return safe;
}

/** To choose so many places of so many. */
function ways(places: number, chosen: number): number {
  let product = 1;
  for (let index = 0; index < chosen; index++) product *= (places - index) / (index + 1);
  return Math.max(product, 1);
}

function wildcardsIn(glob: string): number {
  return glob.split(/\*+/).length - 1;
}

// What a walk would find, computed from a list of names that another program made, which is many times faster than
// reading directories here. The walk's own rules apply. The list may hold ignored files, and must hold all others.

import { parse, sep } from "node:path";
import { throwIfAborted } from "../../base/abort.js";
import { TimeSlices } from "../../base/time-slices.js";
import type { BulkDisk } from "../disk/disk.js";
import { isTempName } from "../disk/temp-names.js";
import { shownBelow } from "../paths/resolve-path.js";
import type { Survey, SurveyedFile, Target } from "../workspace.js";
import { type IgnoreRules, isIgnored, readIgnoreRules } from "./ignore-rules.js";
import { rulesAbove, skippedNames } from "./walk.js";

/** Longer paths may be too long for the system, which then hides a directory from a walk but not from other programs. */
const maxPathLength = 1000;
const maxLeftOut = 200;
/** Files whose status is read together: the work on their results then takes no longer than a time slice. */
const maxTogether = 256;

/** Small batches: this process feeds the parsers, which get no more at a time than a pipe holds. */
const slices = new TimeSlices({ sliceMs: 2 });

export interface SurveyRequest {
  readonly root: Target;
  readonly cwd: string;
  /** For one pick: whether a search may come across a file. */
  showTest(): Promise<(path: string, identity: string) => boolean>;
}

/** Undefined where a walk would enter what is usually skipped, or meet what is no file. */
export async function surveyFiles(disk: BulkDisk, { root, cwd, showTest }: SurveyRequest): Promise<Survey | undefined> {
  const named = root.path.split(sep);
  if (root.path === parse(root.path).root || skippedNames.some((name) => named.includes(name))) return undefined;
  const own = await readIgnoreRules(disk, root.path);
  const rules = [...(await rulesAbove(disk, root.path, cwd)), ...(own ? [own] : [])];
  const leftOut = leftOutBy(rules, root.path);
  const names = leftOut.map(({ name }) => name);
  return {
    leftOut: leftOut.map(({ glob }) => glob),
    async pick(paths, { include, wanted, signal }) {
      const kept = await notIgnored(disk, { root: root.path, rules, names, paths, include, signal });
      const looks = kept && { root, paths: kept.sort(), wanted: await wanted, mayShow: await showTest(), signal };
      return looks && lookAtAll(disk, looks);
    },
  };
}

interface Looks {
  readonly root: Target;
  readonly paths: readonly string[];
  readonly wanted: ReadonlySet<string> | undefined;
  mayShow(path: string, identity: string): boolean;
  readonly signal: AbortSignal | undefined;
}

async function lookAtAll(disk: BulkDisk, { root, paths, wanted, mayShow, signal }: Looks): Promise<SurveyedFile[]> {
  const found: SurveyedFile[] = [];
  for (let from = 0; from < paths.length; from += maxTogether) {
    throwIfAborted(signal);
    const some = paths.slice(from, from + maxTogether);
    const seen = some.filter((path) => wanted?.has(path) ?? true);
    const stats = (await disk.lstatAll(seen.map((path) => pathBelow(root.path, path)))).values();
    await slices.turn();
    for (const relativePath of some) {
      const isSeen = wanted?.has(relativePath) ?? true;
      const stat = isSeen ? stats.next().value : ({ kind: "file", identity: "" } as const);
      if (stat?.kind !== "file") continue;
      const path = pathBelow(root.path, relativePath);
      if (!mayShow(path, stat.identity)) continue;
      const displayPath = shownBelow(root.displayPath, relativePath);
      found.push({ path, displayPath, kind: "file", identity: stat.identity, isSeen });
    }
  }
  return found;
}

interface Names {
  readonly root: string;
  /** Above the root and its own. */
  readonly rules: readonly IgnoreRules[];
  readonly paths: readonly string[];
  /** Of directories that are not listed. */
  readonly names: readonly string[];
  include(path: string): boolean;
  readonly signal: AbortSignal | undefined;
}

/** Undefined where rules further down could bring back what was not listed. */
async function notIgnored(
  disk: BulkDisk,
  { root, rules, paths, names, include, signal }: Names,
): Promise<string[] | undefined> {
  const withRules = new Set(paths.filter((path) => path.endsWith(".gitignore")).map(directoryOf));
  const known = new Map<string, readonly IgnoreRules[] | "ignored">([["", rules]]);
  const kept: string[] = [];
  let isCertain = true;
  let [directory, rulesHere]: [string | undefined, readonly IgnoreRules[] | "ignored"] = [undefined, rules];
  for (const [index, path] of paths.entries()) {
    if (index % maxTogether === 0) await slices.turn();
    throwIfAborted(signal);
    if (root.length + path.length > maxPathLength) return undefined;
    const end = path.lastIndexOf("/");
    // Most files are listed behind another one of their directory.
    if (directory?.length !== Math.max(end, 0) || !path.startsWith(directory)) {
      directory = directoryOf(path);
      rulesHere = known.get(directory) ?? (await rulesIn(directory));
    }
    if (rulesHere === "ignored" || !include(path) || isTempName(path.slice(end + 1))) continue;
    if (rulesHere.length === 0 || !isIgnored(pathBelow(root, path), false, rulesHere)) kept.push(path);
  }
  return isCertain && !rules.some(({ isGivenUp }) => isGivenUp) ? kept : undefined;

  async function rulesIn(directory: string): Promise<readonly IgnoreRules[] | "ignored"> {
    const above = known.get(directoryOf(directory)) ?? (await rulesIn(directoryOf(directory)));
    const path = pathBelow(root, directory);
    let found = above;
    if (above !== "ignored" && isIgnored(path, true, above)) found = "ignored";
    else if (above !== "ignored" && withRules.has(directory)) {
      const own = await readIgnoreRules(disk, path);
      if (own && names.some(broughtBack(own))) isCertain = false;
      if (own) found = [...above, own];
    }
    known.set(directory, found);
    return found;
  }
}

/** Directories that are excluded by plain names, which all programs interpret in the same way. */
function leftOutBy(rules: readonly IgnoreRules[], root: string): { glob: string; name: string }[] {
  const back = rules.map(broughtBack);
  const named = rules.flatMap(({ directory, lines }) =>
    lines.flatMap((line) => {
      const [, slash, name] = /^(\/?)([\w.@+-]*\w[\w.@+-]*)\/?$/.exec(line) ?? [];
      if (slash === undefined || name === undefined || (slash === "/" && directory !== root)) return [];
      return back.some((isBack) => isBack(name)) ? [] : [{ glob: `${slash}${name}/`, name }];
    }),
  );
  return named.slice(0, maxLeftOut);
}

/** Whether lines with a `!` may be about directories of a name. One that ends in more than a name may be about any. */
function broughtBack({ lines }: IgnoreRules): (name: string) => boolean {
  const names = new Set<string>();
  for (const line of lines) {
    const text = line.trim();
    if (text.startsWith("!")) names.add(text.replace(/\/$/, "").replace(/^.*[!/]/, ""));
  }
  const isAny = [...names].some((name) => /[^\w.@+-]/.test(name));
  return (name) => isAny || names.has(name);
}

function pathBelow(root: string, path: string): string {
  return root + sep + (sep === "/" ? path : path.replaceAll("/", sep));
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

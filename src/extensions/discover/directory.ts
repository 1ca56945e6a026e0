// A directory as one package, one module or a collection of modules: what its manifest names, else its index, else the
// modules in it. A manifest cannot lead out of its directory, and no search goes round in a circle.

import { join, resolve } from "node:path";
import { isObject, type JsonObject } from "../../base/json.js";
import { matchesPathGlob } from "../../base/match-glob.js";
import { type FoundName, namesIn } from "../../files/paths/find-roots.js";
import { isWithin, printable } from "../../files/paths/resolve-path.js";
import { manifestReader } from "../trust/find-import-targets.js";
import type { Findings, ModuleKind, ModuleSource } from "./findings.js";
import { isGlob, isOverride, withOverrides } from "./package-patterns.js";

export type TextPackageKind = "skill" | "prompt" | "theme";

export interface DirectoryWork<Kind extends ModuleKind | TextPackageKind = ModuleKind> {
  readonly kind: Kind;
  readonly source: ModuleSource;
  readonly found: Findings;
  /** Real paths of the packages whose manifests led here, the innermost last. */
  readonly outer?: readonly string[];
}
export type AnyWork = DirectoryWork<ModuleKind | TextPackageKind>;

export const manifestFields = ["galley", "pi", "omp", "xcsh"];

export function directoryModules(directory: string, work: DirectoryWork): string[] {
  return ownModules(directory, work) ?? collectedModules(directory, work);
}

/** The manifest's field for us; broken when the file exists and is no manifest. */
export function readPackage(
  directory: string,
): { field?: JsonObject; value?: JsonObject; isBroken: boolean } | undefined {
  const manifest = manifestReader()(join(directory, "package.json"));
  if (!manifest) return undefined;
  const { value } = manifest;
  if (!value) return { isBroken: true };
  const field = manifestFields.map((name) => value[name]).find(isObject);
  return { isBroken: false, value, ...(field ? { field } : {}) };
}

/** Of one kind, in one manifest; no real one comes near. */
const maxEntries = 200;
const maxEntryLength = 1000;

/** The files behind a manifest's entries: files, folders, patterns. */
export function entryFiles(directory: string, entries: readonly string[], work: AnyWork): string[] {
  const { found, source, outer = [] } = work;
  const home = found.look(directory);
  if (!("realPath" in home)) return [];
  const inside = { ...work, outer: [...outer, home.realPath] };
  const files: string[] = [];
  const used = entries.filter((entry) => entry.length <= maxEntryLength).slice(0, maxEntries);
  if (used.length < entries.length)
    found.addProblem({
      path: directory,
      error: "not all of what its package.json names can be used: it is too much",
      source,
    });
  for (const entry of used) {
    if (found.isExhausted) break;
    if (isOverride(entry)) continue;
    const named = `its package.json names ${JSON.stringify(printable(entry.slice(0, 200)))}, which`;
    const fail = (error: string) => found.addProblem({ path: directory, error: `${named} ${error}`, source });
    if (!isWithin(resolve(directory, entry), directory)) fail("leaves the package");
    else if (isGlob(entry)) files.push(...globbedFiles(directory, entry, inside));
    else {
      const path = resolve(directory, entry);
      const looked = found.look(path);
      if (looked.kind === "missing") fail("does not exist");
      else if (looked.kind === "unfit") fail(looked.problem);
      else if (!isWithin(looked.realPath, home.realPath)) fail("leaves the package");
      else if (looked.kind === "file") files.push(path);
      else files.push(...folderFiles(path, inside));
    }
  }
  return withOverrides(files, used.filter(isOverride), directory);
}

/** What a folder of a package holds of one kind. */
export function folderFiles(folder: string, work: AnyWork): string[] {
  if (isOfModules(work)) return directoryModules(folder, work);
  return work.kind === "skill"
    ? skillsIn(folder, work, [])
    : [...walk(folder, work)].filter((path) => isOfKind(path, work));
}

export function strings(value: unknown): string[] {
  const list = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return list.filter((item) => typeof item === "string");
}

export function firstFile(directory: string, names: readonly string[], found: Findings): string | undefined {
  return names.map((name) => join(directory, name)).find((path) => found.look(path).kind !== "missing");
}

export function isModuleFile(name: string): boolean {
  return /\.(?:ts|js|mjs|cjs)$/.test(name) && !isAside(name);
}

/** Beside the modules, but not one of them. */
export function isAside(name: string): boolean {
  return /\.d\.[cm]?ts$|\.test\./.test(name);
}

export function indexOf(directory: string, { kind, found }: DirectoryWork): string[] | undefined {
  const isBare = kind === "tool" || kind === "command";
  const names = isBare ? ["index.ts", "index.js", "index.mjs"] : ["index.ts", "index.js"];
  const index = firstFile(directory, names, found);
  return index === undefined ? undefined : [index];
}

export function isOfModules(work: AnyWork): work is DirectoryWork {
  return work.kind !== "skill" && work.kind !== "prompt" && work.kind !== "theme";
}

/** As a package or as one module; undefined when it is neither. */
function ownModules(directory: string, work: DirectoryWork): string[] | undefined {
  const looked = work.found.look(directory);
  // The entry `.` of its own manifest means what lies in it.
  const isInside = "realPath" in looked && work.outer?.includes(looked.realPath);
  const entries = isInside ? undefined : readPackage(directory)?.field?.[`${work.kind}s`];
  return entries === undefined ? indexOf(directory, work) : entryFiles(directory, strings(entries), work);
}

/** One level of files and directories. */
function collectedModules(directory: string, work: DirectoryWork): string[] {
  const modules: string[] = [];
  const inside = enter(directory, work, []);
  for (const { name, isDirectory } of inside?.names ?? []) {
    if (work.found.isExhausted) break;
    const path = join(directory, name);
    // The hooks in `pre` and `post` are found separately.
    const isElsewhere = work.kind === "hook" && (name === "pre" || name === "post");
    if (isDirectory && !isElsewhere && enter(path, work, inside?.above ?? []))
      modules.push(...(ownModules(path, work) ?? placedPackage(path, work)));
    else if (!isDirectory && isModuleFile(name)) modules.push(path);
  }
  return modules;
}

/** A package without a manifest in a folder of extensions. */
function placedPackage(directory: string, work: DirectoryWork): string[] {
  const folder = join(directory, "extensions");
  const isOne = work.kind === "extension" && !work.outer && work.found.look(folder).kind === "directory";
  return isOne ? collectedModules(folder, work) : [];
}

function globbedFiles(directory: string, entry: string, work: AnyWork): string[] {
  const steps = entry.replace(/^(?:\.\/)+/, "").split("/");
  const fixed = steps.slice(0, steps.findIndex(isGlob));
  const rest = steps.slice(fixed.length).join("/");
  const base = join(directory, ...fixed);
  return [...walk(base, work)].flatMap((path) => {
    if (!matchesPathGlob(path.slice(base.length + 1).replaceAll("\\", "/"), rest)) return [];
    if (work.found.look(path).kind === "directory") return folderFiles(path, work);
    return isOfKind(path, work) ? [path] : [];
  });
}

function isOfKind(path: string, work: AnyWork): boolean {
  if (isOfModules(work)) return isModuleFile(path);
  return path.endsWith(work.kind === "theme" ? ".json" : ".md");
}

/** The nearest `SKILL.md` of each branch, and texts beside the folders. */
function skillsIn(folder: string, work: AnyWork, above: readonly string[]): string[] {
  const own = join(folder, "SKILL.md");
  if (work.found.look(own).kind === "file") return [own];
  const inside = enter(folder, work, above);
  return (inside?.names ?? []).flatMap(({ name, isDirectory }) => {
    if (isDirectory) return skillsIn(join(folder, name), work, inside?.above ?? []);
    return above.length === 0 && name.endsWith(".md") && !/^readme\./i.test(name) ? [join(folder, name)] : [];
  });
}

/** Files and folders, however deep. */
function* walk(folder: string, work: AnyWork, above: readonly string[] = []): Generator<string> {
  const inside = enter(folder, work, above);
  for (const { name, isDirectory } of inside?.names ?? []) {
    yield join(folder, name);
    if (isDirectory) yield* walk(join(folder, name), work, inside?.above);
  }
}

interface Entered {
  readonly names: readonly FoundName[];
  readonly above: readonly string[];
}

/** Undefined where a link leads out of the package, or back to where the search came from. */
function enter(folder: string, { found, source, outer = [] }: AnyWork, above: readonly string[]): Entered | undefined {
  const looked = found.look(folder);
  if (!("realPath" in looked) || found.isExhausted) return undefined;
  const { realPath } = looked;
  const root = outer.at(-1);
  // Outside of packages it is as if the link were not there.
  const fail = (error: string) =>
    root === undefined ? undefined : void found.addProblem({ path: folder, error, source });
  if (above.some((inner) => isWithin(inner, realPath))) return fail("leads in a circle");
  if (root !== undefined && !isWithin(realPath, root)) return fail("leads out of the package");
  const names = namesIn(folder).filter(({ name }) => name !== "node_modules");
  return { names, above: [...above, realPath] };
}

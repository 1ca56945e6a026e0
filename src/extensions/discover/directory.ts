// A directory as one package, one module or a collection of modules: what its manifest names, else its index, else the
// modules in it. A manifest cannot lead out of its directory.

import { join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.js";
import { namesIn } from "../../files/paths/find-roots.js";
import { isWithin } from "../../files/paths/resolve-path.js";
import { manifestReader } from "../trust/find-import-targets.js";
import type { Findings, ModuleKind, ModuleSource } from "./findings.js";

export interface DirectoryWork {
  readonly kind: ModuleKind;
  readonly source: ModuleSource;
  readonly found: Findings;
}

export const manifestFields = ["galley", "xcsh", "omp", "pi"];

export function directoryModules(directory: string, work: DirectoryWork): string[] {
  return ownModules(directory, work) ?? collectedModules(directory, work);
}

/** The manifest's field for us; broken when the file exists and is no manifest. */
export function readPackage(directory: string): { field?: JsonObject; isBroken: boolean } | undefined {
  const manifest = manifestReader()(join(directory, "package.json"));
  if (!manifest) return undefined;
  const field = manifestFields.map((name) => manifest.value?.[name]).find(isObject);
  return { isBroken: manifest.value === undefined, ...(field ? { field } : {}) };
}

/** The files behind a manifest's entries. A directory among them is its index, or the modules in it. */
export function entryModules(directory: string, entries: readonly string[], work: DirectoryWork): string[] {
  const { found, source } = work;
  const modules: string[] = [];
  const home = found.look(directory);
  for (const entry of entries) {
    if (found.isExhausted) break;
    const path = join(directory, entry);
    const looked = found.look(path);
    const leadsOut = "realPath" in looked && "realPath" in home && !isWithin(looked.realPath, home.realPath);
    if (leadsOut || !isWithin(path, directory))
      found.addProblem({ path, error: "leaves the package directory", source });
    else if (looked.kind === "missing") found.addProblem({ path, error: "No such file or directory", source });
    else if (looked.kind === "unfit") found.addProblem({ path, error: looked.problem, source });
    else if (looked.kind === "file") modules.push(path);
    else modules.push(...(indexOf(path, work) ?? filesIn(path)));
  }
  return modules;
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

/** As a package or as one module; undefined when it is neither. */
function ownModules(directory: string, work: DirectoryWork): string[] | undefined {
  const entries = readPackage(directory)?.field?.[`${work.kind}s`];
  return entries === undefined ? indexOf(directory, work) : entryModules(directory, strings(entries), work);
}

function indexOf(directory: string, { kind, found }: DirectoryWork): string[] | undefined {
  const isBare = kind === "tool" || kind === "command";
  const names = isBare ? ["index.ts", "index.js", "index.mjs"] : ["index.ts", "index.js"];
  const index = firstFile(directory, names, found);
  return index === undefined ? undefined : [index];
}

/** One level of files and directories. */
function collectedModules(directory: string, work: DirectoryWork): string[] {
  const modules: string[] = [];
  for (const { name, isDirectory } of namesIn(directory)) {
    if (work.found.isExhausted) break;
    const path = join(directory, name);
    // The hooks in `pre` and `post` are found separately.
    const isElsewhere = name === "node_modules" || (work.kind === "hook" && (name === "pre" || name === "post"));
    if (isDirectory && !isElsewhere) modules.push(...(ownModules(path, work) ?? []));
    else if (!isDirectory && isModuleFile(name)) modules.push(path);
  }
  return modules;
}

function filesIn(directory: string): string[] {
  return namesIn(directory)
    .filter(({ name, isDirectory }) => !isDirectory && isModuleFile(name))
    .map(({ name }) => join(directory, name));
}

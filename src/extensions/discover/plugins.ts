// What a package says it contains: the `galley` field of its `package.json` (or the same under the names of compatible
// programs), which of its features are on, and whether it is on at all.

import { basename, dirname, isAbsolute, join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.js";
import { lookAt } from "../../files/module-files.js";
import { manifestReader } from "../trust/find-import-targets.js";
import {
  type AnyWork,
  entryFiles,
  folderFiles,
  indexOf,
  isOfModules,
  manifestFields,
  readPackage,
  strings,
} from "./directory.js";
import type { Findings, ModuleSource } from "./findings.js";
import { filtered, isOverride } from "./package-patterns.js";

export interface PluginChoice {
  readonly isEnabled: boolean;
  /** `null`: those that are on by default. */
  readonly features: readonly string[] | null;
}

/** Folders that mean what they are called where no manifest says more. Others may hold anything. */
const ownFolders: Partial<Record<AnyWork["kind"], string>> = {
  extension: "extensions",
  skill: "skills",
  prompt: "prompts",
  theme: "themes",
};

export interface PackageChoice {
  readonly features?: PluginChoice["features"];
  /** Which of its files the user wants, by the names of manifests. */
  readonly filter?: JsonObject;
  /** Only a manifest counts: a library may lie in the same place. */
  readonly needsManifest?: boolean;
}

/** What a package brings of one kind: by its manifest with the features that are on, else by its folders. */
export function packageFiles(directory: string, work: AnyWork, choice: PackageChoice = {}): string[] {
  const { kind } = work;
  const files = allFiles(directory, work, choice);
  const { autoload, [`${kind}s`]: wanted } = choice.filter ?? {};
  const patterns = strings(wanted);
  // Then only what the list takes in by name or pattern.
  if (autoload === false && patterns.every(isOverride)) patterns.unshift("!**");
  return wanted === undefined && autoload !== false ? files : filtered(files, patterns, directory);
}

function allFiles(directory: string, work: AnyWork, { features, needsManifest }: PackageChoice): string[] {
  const { kind, source, found } = work;
  const manifest = readPackage(directory);
  if (manifest?.isBroken && isOfModules(work))
    found.addProblem({ path: join(directory, "package.json"), error: "is not a JSON object", source });
  const { field } = manifest ?? {};
  if (field) {
    const chosen = Object.entries(isObject(field.features) ? field.features : {})
      .filter(([name, feature]) => isObject(feature) && (features?.includes(name) ?? feature.default === true))
      .map(([, feature]) => feature as JsonObject);
    const entries = [field, ...chosen].flatMap((part) => strings(part[`${kind}s`]));
    return entryFiles(directory, entries, work);
  }
  const folder = ownFolders[kind];
  const home = found.look(directory);
  if (needsManifest || folder === undefined || !("realPath" in home)) return [];
  const path = join(directory, folder);
  if (found.look(path).kind === "directory") return folderFiles(path, { ...work, outer: [home.realPath] });
  return work.kind === "extension" && !isLibrary(directory)
    ? (indexOf(directory, { ...work, kind: work.kind }) ?? [])
    : [];
}

/** Does it say that it is one, by a manifest or by its folders? */
export function isPackage(directory: string): boolean {
  const isFolder = (name: string) => lookAt(join(directory, name)).kind === "directory";
  return readPackage(directory)?.field !== undefined || Object.values(ownFolders).some(isFolder);
}

/** A package without any module brings texts alone; one that names modules and has none may lack a guard. */
export function namesModules(directory: string): boolean {
  return strings(readPackage(directory)?.field?.extensions).length > 0;
}

/** Other programs import it: it was not written to be run here. */
export function isLibrary(directory: string): boolean {
  const { value = {} } = readPackage(directory) ?? {};
  const isThere = (main: string) => [main, `${main}.js`].some((name) => lookAt(join(directory, name)).kind === "file");
  return value.exports !== undefined || strings([value.main, value.module]).some(isThere);
}

/**
 * The lock file beside the packages says whether a plugin is on and with which features. A project may switch it off,
 * and remove features; it cannot switch on what the user did not.
 */
export function pluginChoice(
  directory: string,
  { overrides, source, found }: { overrides: readonly string[]; source: ModuleSource; found: Findings },
): PluginChoice {
  const read = manifestReader();
  const isScoped = basename(dirname(directory)).startsWith("@");
  const plugins = dirname(dirname(isScoped ? dirname(directory) : directory));
  const name = isScoped ? `${basename(dirname(directory))}/${basename(directory)}` : basename(directory);
  const readTable = (path: string) => {
    const file = read(path);
    if (file && !file.value) found.addProblem({ path, error: "is not a JSON object", source });
    return file?.value;
  };
  let choice: PluginChoice = { isEnabled: true, features: null };
  for (const program of manifestFields) {
    const lock = readTable(join(plugins, `${program}-plugins.lock.json`));
    const state = isObject(lock?.plugins) ? lock.plugins[name] : undefined;
    if (!isObject(state)) continue;
    const features = Array.isArray(state.enabledFeatures) ? strings(state.enabledFeatures) : null;
    choice = { isEnabled: state.enabled !== false, features };
    break;
  }
  for (const root of overrides) {
    const table = readTable(join(root, "plugin-overrides.json"));
    if (strings(table?.disabled).includes(name)) choice = { ...choice, isEnabled: false };
    const wanted = isObject(table?.features) ? table.features[name] : undefined;
    if (Array.isArray(wanted)) choice = { ...choice, features: fewer(directory, choice, strings(wanted)) };
  }
  return choice;
}

function fewer(directory: string, { features }: PluginChoice, wanted: string[]): string[] {
  const table = readPackage(directory)?.field?.features;
  const standard = Object.entries(isObject(table) ? table : {})
    .filter(([, feature]) => isObject(feature) && feature.default === true)
    .map(([name]) => name);
  return (features ?? standard).filter((name) => wanted.includes(name));
}

// Plugins that came from a marketplace: where the user's own list says they were installed. Only the list is read here.

interface MarketplacePlugin {
  readonly path: string;
  readonly level: ModuleSource["level"];
}

const maxPlugins = 1000;

/** Project before user. One that was installed for another project is not for this one. */
export function marketplacePlugins(place: {
  readonly home: string;
  readonly projectRoot: string | undefined;
  readonly found: Findings;
}): MarketplacePlugin[] {
  const { home, projectRoot, found } = place;
  const path = join(home, ".claude", "plugins", "installed_plugins.json");
  const list = manifestReader()(path);
  if (!list) return [];
  if (!isObject(list.value?.plugins)) {
    const source = { provider: "claude-plugins", providerName: "Claude Code Marketplace", level: "user" } as const;
    found.addProblem({ path, error: "is not a list of plugins", source });
    return [];
  }
  const plugins = Object.values(list.value.plugins)
    .flatMap((entry) => (Array.isArray(entry) ? entry : [entry]))
    .slice(0, maxPlugins)
    .flatMap((entry): MarketplacePlugin[] => {
      if (!isObject(entry) || typeof entry.installPath !== "string") return [];
      const at = entry.installPath.replace(/^~(?=[\\/])/, () => home);
      if (!isAbsolute(at)) return [];
      if (entry.scope === undefined || entry.scope === "user") return [{ path: at, level: "user" }];
      return isFor(entry.projectPath, projectRoot) ? [{ path: at, level: "project" }] : [];
    });
  return plugins.sort((a, b) => (a.level === b.level ? 0 : a.level === "project" ? -1 : 1));
}

function isFor(projectPath: unknown, projectRoot: string | undefined): boolean {
  if (typeof projectPath !== "string" || projectRoot === undefined) return false;
  const looked = lookAt(projectPath);
  return looked.kind === "directory" && looked.realPath === projectRoot;
}

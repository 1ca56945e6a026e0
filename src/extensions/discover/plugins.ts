// What a package says it contains: the `galley` field of its `package.json` (or the same under the names of compatible
// programs), which of its features are on, and whether it is on at all.

import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.js";
import { manifestReader } from "../trust/find-import-targets.js";
import { type DirectoryWork, entryModules, manifestFields, readPackage, strings } from "./directory.js";
import type { Findings, ModuleSource } from "./findings.js";

export interface PluginChoice {
  readonly isEnabled: boolean;
  /** `null`: those that are on by default. */
  readonly features: readonly string[] | null;
}

/** A plugin's modules of one kind: the base entries, and those of the features that are on. */
export function packageModules(
  directory: string,
  { features, ...work }: DirectoryWork & { features: PluginChoice["features"] },
): string[] {
  const { kind, source, found } = work;
  const manifest = readPackage(directory);
  if (manifest?.isBroken)
    found.addProblem({ path: join(directory, "package.json"), error: "is not a JSON object", source });
  const { field = {} } = manifest ?? {};
  const chosen = Object.entries(isObject(field.features) ? field.features : {})
    .filter(([name, feature]) => isObject(feature) && (features?.includes(name) ?? feature.default === true))
    .map(([, feature]) => feature as JsonObject);
  const entries = [field, ...chosen].flatMap((part) => strings(part[`${kind}s`]));
  return entryModules(directory, entries, work);
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

// Whether a session has extensions at all. Mostly it has none, and then no code for them is loaded.

import { type ConfigLocation, mayHaveExtensions } from "../../config/survey-extensions.js";
import { ExtensionManager } from "./extension-manager.js";
import type { ExtensionManagerDeps } from "./extension-manager-deps.js";
import type { ExtensionOptions } from "./load-session-extensions.js";

/** Undefined where there is certainly nothing to load. */
export function findExtensions(deps: ExtensionManagerDeps, options: ExtensionOptions): ExtensionManager | undefined {
  return deps.givenTools.length > 0 || mayFindExtensions(deps, options)
    ? new ExtensionManager(deps, options)
    : undefined;
}

/** Whether modules are named, or may be found. */
export function mayFindExtensions(
  location: Pick<ExtensionManagerDeps, "roots" | keyof ConfigLocation>,
  { additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions }: ExtensionOptions,
): boolean {
  const { settings, roots } = location;
  const named = [additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions];
  const isNamed = [...named, settings.get("customTools"), settings.get("extensions")].some((list) => list?.length);
  return isNamed || mayHaveExtensions(location, roots);
}

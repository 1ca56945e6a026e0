// Whether a session has extensions at all. Mostly it has none, and then no code for them is loaded.

import { mayHaveExtensions } from "../../config/survey-extensions.js";
import { ExtensionManager } from "./extension-manager.js";
import type { ExtensionManagerDeps } from "./extension-manager-deps.js";
import type { ExtensionOptions } from "./load-session-extensions.js";

/** Undefined where there is certainly nothing to load. */
export function findExtensions(deps: ExtensionManagerDeps, options: ExtensionOptions): ExtensionManager | undefined {
  const { settings } = deps;
  const { additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions } = options;
  const named = [deps.givenTools, additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions];
  const isNamed = [...named, settings.get("customTools"), settings.get("extensions")].some((list) => list?.length);
  return isNamed || mayHaveExtensions(deps, deps.roots) ? new ExtensionManager(deps, options) : undefined;
}

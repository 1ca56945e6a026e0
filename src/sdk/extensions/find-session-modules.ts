// Whether a session has modules of others at all. Mostly it has none, and then nothing of them is read.

import { mayHaveModules } from "../../config/survey-modules.js";
import type { ModuleOptions } from "./load-session-modules.js";
import { SessionModules, type SessionModulesDeps } from "./session-modules.js";

/** Undefined where there is certainly nothing to load. */
export function findSessionModules(deps: SessionModulesDeps, options: ModuleOptions): SessionModules | undefined {
  const { settings } = deps;
  const { additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions } = options;
  const named = [deps.givenTools, additionalToolPaths, additionalExtensionPaths, pluginDirectories, extensions];
  const isNamed = [...named, settings.get("customTools"), settings.get("extensions")].some((list) => list?.length);
  return isNamed || mayHaveModules(deps, deps.roots) ? new SessionModules(deps, options) : undefined;
}

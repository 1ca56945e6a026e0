// What the project's settings file names: modules and directories of skills. They count as the project's own, so they
// need its trust like all of its code, are resolved from the directory that holds the file's directory, and must be in
// it: a project cannot make galley look anywhere else.

import type { ExplicitPath } from "../extensions/discover/discover-modules.js";
import { pathInProject } from "./settings/admit-project.js";
import type { SettingKey } from "./settings/schema.js";
import type { Settings } from "./settings/settings.js";

export function modulesNamedByProject(settings: Settings): ExplicitPath[] {
  const named = (key: SettingKey, kind: ExplicitPath["kind"]) =>
    pathsNamedByProject(settings, key).map((path): ExplicitPath => ({ kind, path, namedBy: "project" }));
  return [...named("customTools", "tool"), ...named("extensions", "extension")];
}

export function pathsNamedByProject({ projectPolicy }: Settings, wanted: SettingKey): string[] {
  return projectPolicy
    .filter(({ key }) => key === wanted)
    .flatMap(({ file, value }) => (value as readonly string[]).flatMap((path) => pathInProject(file, path) ?? []));
}

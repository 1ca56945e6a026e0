// The packages of a session, for the texts in them: skills, prompts, themes. Their modules are found by `discoverModules`
// in the same places. Names and manifests only.

import { join } from "node:path";
import type { Log } from "../base/log.js";
import type { TextPackageKind } from "../extensions/discover/directory.js";
import { Findings, type ModuleSource } from "../extensions/discover/findings.js";
import { type PackageChoice, packageFiles, pluginChoice } from "../extensions/discover/plugins.js";
import { lookAt } from "../files/module-files.js";
import { namesIn } from "../files/paths/find-roots.js";
import { namedPath } from "../files/paths/named-path.js";
import { printable } from "../files/paths/resolve-path.js";
import type { ConfigLevel, ConfigRoot } from "./config-roots.js";
import { installedPackages } from "./installed-packages.js";
import { modulesNamedByProject } from "./project-named.js";
import type { Settings } from "./settings/settings.js";

/** What the command line or a program names. */
export interface NamedPackages {
  additionalExtensionPaths?: readonly string[];
  pluginDirectories?: readonly string[];
}

export interface PackageLocation {
  readonly cwd: string;
  readonly home: string;
  readonly agentDir: string;
  readonly settings: Settings;
}

export interface FoundPackage extends PackageChoice {
  readonly path: string;
  readonly level: ConfigLevel;
}

/** In the order in which the first of a name counts. */
export function findPackages(
  location: PackageLocation,
  roots: readonly ConfigRoot[],
  { additionalExtensionPaths = [], pluginDirectories = [] }: NamedPackages = {},
): FoundPackage[] {
  const { agentDir, settings } = location;
  const named = [...settings.get("extensions"), ...additionalExtensionPaths, ...pluginDirectories];
  const found: FoundPackage[] = [
    ...named.map((path) => ({ path: namedPath(path, location), level: "user" }) as const),
    ...projectPackages(location, roots),
    ...placed(roots, "user"),
    ...installedPackages(agentDir).flatMap(({ path, filter, problem }) =>
      problem === undefined ? [{ path, level: "user", ...(filter ? { filter } : {}) } as const] : [],
    ),
    ...plugins(roots),
  ];
  return found.filter(({ path }) => lookAt(path).kind === "directory");
}

/** Those that come with the project: nothing of them is used without its trust. */
export function projectPackages(
  location: Pick<PackageLocation, "cwd" | "home" | "settings">,
  roots: readonly ConfigRoot[],
): FoundPackage[] {
  const named = modulesNamedByProject(location.settings).filter(({ kind }) => kind === "extension");
  return [
    ...named.map(({ path }) => ({ path: namedPath(path, location), level: "project" }) as const),
    ...placed(roots, "project"),
  ];
}

/** What they bring of one kind. Each fault is one line in the log. */
export function packageTexts(kind: TextPackageKind, packages: readonly FoundPackage[], log?: Log) {
  return packages.flatMap(({ path, level, ...choice }) => {
    const found = new Findings();
    const source: ModuleSource = { provider: "plugin", providerName: "Plugin", level };
    const files = packageFiles(path, { kind, source, found }, choice);
    for (const problem of found.problems) log?.warn(`${printable(problem.path)}: ${problem.error}`);
    return files.map((file) => ({ path: file, provider: "plugin", level }) as const);
  });
}

function placed(roots: readonly ConfigRoot[], wanted: ConfigLevel): FoundPackage[] {
  return roots
    .filter(({ source, level }) => source === "native" && level === wanted)
    .map((root) => join(root.path, "extensions"))
    .flatMap((folder) =>
      namesIn(folder)
        .filter(({ name, isDirectory }) => isDirectory && name !== "node_modules")
        .map(({ name }) => ({ path: join(folder, name), level: wanted })),
    );
}

function plugins(roots: readonly ConfigRoot[]): FoundPackage[] {
  const own = roots.filter(({ source, level }) => source === "native" && level === "project");
  const source: ModuleSource = { provider: "plugin", providerName: "Plugin", level: "user" };
  return roots
    .filter((root) => root.source === "plugin")
    .flatMap(({ path }) => {
      const overrides = own.map((root) => root.path);
      const { isEnabled, features } = pluginChoice(path, { overrides, source, found: new Findings() });
      return isEnabled ? [{ path, level: "user", features, needsManifest: true } as const] : [];
    });
}

// `galley config paths`: where configuration is searched for, what was found there, and which file hides which.

import { existsSync } from "node:fs";
import { type ResourceFile, resourceFiles, resourceKinds } from "../../config/config-resources.js";
import { type ConfigRoots, configRootDirectory, findConfigRoots } from "../../config/config-roots.js";
import { loadSettings, projectSettingsFiles, userSettingsFile } from "../../config/settings/load-settings.js";

export interface ConfigPathsOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly agentDir: string;
}

interface SettingsPath {
  readonly level: "user" | "project";
  readonly path: string;
  readonly state: "used" | "broken" | "not there" | "hidden by a nearer one";
}

export async function configPaths(options: ConfigPathsOptions): Promise<{ json: unknown; text: string }> {
  const { env, home } = options;
  const settings = await loadSettings(options);
  const found = findConfigRoots({
    ...options,
    configRoot: configRootDirectory(env, home),
    disabled: settings.get("disabledProviders"),
  });
  const files = settingsPaths(options, (file) => settings.isBroken(file));
  const resources = resourceKinds.map((kind) => [kind, resourceFiles(found.roots, kind)] as const);
  return {
    json: { settings: files, ...found, resources: Object.fromEntries(resources) },
    text: [...settingsLines(files), ...rootLines(found), ...resources.flatMap(resourceLines), ""].join("\n"),
  };
}

function settingsPaths(options: ConfigPathsOptions, isBroken: (file: string) => boolean): SettingsPath[] {
  const stateOf = (path: string) => (isBroken(path) ? "broken" : existsSync(path) ? "used" : "not there");
  const user = userSettingsFile(options.agentDir);
  let isNearest = true;
  const project = projectSettingsFiles(options).map((path): SettingsPath => {
    const state = stateOf(path);
    const shown = state !== "not there" && !isNearest ? "hidden by a nearer one" : state;
    if (state !== "not there") isNearest = false;
    return { level: "project", path, state: shown };
  });
  return [{ level: "user", path: user, state: stateOf(user) }, ...project];
}

function settingsLines(files: readonly SettingsPath[]): string[] {
  return ["Settings files", ...files.map(({ level, path, state }) => `  ${level.padEnd(8)} ${path}  (${state})`)];
}

function rootLines({ roots, duplicates, warnings }: ConfigRoots): string[] {
  return [
    "Configuration directories, the first one wins",
    ...roots.map(
      ({ source, level, path, priority }) =>
        `  ${String(priority).padEnd(4)} ${source.padEnd(7)} ${level.padEnd(8)} ${path}`,
    ),
    ...duplicates.map(({ path, of }) => `  left out: ${path} is ${of}`),
    ...warnings.map((warning) => `  left out: ${warning}`),
  ];
}

function resourceLines([kind, files]: readonly [string, readonly ResourceFile[]]): string[] {
  if (files.length === 0) return [];
  return [
    kind[0]?.toUpperCase() + kind.slice(1),
    ...files.map(({ path, shadowedBy }) => `  ${path}${shadowedBy === undefined ? "" : `  (hidden by ${shadowedBy})`}`),
  ];
}

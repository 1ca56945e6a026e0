// Where configuration lives: galley's own directories, those of the programs it is compatible with, and plugins, in the
// order in which the first one wins. Looks at names only; no file of any of them is opened here.

import { join } from "node:path";
import { directoryAt, findProject, namesIn, type Project } from "../files/paths/find-roots.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Environment } from "../provider/credentials.js";
import type { LoadEnvironmentOptions } from "./environment.js";
import { variable } from "./environment.js";

export type ConfigSource = "native" | "claude" | "codex" | "gemini" | "plugin";
export type ConfigLevel = "user" | "project";

export interface ConfigRoot {
  readonly source: ConfigSource;
  readonly level: ConfigLevel;
  readonly path: string;
  readonly realPath: string;
  /** Higher comes first. Within one source the project comes before the user, the nearest directory first. */
  readonly priority: number;
}

export interface ConfigRoots {
  /** In order. An empty directory is included. */
  readonly roots: readonly ConfigRoot[];
  /** Directories that are a second name of another one, and so left out. */
  readonly duplicates: readonly { readonly path: string; readonly of: string }[];
  /** One line for each that exists and cannot be used. */
  readonly warnings: readonly string[];
}

export interface ConfigRootsOptions extends Omit<LoadEnvironmentOptions, "env"> {
  /** Sources that are switched off. */
  readonly disabled?: readonly string[];
  /** Around `cwd`; default: found. */
  readonly project?: Project | undefined;
}

/** The user's configuration directory, even if the agent directory was moved elsewhere. */
export function configRootDirectory(env: Environment, home: string): string {
  return join(home, variable(env, "GALLEY_CONFIG_DIR") ?? ".galley");
}

export function findConfigRoots(options: ConfigRootsOptions): ConfigRoots {
  const candidates = candidateRoots(options).filter(({ source }) => !options.disabled?.includes(source));
  const warnings: string[] = [];
  const present = candidates.flatMap((candidate): ConfigRoot[] => {
    const found = directoryAt(candidate.path);
    if (found && "problem" in found) warnings.push(`${printable(candidate.path)}: ${found.problem}`);
    return found && "realPath" in found ? [{ ...candidate, realPath: found.realPath }] : [];
  });
  const { kept, duplicates } = withoutDuplicates(present);
  return { roots: kept, duplicates, warnings };
}

/**
 * Each directory once. Where a project's directory is only a link to one of the user's, the user's stays: a project
 * must not be able to make the user's own resources count as its own.
 */
export function withoutDuplicates<T extends { path: string; realPath: string; level: ConfigLevel }>(
  directories: readonly T[],
): { kept: T[]; duplicates: { path: string; of: string }[] } {
  const first = new Map<string, T>();
  for (const level of ["user", "project"] as const)
    for (const directory of directories)
      if (directory.level === level && !first.has(directory.realPath)) first.set(directory.realPath, directory);
  const isFirst = (directory: T) => first.get(directory.realPath) === directory;
  return {
    kept: directories.filter(isFirst),
    duplicates: directories
      .filter((directory) => !isFirst(directory))
      .map(({ path, realPath }) => ({ path, of: first.get(realPath)?.path ?? realPath })),
  };
}

type Candidate = Omit<ConfigRoot, "realPath">;

/** Programs whose directories are read like our own. */
const compatible = [".xcsh", ".omp", ".pi"];

function candidateRoots({ cwd, home, agentDir, configRoot, project }: ConfigRootsOptions): Candidate[] {
  const { directories } = project ?? findProject({ cwd, home });
  const rootsOf = (
    source: ConfigSource,
    priority: number,
    names: { project: string[]; user: string[] },
  ): Candidate[] => [
    ...directories
      .flatMap((directory) => names.project.map((name) => join(directory, name)))
      .map((path) => ({ source, level: "project", path, priority }) as const),
    ...names.user.map((path) => ({ source, level: "user", path, priority }) as const),
  ];
  const foreign = (name: ConfigSource, priority: number) =>
    rootsOf(name, priority, { project: [`.${name}`], user: [join(home, `.${name}`)] });
  const ours = {
    project: [".galley", ...compatible],
    user: [agentDir, ...compatible.map((name) => join(home, name, "agent"))],
  };
  return [
    ...rootsOf("native", 100, ours),
    ...foreign("claude", 80),
    ...foreign("codex", 70),
    ...foreign("gemini", 60),
    ...rootsOf("plugin", 50, {
      project: [],
      user: [configRoot, ...compatible.map((name) => join(home, name))].flatMap(pluginsIn),
    }),
  ];
}

/** Installed packages, `@scope/name` included. */
function pluginsIn(root: string): string[] {
  const packages = join(root, "plugins", "node_modules");
  return namesIn(packages)
    .filter(({ isDirectory }) => isDirectory)
    .flatMap(({ name }) => {
      const path = join(packages, name);
      if (!name.startsWith("@")) return [path];
      return namesIn(path)
        .filter(({ isDirectory }) => isDirectory)
        .map((inner) => join(path, inner.name));
    });
}

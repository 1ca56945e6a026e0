// Which texts a session would read, from the configuration directories and from the caller's options.

import type { Log } from "../../base/log.js";
import type { DiscoveredResources } from "../../extensions/hooks/hooks.js";
import { lookAt } from "../../files/module-files.js";
import { namedPath } from "../../files/paths/named-path.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { ConfigRoot } from "../config-roots.js";
import { findPackages, type NamedPackages, type PackageLocation, packageTexts } from "../packages.js";
import type { Skill } from "./skill.js";
import type { PromptTemplate } from "./template.js";
import {
  projectSkillSources,
  skillSources,
  type TextKind,
  type TextSource,
  templateFolders,
  templateSources,
  textSources,
} from "./text-sources.js";

export interface PromptTextOptions {
  /** Default: found in the configuration directories. An empty list is none. */
  skills?: readonly Skill[];
  promptTemplates?: readonly PromptTemplate[];
  slashCommands?: readonly PromptTemplate[];
  /** Only skills with such a name; `*` and `?` stand for anything. */
  skillPatterns?: readonly string[];
  /** Skills, skill directories, or directories of those, besides those that are found. */
  additionalSkillPaths?: readonly string[];
  /** Templates or directories of them, besides those that are found. */
  additionalPromptTemplatePaths?: readonly string[];
}

export type TextSources = { readonly [K in TextKind]: readonly TextSource[] };

export interface FindPromptTextsDeps extends PackageLocation {
  readonly log: Log;
  /** Rules come from elsewhere. */
  readonly withoutRules: boolean;
}

export function findTextSources(
  deps: FindPromptTextsDeps,
  options: PromptTextOptions & NamedPackages,
  roots: readonly ConfigRoot[],
): TextSources {
  const { settings } = deps;
  const isOff: Partial<Record<TextKind, boolean>> = {
    skills: options.skills !== undefined || !settings.get("skills.enabled"),
    rules: deps.withoutRules,
  };
  const isOpen = { commands: options.slashCommands === undefined, prompts: options.promptTemplates === undefined };
  const folders = templateFolders.filter((folder) => isOpen[folder]);
  const packages = findPackages(deps, roots, options);
  const packed = (kind: "skill" | "prompt") => packageTexts(kind, packages, deps.log);
  const found = (kind: TextKind) => (isOff[kind] ? [] : textSources(roots, kind, folders));
  const named = (paths: readonly string[] = []) => {
    const sources = paths.map((path) => namedPath(path, deps));
    for (const path of sources)
      if (lookAt(path).kind === "missing") deps.log.warn(`${printable(path)}: No such file or directory`);
    return sources;
  };
  const configured = isOff.skills
    ? []
    : [
        ...named(settings.get("skills.customDirectories")).flatMap((path) => skillSources(path)),
        ...projectSkillSources(settings),
      ];
  return {
    templates: [
      ...found("templates"),
      ...named(options.additionalPromptTemplatePaths).flatMap(templateSources),
      ...(isOpen.prompts ? packed("prompt") : []),
    ],
    skills: [
      ...found("skills"),
      ...configured,
      ...named(options.additionalSkillPaths).flatMap((path) => skillSources(path)),
      ...(isOff.skills ? [] : packed("skill")),
    ],
    rules: found("rules"),
    system: found("system"),
  };
}

/** Those of the user, and those of the project that may be used. */
export function usableSources(sources: TextSources, mayUse: (source: TextSource) => boolean): TextSources {
  const usable = (kind: TextKind) => sources[kind].filter((source) => source.level === "user" || mayUse(source));
  return { templates: usable("templates"), skills: usable("skills"), rules: usable("rules"), system: usable("system") };
}

/** And what extensions name, behind all others; of a project's extension, as far as the project is trusted with it. */
export function withDiscovered(
  sources: TextSources,
  found: DiscoveredResources | undefined,
  location: { readonly cwd: string; readonly home: string },
): TextSources {
  if (!found) return sources;
  const named = (paths: DiscoveredResources["skills"], read: (path: string) => readonly TextSource[]) =>
    paths.flatMap(({ path, needsTrust }) =>
      read(namedPath(path, location)).map(
        (source): TextSource => (needsTrust ? { ...source, level: "project" } : source),
      ),
    );
  return {
    ...sources,
    skills: [...sources.skills, ...named(found.skills, (path) => skillSources(path))],
    templates: [...sources.templates, ...named(found.prompts, templateSources)],
  };
}

// Where templates, skills, rules and system prompts are: in the configuration directories, and at explicit paths.
// Names only; nothing is opened here.

import { join } from "node:path";
import { lookAt } from "../../files/module-files.js";
import { namesIn } from "../../files/paths/find-roots.js";
import { resourceFiles } from "../config-resources.js";
import type { ConfigLevel, ConfigRoot, ConfigSource } from "../config-roots.js";
import { packageTexts, projectPackages } from "../packages.js";
import { pathsNamedByProject } from "../project-named.js";
import type { Settings } from "../settings/settings.js";

export const textKinds = ["templates", "skills", "rules", "system"] as const;
export type TextKind = (typeof textKinds)[number];

export interface TextSource {
  readonly path: string;
  /** `config`: an explicit path. */
  readonly provider: ConfigSource | "config";
  readonly level: ConfigLevel;
}

/** Read at once. A hostile directory can hold any number of names; no real one has so many texts. */
const maxSources = 1000;

export const templateFolders = ["commands", "prompts"] as const;
export type TemplateFolder = (typeof templateFolders)[number];

/** Of one kind, the first one first. Of templates, those in these folders. */
export function textSources(
  roots: readonly ConfigRoot[],
  kind: TextKind,
  folders: readonly TemplateFolder[] = templateFolders,
): TextSource[] {
  if (kind === "system") return systemSources(roots);
  // Two names for one thing: the directory decides the order, not the name of the folder in it.
  if (kind === "templates") return roots.flatMap((root) => folders.flatMap((folder) => filesIn([root], folder)));
  return filesIn(roots, kind);
}

function filesIn(roots: readonly ConfigRoot[], kind: TemplateFolder | "skills" | "rules"): TextSource[] {
  return resourceFiles(roots, kind)
    .slice(0, maxSources)
    .map(({ path, root }) => ({
      path: kind === "skills" ? join(path, skillFile) : path,
      provider: root.source,
      level: root.level,
    }));
}

/** Everything of a project that speaks to a model with more weight than a file it reads. */
export function projectTexts(
  roots: readonly ConfigRoot[],
  location: { readonly cwd: string; readonly home: string; readonly settings: Settings },
): { readonly kind: "prompt" | "skill" | "rule"; readonly path: string }[] {
  const own = roots.filter(({ level }) => level === "project");
  const packages = projectPackages(location, roots);
  const of = (kind: "prompt" | "skill" | "rule", sources: readonly TextSource[]) =>
    sources.filter(({ path }) => lookAt(path).kind === "file").map(({ path }) => ({ kind, path }));
  return [
    ...(["templates", "system"] as const).flatMap((kind) => of("prompt", textSources(own, kind))),
    ...of("prompt", packageTexts("prompt", packages)),
    ...of("skill", [
      ...textSources(own, "skills"),
      ...projectSkillSources(location.settings),
      ...packageTexts("skill", packages),
    ]),
    ...of("rule", textSources(own, "rules")),
  ];
}

/** Directories of skills that the project's settings name, relative to the project. */
export function projectSkillSources(settings: Settings): TextSource[] {
  return pathsNamedByProject(settings, "skills.customDirectories").flatMap((path) => skillSources(path, "project"));
}

/** A skill, the directory of one, or a directory of such directories. */
export function skillSources(path: string, level: ConfigLevel = "user"): TextSource[] {
  const own = path.endsWith(".md") ? path : join(path, skillFile);
  const isOne = path.endsWith(".md") || lookAt(own).kind === "file";
  const paths = isOne
    ? [own]
    : namesIn(path).flatMap(({ name, isDirectory }) => (isDirectory ? [join(path, name, skillFile)] : []));
  return paths.map((found) => ({ path: found, provider: "config", level }));
}

/** A template, or a directory of templates. */
export function templateSources(path: string): TextSource[] {
  const isFolder = lookAt(path).kind === "directory";
  const paths = isFolder
    ? namesIn(path).flatMap(({ name, isDirectory }) => (!isDirectory && name.endsWith(".md") ? [join(path, name)] : []))
    : [path];
  return paths.map((found) => ({ path: found, provider: "config", level: "user" }));
}

const skillFile = "SKILL.md";

/** The user's own files are read at the start of a session. */
function systemSources(roots: readonly ConfigRoot[]): TextSource[] {
  return roots
    .filter(({ source, level }) => source === "native" && level === "project")
    .flatMap(({ path }) =>
      ["SYSTEM.md", "APPEND_SYSTEM.md"].map((name) => ({
        path: join(path, name),
        provider: "native" as const,
        level: "project" as const,
      })),
    )
    .filter(({ path }) => lookAt(path).kind !== "missing");
}

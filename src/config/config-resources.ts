// Which folders of the configuration directories hold tools, commands, rules and the like, and which names are in them.
// Names only: reading a file, and deciding whether it may run, is up to its loader.

import { join, parse, relative } from "node:path";
import { directoryAt, type FoundName, namesIn } from "../files/paths/find-roots.js";
import { type ConfigRoot, type ConfigSource, withoutDuplicates } from "./config-roots.js";

export const resourceKinds = [
  ...(["tools", "commands", "commandModules", "rules"] as const),
  ...(["prompts", "skills", "extensions", "hooks"] as const),
] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface ResourceDirectory {
  readonly path: string;
  readonly realPath: string;
  readonly root: ConfigRoot;
  readonly level: ConfigRoot["level"];
}

export interface ResourceFile {
  /** Resources with the same key hide each other. */
  readonly key: string;
  readonly path: string;
  readonly root: ConfigRoot;
  /** The path of the one that comes first under the same key. */
  readonly shadowedBy?: string;
}

interface KindRule {
  readonly folders: readonly string[];
  /** Plugins are in no list: their package says what they contain. */
  readonly sources: readonly ConfigSource[];
  readonly accepts: (found: FoundName) => boolean;
  /** Known by file name, not by the name without its ending: `foo.json` must not hide `foo.ts`. */
  readonly isModuleKind?: true;
}

const everywhere: readonly ConfigSource[] = ["native", "claude", "codex", "gemini"];
const isModule = ({ name, isDirectory }: FoundName) =>
  isDirectory || (/\.[cm]?[jt]s$/.test(name) && !/\.d\.[cm]?ts$|\.test\./.test(name));
const isMarkdown = ({ name, isDirectory }: FoundName) => !isDirectory && name.endsWith(".md");

const rules: { readonly [K in ResourceKind]: KindRule } = {
  tools: { folders: ["tools"], sources: ["native", "claude", "codex"], accepts: isModule, isModuleKind: true },
  commands: { folders: ["commands"], sources: everywhere, accepts: isMarkdown },
  commandModules: { folders: ["commands"], sources: ["native"], accepts: isModule, isModuleKind: true },
  rules: {
    folders: ["rules"],
    sources: everywhere,
    accepts: ({ name, isDirectory }) => !isDirectory && /\.mdc?$/.test(name),
  },
  prompts: { folders: ["prompts"], sources: everywhere, accepts: isMarkdown },
  skills: { folders: ["skills"], sources: everywhere, accepts: ({ isDirectory }) => isDirectory },
  extensions: { folders: ["extensions"], sources: ["native"], accepts: isModule, isModuleKind: true },
  hooks: {
    folders: ["hooks", "hooks/pre", "hooks/post"],
    sources: ["native"],
    accepts: ({ isDirectory }) => !isDirectory,
    isModuleKind: true,
  },
};

/** In order, each once, only those that are there. */
export function resourceDirectories(roots: readonly ConfigRoot[], kind: ResourceKind): ResourceDirectory[] {
  const { folders, sources } = rules[kind];
  const present = roots
    .filter(({ source }) => sources.includes(source))
    .flatMap((root) =>
      folders.flatMap((folder) => {
        const path = join(root.path, folder);
        const found = directoryAt(path);
        return found && "realPath" in found ? [{ path, realPath: found.realPath, root, level: root.level }] : [];
      }),
    );
  return withoutDuplicates(present).kept;
}

/** What is in them, in order, and which one hides which. */
export function resourceFiles(roots: readonly ConfigRoot[], kind: ResourceKind): ResourceFile[] {
  const first = new Map<string, string>();
  return resourceDirectories(roots, kind).flatMap(({ path: directory, root }) =>
    namesIn(directory)
      .filter(rules[kind].accepts)
      .map(({ name }): ResourceFile => {
        const path = join(directory, name);
        const key = rules[kind].isModuleKind ? relative(root.path, path) : parse(name).name;
        const shadowedBy = first.get(key);
        if (shadowedBy === undefined) first.set(key, path);
        return { key, path, root, shadowedBy };
      }),
  );
}

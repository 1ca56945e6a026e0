// Finds the custom tools, commands, hooks and extensions that could be loaded: in the configuration directories, in
// plugins, and at explicit paths. Names and manifests are read; nothing is imported, run or probed. A failing path
// is one problem and never stops the others.

import { basename, join } from "node:path";
import type { JsonObject } from "../../base/json.js";
import { findProject } from "../../files/paths/find-roots.js";
import { namedPath } from "../../files/paths/named-path.js";
import { directoryModules, isModuleFile } from "./directory.js";
import { type Discovery, Findings, type ModuleKind, type ModuleSource } from "./findings.js";
import { type Accepts, folderModules, scriptFolder } from "./folder.js";
import {
  isLibrary,
  isPackage,
  marketplacePlugins,
  namesModules,
  type PackageChoice,
  packageFiles,
  pluginChoice,
} from "./plugins.js";

/** A configuration directory, as the layer above finds them. */
export interface ModuleRoot {
  readonly source: string;
  readonly level: "user" | "project";
  readonly path: string;
}

export interface ExplicitPath {
  readonly kind: ModuleKind;
  readonly path: string;
  /** The project's own settings can only name what the project is trusted to run. */
  readonly namedBy: "user" | "project";
}

export interface DiscoverOptions {
  readonly cwd: string;
  readonly home: string;
  /** In order. */
  readonly roots: readonly ModuleRoot[];
  readonly kinds?: readonly ModuleKind[];
  readonly explicit?: readonly ExplicitPath[];
  /** Plugins that the command line names. */
  readonly pluginDirectories?: readonly string[];
  /** Packages that another program installed for the user. */
  readonly installed?: readonly InstalledPackage[];
}

export interface InstalledPackage {
  readonly path: string;
  readonly filter?: JsonObject;
  /** Why there is none. */
  readonly problem?: string;
}

const providerNames: Readonly<Record<string, string>> = {
  native: "galley",
  claude: "Claude Code",
  codex: "OpenAI Codex",
};

export async function discoverModules(options: DiscoverOptions): Promise<Discovery> {
  const { cwd, home, roots, kinds = allKinds, explicit = [], pluginDirectories = [], installed = [] } = options;
  const found = new Findings();
  const { repositoryRoot, directories } = findProject({ cwd, home });
  const projectRoot = repositoryRoot ?? directories[0];
  for (const kind of kinds)
    for (const provider of providers[kind])
      for (const root of roots.filter(({ source }) => source === provider))
        await takeRoot(root, { kind, projectRoot, found });
  if (kinds.includes("tool"))
    for (const { path, level } of marketplacePlugins({ home, projectRoot, found })) {
      const source = { provider: "claude-plugins", providerName: "Claude Code Marketplace", level };
      await folderModules(join(path, "tools"), { kind: "tool", accepts: files, source, found });
    }
  const overrides = roots.filter(({ source, level }) => source === "native" && level === "project");
  const source = { provider: "plugin", providerName: "Plugin", level: "user" } as const;
  for (const { path } of roots.filter(({ source }) => source === "plugin")) {
    const choice = pluginChoice(path, { overrides: overrides.map((root) => root.path), source, found });
    const { isEnabled, features } = choice;
    if (isEnabled) takePackage(path, { kinds, choice: { features, needsManifest: true }, source, found });
  }
  for (const { path, problem, filter } of installed) {
    if (problem === undefined) takePackage(path, { kinds, choice: filter ? { filter } : {}, source, found });
    else found.addProblem({ path, error: problem, source });
  }
  for (const path of pluginDirectories.map((given) => namedPath(given, options))) {
    if (found.look(path).kind === "missing") found.addProblem({ path, error: "No such file or directory", source });
    takePackage(path, { kinds, source, found });
  }
  for (const { kind, path, namedBy } of explicit.filter(({ kind }) => kinds.includes(kind)))
    takeExplicit(path, { ...options, kind, kinds, needsTrust: namedBy === "project", found });
  return found;
}

const allKinds: readonly ModuleKind[] = ["tool", "command", "extension", "hook"];

const providers: Readonly<Record<ModuleKind, readonly string[]>> = {
  tool: ["native", "claude", "codex"],
  // Elsewhere that folder is for texts: other files in it were not written to be loaded by galley.
  command: ["native"],
  extension: ["native"],
  hook: ["native"],
};

const files: Accepts = { endings: /\.(?:ts|js|mjs|cjs)$/, indexes: [], describes: true };
const accepted: Readonly<Record<string, Accepts>> = {
  native: { ...files, indexes: ["index.ts", "index.js", "index.mjs"] },
  claude: files,
  codex: { endings: /\.(?:ts|js)$/, indexes: [], describes: false },
};

interface RootWork {
  readonly kind: ModuleKind;
  readonly projectRoot: string | undefined;
  readonly found: Findings;
}

async function takeRoot(root: ModuleRoot, { kind, projectRoot, found }: RootWork): Promise<void> {
  const { level } = root;
  const source = { provider: root.source, providerName: providerNames[root.source] ?? root.source, level };
  const folder = join(root.path, `${kind}s`);
  const needsTrust = level === "project";
  if (kind === "tool" || kind === "command") {
    const all = accepted[root.source] ?? files;
    const accepts = kind === "tool" ? all : { ...all, describes: false };
    // A project's ignore files count from its root on, the user's only within the directory itself.
    const ignoredFrom = needsTrust && projectRoot !== undefined ? projectRoot : root.path;
    return folderModules(folder, { kind, accepts, source, found, ignoredFrom });
  }
  const as = { kind, source, needsTrust };
  found.startLocation();
  for (const path of directoryModules(folder, { kind, source, found })) found.add(path, as);
  if (kind === "hook") for (const time of ["pre", "post"]) scriptFolder(join(folder, time), { ...as, found });
}

interface PackageWork {
  readonly kinds: readonly ModuleKind[];
  readonly choice?: PackageChoice;
  readonly source: ModuleSource;
  readonly needsTrust?: boolean;
  readonly found: Findings;
}

/** How many modules it has. */
function takePackage(path: string, { kinds, choice, source, needsTrust = false, found }: PackageWork): number {
  found.startLocation();
  // A package's commands may also be texts.
  const modules = kinds.flatMap((kind) =>
    packageFiles(path, { kind, source, found }, choice)
      .filter((module) => kind !== "command" || isModuleFile(basename(module)))
      .map((module) => ({ kind, module })),
  );
  for (const { kind, module } of modules) found.add(module, { kind, source, needsTrust });
  return modules.length;
}

interface ExplicitWork extends Pick<DiscoverOptions, "cwd" | "home"> {
  readonly kind: ModuleKind;
  readonly kinds: readonly ModuleKind[];
  readonly needsTrust: boolean;
  readonly found: Findings;
}

function takeExplicit(given: string, { kind, kinds, needsTrust, found, ...place }: ExplicitWork): void {
  const source = { provider: "config", providerName: "Config", level: "project" } as const;
  const path = namedPath(given, place);
  found.startLocation();
  const looked = found.look(path);
  const isGuard = kind === "extension" && !needsTrust ? { isGuard: true as const } : {};
  const fail = (error: string, at = path) => found.addProblem({ path: at, error, source, ...isGuard });
  if (looked.kind === "missing") {
    const install = howToInstall(given);
    if (install === undefined) fail("No such file or directory");
    else fail(`This package is not installed. ${install}`, given);
  } else if (looked.kind === "unfit") fail(looked.problem);
  else if (looked.kind === "directory") {
    if (kind === "extension" && isPackage(path)) {
      const count = takePackage(path, { kinds, source, needsTrust, found });
      if (count === 0 && namesModules(path)) fail("None of the modules that its package.json names is there");
      return;
    }
    if (kind === "extension" && isLibrary(path))
      return fail(
        "This is a library: its package.json names no extensions, and its main is not run. Name a file of it",
      );
    const modules = directoryModules(path, { kind, source, found });
    if (modules.length === 0) fail("There is no module in this directory");
    for (const module of modules) found.add(module, { kind, source, needsTrust });
  } else if (!/\.(?:[cm]?[jt]sx?|md|json)$/.test(path)) fail("This is not a module");
  else found.add(path, { kind, source, needsTrust }); // the loader reports .md and .json
}

/** Nothing is installed by galley itself: that would run code of strangers. */
function howToInstall(given: string): string | undefined {
  const [, spec, name] = /^npm:((@?[^@\s]+)(?:@\S*)?)$/.exec(given) ?? [];
  if (spec !== undefined) return `Install it with: npm install ${spec}, then name it: -e node_modules/${name}`;
  const [, address] = /^(?:git:|(?=(?:https?|ssh|git):\/\/))(\S+)$/.exec(given) ?? [];
  return address && `Clone it with: git clone ${address}, then name its folder: -e FOLDER`;
}

// Finds the custom tools, commands, hooks and extensions that could be loaded: in the configuration directories, in
// plugins, and at explicit paths. Names and manifests are read; nothing is imported, run or probed. A failing path
// is one problem and never stops the others.

import { basename, isAbsolute, join, resolve } from "node:path";
import { lookAt } from "../../files/module-files.js";
import { findProject } from "../../files/paths/find-roots.js";
import { directoryModules, isModuleFile } from "./directory.js";
import { type Discovery, Findings, type ModuleKind, type ModuleSource } from "./findings.js";
import { type Accepts, folderModules, scriptFolder } from "./folder.js";
import { marketplacePlugins, type PluginChoice, packageModules, pluginChoice } from "./plugins.js";

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
}

const providerNames: Readonly<Record<string, string>> = {
  native: "galley",
  claude: "Claude Code",
  codex: "OpenAI Codex",
};

export async function discoverModules(options: DiscoverOptions): Promise<Discovery> {
  const { cwd, home, roots, kinds = allKinds, explicit = [], pluginDirectories = [] } = options;
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
    takePackage(path, { kinds, choice, source, found });
  }
  for (const path of pluginDirectories.map((given) => absolute(given, options))) {
    if (found.look(path).kind === "missing") found.addProblem({ path, error: "No such file or directory", source });
    takePackage(path, { kinds, choice: { isEnabled: true, features: null }, source, found });
  }
  for (const { kind, path, namedBy } of explicit.filter(({ kind }) => kinds.includes(kind)))
    takeExplicit(absolute(path, options), { kind, needsTrust: namedBy === "project", found });
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
  readonly choice: PluginChoice;
  readonly source: ModuleSource;
  readonly found: Findings;
}

function takePackage(path: string, { kinds, choice, source, found }: PackageWork): void {
  if (!choice.isEnabled) return;
  found.startLocation();
  // A package's commands may also be texts.
  for (const kind of kinds)
    for (const module of packageModules(path, { kind, features: choice.features, source, found }))
      if (kind !== "command" || isModuleFile(basename(module))) found.add(module, { kind, source, needsTrust: false });
}

function takeExplicit(
  path: string,
  { kind, needsTrust, found }: { kind: ModuleKind; needsTrust: boolean; found: Findings },
): void {
  const source = { provider: "config", providerName: "Config", level: "project" } as const;
  found.startLocation();
  const looked = found.look(path);
  const isGuard = kind === "extension" && !needsTrust ? { isGuard: true as const } : {};
  const fail = (error: string) => found.addProblem({ path, error, source, ...isGuard });
  if (looked.kind === "missing") fail("No such file or directory");
  else if (looked.kind === "unfit") fail(looked.problem);
  else if (looked.kind === "directory") {
    const modules = directoryModules(path, { kind, source, found });
    if (modules.length === 0) fail("There is no module in this directory");
    for (const module of modules) found.add(module, { kind, source, needsTrust });
  } else if (!/\.(?:[cm]?[jt]sx?|md|json)$/.test(path)) fail("This is not a module");
  else found.add(path, { kind, source, needsTrust }); // the loader reports .md and .json
}

/** `~` expanded, unusual spaces (copied from a title) as plain ones where only that names something. */
function absolute(path: string, { cwd, home }: { cwd: string; home: string }): string {
  const at = (text: string) => {
    if (/^~(?:[\\/]|$)/.test(text)) return join(home, text.slice(1));
    return isAbsolute(text) ? text : resolve(cwd, text);
  };
  const literal = at(path);
  const plain = at(path.replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " "));
  return lookAt(literal).kind === "missing" ? plain : literal;
}

// Which of the modules that were found are loaded, and in which order. Pure. A module that may not run hides no other:
// a project cannot take a tool of the user's away by giving a file that is not trusted the same name.

import type { FoundModule } from "./findings.js";

/** The message for each module that is left out for that reason. */
export const untrustedText = "Skipped: project is not trusted";

export interface ChosenModules {
  /** In order, each file once. */
  readonly load: readonly FoundModule[];
  /** Would be loaded if the project were trusted with all it has. */
  readonly untrusted: readonly FoundModule[];
  /** Left out because another one has the same key. */
  readonly shadowed: readonly { readonly path: string; readonly by: string }[];
}

export interface ChooseOptions {
  /** Asked about the modules that need trust. */
  mayRun(module: FoundModule): boolean;
  /** As in `disabledExtensions`: `extension-module:<name>`. */
  readonly disabled?: readonly string[];
}

export function chooseModules(modules: readonly FoundModule[], options: ChooseOptions): ChosenModules {
  const { mayRun, disabled = [] } = options;
  const wanted = modules.filter(
    (module) => !isExtension(module) || !disabled.includes(`extension-module:${module.name}`),
  );
  const { chosen, shadowed } = firstOfEach(wanted.filter((module) => !module.needsTrust || mayRun(module)));
  const all = firstOfEach(wanted).chosen;
  const untrusted = [...all].filter(([file, module]) => module.needsTrust && !chosen.has(file));
  return { load: [...chosen.values()], untrusted: untrusted.map(([, module]) => module), shadowed };
}

function firstOfEach(modules: readonly FoundModule[]) {
  const chosen = new Map<string, FoundModule>();
  const byKey = new Map<string, FoundModule>();
  const shadowed: { path: string; by: string }[] = [];
  for (const module of modules) {
    if (chosen.has(fileOf(module))) continue;
    const by = module.key === undefined ? undefined : byKey.get(module.key);
    if (by) shadowed.push({ path: module.path, by: by.path });
    else chosen.set(fileOf(module), module);
    if (module.key !== undefined && !by) byKey.set(module.key, module);
  }
  return { chosen, shadowed };
}

/** A hook is loaded as one. */
export function isExtension({ kind }: FoundModule): boolean {
  return kind === "extension" || kind === "hook";
}

/** A file that is an extension and a hook is one; a file that is also a tool is two. */
function fileOf(module: FoundModule): string {
  return JSON.stringify([isExtension(module) ? "extension" : module.kind, module.realPath]);
}

// Which of the modules that were found are loaded, and in which order. Pure. A module that may not run hides no other:
// an untrusted project cannot take a tool of the user's away by giving a file the same name.

import type { FoundModule } from "./findings.js";

/** The message for each module that is left out for that reason. */
export const untrustedText = "Skipped: project is not trusted";

export interface ChosenModules {
  /** In order, each file once. */
  readonly load: readonly FoundModule[];
  /** Left out only because the project is not trusted. */
  readonly untrusted: readonly FoundModule[];
  /** Left out because another one has the same key. */
  readonly shadowed: readonly { readonly path: string; readonly by: string }[];
}

export interface ChooseOptions {
  readonly isProjectTrusted: boolean;
  /** As in `disabledExtensions`: `extension-module:<name>`. */
  readonly disabled?: readonly string[];
}

export function chooseModules(modules: readonly FoundModule[], options: ChooseOptions): ChosenModules {
  const { isProjectTrusted, disabled = [] } = options;
  const wanted = modules.filter(
    (module) => !isExtension(module) || !disabled.includes(`extension-module:${module.name}`),
  );
  const mayRun = ({ needsTrust }: FoundModule) => isProjectTrusted || !needsTrust;
  const byFile = new Map<string, FoundModule>();
  const byKey = new Map<string, FoundModule>();
  const shadowed: { path: string; by: string }[] = [];
  for (const module of wanted.filter(mayRun)) {
    if (byFile.has(fileOf(module))) continue;
    const by = module.key === undefined ? undefined : byKey.get(module.key);
    if (by) shadowed.push({ path: module.path, by: by.path });
    else byFile.set(fileOf(module), module);
    if (module.key !== undefined && !by) byKey.set(module.key, module);
  }
  const untrusted = new Map<string, FoundModule>();
  for (const module of wanted)
    if (!mayRun(module) && !byFile.has(fileOf(module)) && !untrusted.has(fileOf(module)))
      untrusted.set(fileOf(module), module);
  return { load: [...byFile.values()], untrusted: [...untrusted.values()], shadowed };
}

/** A hook is loaded as one. */
export function isExtension({ kind }: FoundModule): boolean {
  return kind === "extension" || kind === "hook";
}

/** A file that is an extension and a hook is one; a file that is also a tool is two. */
function fileOf(module: FoundModule): string {
  return JSON.stringify([isExtension(module) ? "extension" : module.kind, module.realPath]);
}

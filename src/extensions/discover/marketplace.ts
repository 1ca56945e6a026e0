// Plugins that came from a marketplace: where the user's own list says they were installed. Only the list is read here.

import { isAbsolute, join } from "node:path";
import { isObject } from "../../base/json.js";
import { lookAt } from "../../files/module-files.js";
import { manifestReader } from "../trust/find-import-targets.js";
import type { Findings, ModuleSource } from "./findings.js";

export interface MarketplacePlugin {
  readonly path: string;
  readonly level: ModuleSource["level"];
}

const maxPlugins = 1000;

/** Project before user. One that was installed for another project is not for this one. */
export function marketplacePlugins(place: {
  readonly home: string;
  readonly projectRoot: string | undefined;
  readonly found: Findings;
}): MarketplacePlugin[] {
  const { home, projectRoot, found } = place;
  const path = join(home, ".claude", "plugins", "installed_plugins.json");
  const list = manifestReader()(path);
  if (!list) return [];
  if (!isObject(list.value?.plugins)) {
    const source = { provider: "claude-plugins", providerName: "Claude Code Marketplace", level: "user" } as const;
    found.addProblem({ path, error: "is not a list of plugins", source });
    return [];
  }
  const plugins = Object.values(list.value.plugins)
    .flatMap((entry) => (Array.isArray(entry) ? entry : [entry]))
    .slice(0, maxPlugins)
    .flatMap((entry): MarketplacePlugin[] => {
      if (!isObject(entry) || typeof entry.installPath !== "string") return [];
      const at = entry.installPath.replace(/^~(?=[\\/])/, () => home);
      if (!isAbsolute(at)) return [];
      if (entry.scope === undefined || entry.scope === "user") return [{ path: at, level: "user" }];
      return isFor(entry.projectPath, projectRoot) ? [{ path: at, level: "project" }] : [];
    });
  return plugins.sort((a, b) => (a.level === b.level ? 0 : a.level === "project" ? -1 : 1));
}

function isFor(projectPath: unknown, projectRoot: string | undefined): boolean {
  if (typeof projectPath !== "string" || projectRoot === undefined) return false;
  const looked = lookAt(projectPath);
  return looked.kind === "directory" && looked.realPath === projectRoot;
}

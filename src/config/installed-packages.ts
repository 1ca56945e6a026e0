// What pi installed for the user, where galley runs in its place: the list `packages` in its settings, and where each of
// them lies. What lies beside them, their own libraries, is no package of the user's.

import { join, resolve } from "node:path";
import { GalleyError } from "../base/errors.js";
import { homedir, withHome } from "../base/home.js";
import { isObject } from "../base/json.js";
import type { InstalledPackage } from "../extensions/discover/discover-modules.js";
import { parseObject } from "../extensions/trust/find-import-targets.js";
import { readConfigFile } from "../files/config/config-files.js";
import { lookAt } from "../files/module-files.js";
import { isPiDirectory } from "./agent-directory.js";

export function installedPackages(agentDir: string): InstalledPackage[] {
  if (!isPiDirectory(agentDir)) return [];
  const list = settingsOf(agentDir)?.packages;
  return (Array.isArray(list) ? list : []).flatMap((entry): InstalledPackage[] => {
    const filter = isObject(entry) ? entry : undefined;
    const source = filter ? filter.source : entry;
    if (typeof source !== "string") return [];
    const { path, install } = placeOf(source, agentDir);
    if (lookAt(path).kind === "missing")
      return [
        {
          path: source,
          problem: install === undefined ? "No such file or directory" : `This package is not installed. ${install}`,
        },
      ];
    return [{ path, ...(filter ? { filter } : {}) }];
  });
}

function placeOf(source: string, agentDir: string): { path: string; install?: string } {
  const [, spec, name] = /^npm:((@?[^@\s]+)(?:@\S*)?)$/.exec(source) ?? [];
  if (spec !== undefined && name !== undefined) {
    const root = join(agentDir, "npm");
    return { path: join(root, "node_modules", name), install: `Install it with: npm install --prefix ${root} ${spec}` };
  }
  // The host and the path of a repository, without the version.
  const [, host, path] =
    /^(?:git:|(?=\w+:\/\/))(?:\w+:\/\/)?(?:[^@/]*@)?([^/:]+)[/:](.+?)(?:\.git)?(?:[@#][^/]*)?$/.exec(source) ?? [];
  if (host === undefined || path === undefined) return { path: resolve(agentDir, withHome(source, homedir())) };
  const folder = join(agentDir, "git", host, path);
  return { path: folder, install: `Clone it with: git clone https://${host}/${path} ${folder}` };
}

/** Nothing of a file that cannot be read: it is pi's to tell. */
function settingsOf(agentDir: string) {
  try {
    const file = readConfigFile(join(agentDir, "settings.json"));
    return file && parseObject(file.text);
  } catch (error) {
    if (error instanceof GalleyError) return undefined;
    throw error;
  }
}

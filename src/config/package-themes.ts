// Themes that the user's packages bring, for a terminal. A project does not choose colours.

import type { Log } from "../base/log.js";
import { findPackages, type NamedPackages, packageTexts } from "./packages.js";
import { type ConfigLocation, configRootsAt } from "./survey-extensions.js";

/** Their files. */
export function packageThemes(location: ConfigLocation, named: NamedPackages, log: Log): string[] {
  const own = findPackages(location, configRootsAt(location), named).filter(({ level }) => level === "user");
  return packageTexts("theme", own, log).map(({ path }) => path);
}

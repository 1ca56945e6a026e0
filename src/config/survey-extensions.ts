// The extensions that a session could load here, and whether the project may run its own. Where there are none it costs
// a few lookups of names, and no code that finds or loads modules is read.

import { join } from "node:path";
import type { ExplicitPath } from "../extensions/discover/discover-modules.js";
import type { ProjectGrant, TrustDecision } from "../extensions/trust/trust.js";
import type { Survey } from "../extensions/trust/trust-survey.js";
import { lookAt } from "../files/module-files.js";
import type { Project } from "../files/paths/find-roots.js";
import { resourceDirectories, resourceFiles } from "./config-resources.js";
import { type ConfigRoot, configRootDirectory, findConfigRoots } from "./config-roots.js";
import type { LoadEnvironmentOptions } from "./environment.js";
import { installedPackages } from "./installed-packages.js";
import { modulesNamedByProject } from "./project-named.js";
import { projectTexts } from "./prompts/text-sources.js";
import type { Settings } from "./settings/settings.js";

export interface ConfigLocation extends Omit<LoadEnvironmentOptions, "configRoot"> {
  readonly settings: Settings;
}

export interface ExtensionSurvey extends Survey {
  readonly decision: TrustDecision;
  /** What follows from the decision. */
  readonly grant: ProjectGrant;
}

/** Where decisions about projects are kept. */
export function trustFile({ env, home }: Pick<ConfigLocation, "env" | "home">): string {
  return join(configRootDirectory(env, home), "trust.json");
}

/** `project`: as it was just found. */
export function configRootsAt(location: ConfigLocation, project?: Project): readonly ConfigRoot[] {
  const { cwd, home, agentDir, env, settings } = location;
  const disabled = settings.get("disabledProviders");
  return findConfigRoots({ cwd, home, agentDir, configRoot: configRootDirectory(env, home), disabled, project }).roots;
}

/** False is certain; true only means that a search is worthwhile. */
export function mayHaveExtensions({ home, settings, agentDir }: ConfigLocation, roots: readonly ConfigRoot[]): boolean {
  const kinds = ["tools", "extensions", "hooks"] as const;
  return (
    roots.some(({ source }) => source === "plugin") ||
    modulesNamedByProject(settings).length > 0 ||
    installedPackages(agentDir).length > 0 ||
    kinds.some((kind) => resourceDirectories(roots, kind).length > 0) ||
    resourceFiles(roots, "commandModules").length > 0 || // the folder may hold nothing but texts
    lookAt(join(home, ".claude", "plugins", "installed_plugins.json")).kind !== "missing"
  );
}

export interface SurveyOptions {
  readonly explicit?: readonly ExplicitPath[];
  readonly pluginDirectories?: readonly string[];
  readonly isTrustedForThisRun?: boolean;
}

/** Runs nothing of what it finds. */
export async function surveyExtensions(
  location: ConfigLocation,
  options: SurveyOptions = {},
): Promise<ExtensionSurvey> {
  const [{ surveyProject }, { decideTrust, grantOf }, { isHostModule }] = await Promise.all([
    import("../extensions/trust/trust-survey.js"),
    import("../extensions/trust/trust.js"),
    import("../extensions/compat/virtual-modules.js"),
  ]);
  const { cwd, home, settings } = location;
  const { explicit = [], pluginDirectories = [], isTrustedForThisRun = false } = options;
  const roots = configRootsAt(location);
  const survey = await surveyProject({
    cwd,
    home,
    roots,
    pluginDirectories,
    installed: installedPackages(location.agentDir),
    isHostModule,
    explicit: [...explicit, ...modulesNamedByProject(settings)],
    settings: settings.projectPolicy,
    texts: projectTexts(roots, location),
  });
  const decision = decideTrust({
    project: survey.project,
    file: trustFile(location),
    isTrustedForThisRun,
    projectModules: settings.get("security.projectModules"),
  });
  return { ...survey, decision, grant: grantOf(survey.project, decision) };
}

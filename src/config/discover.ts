// What a session finds by itself when the caller says nothing: environment files, settings files.

import { homedir } from "../base/home.js";
import type { Log } from "../base/log.js";
import type { Project } from "../files/paths/find-roots.js";
import type { Environment } from "../provider/credentials.js";
import { configRootDirectory } from "./config-roots.js";
import { loadEnvironment } from "./environment.js";
import type { Assignment } from "./settings/assignment.js";
import { loadSettings } from "./settings/load-settings.js";
import type { Settings } from "./settings/settings.js";
import type { ConfigLocation } from "./survey-extensions.js";

export interface StartLocation {
  readonly cwd: string;
  readonly agentDir: string;
  readonly log: Log;
  /** Around `cwd`; default: found. */
  readonly project?: Project;
}

export function discoverEnvironment({ cwd, agentDir, log }: StartLocation): Environment {
  const home = homedir();
  const configRoot = configRootDirectory(process.env, home);
  const { env, problems } = loadEnvironment({ env: process.env, cwd, agentDir, configRoot, home });
  for (const problem of problems) log.warn(problem);
  return env;
}

export async function discoverSettings(
  { cwd, agentDir, log, project }: StartLocation,
  options: {
    env?: Environment;
    assignments?: readonly Assignment[];
    resetWorkflowSettings?: boolean;
    trustProject?: boolean;
  },
): Promise<Settings> {
  const { env = process.env, assignments = [], trustProject = false } = options;
  const location = { cwd, agentDir, env, home: homedir() };
  const settings = await loadSettings({
    ...location,
    assignments,
    isProjectTrusted: trustIn(location, trustProject),
    ...(project ? { project } : {}),
  });
  for (const { text } of settings.problems) log.warn(text);
  if (options.resetWorkflowSettings) settings.resetForRpc();
  return settings;
}

/** May the project's file say what only a trusted one may? As decided before, or for this run. */
export function trustIn(
  location: Omit<ConfigLocation, "settings">,
  isTrustedForThisRun = false,
): (settings: Settings) => Promise<boolean> {
  return async (settings) => {
    const { surveyExtensions } = await import("./survey-extensions.js");
    const { grant } = await surveyExtensions({ ...location, settings }, { isTrustedForThisRun });
    return grant.areSettingsTrusted;
  };
}

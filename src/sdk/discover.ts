// What a session finds by itself when its maker says nothing: environment files, settings files, stream rules.

import { homedir } from "node:os";
import type { Log } from "../base/log.js";
import type { Environment } from "../provider/credentials.js";
import { loadRules } from "../session/ttsr/load-rules.js";
import type { StreamRule } from "../session/ttsr/rule.js";
import { readRuleFiles } from "../workspace/rule-files.js";
import { configRootDirectory, findConfigRoots } from "./config-roots.js";
import { loadEnvironment } from "./environment.js";
import type { Assignment } from "./settings/assignment.js";
import { loadSettings } from "./settings/load-settings.js";
import type { Settings } from "./settings/settings.js";

export interface Place {
  readonly cwd: string;
  readonly agentDir: string;
  readonly log: Log;
}

export function discoverEnvironment({ cwd, agentDir, log }: Place): Environment {
  const home = homedir();
  const configRoot = configRootDirectory(process.env, home);
  const { env, problems } = loadEnvironment({ env: process.env, cwd, agentDir, configRoot, home });
  for (const problem of problems) log.warn(problem);
  return env;
}

/** Those of the user. A project's rules join with the question of trust. */
export async function discoverRules(
  { cwd, agentDir, log }: Place,
  { env, disabled }: { env: Environment; disabled: readonly string[] },
): Promise<readonly StreamRule[]> {
  const home = homedir();
  const { roots } = findConfigRoots({ cwd, home, agentDir, configRoot: configRootDirectory(env, home), disabled });
  const own = roots.filter(({ level }) => level === "user");
  const directories = own.map(({ path }) => path); // each one's `rules` folder is read
  const readDirectory = (directory: string) => readRuleFiles(directory, log);
  return (await loadRules({ directories, readDirectory, log })).stream;
}

export async function discoverSettings(
  { cwd, agentDir, log }: Place,
  options: { assignments?: readonly Assignment[]; resetWorkflowSettings?: boolean },
): Promise<Settings> {
  const { assignments = [] } = options;
  const settings = await loadSettings({ agentDir, cwd, home: homedir(), assignments });
  for (const { text } of settings.problems) log.warn(text);
  if (options.resetWorkflowSettings) settings.resetForRpc();
  return settings;
}

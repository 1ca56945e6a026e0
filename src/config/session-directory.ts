// Which directory was chosen for sessions, if any. A session and the commands that manage its files ask here, and so
// find the same one.

import { resolve } from "node:path";
import { withHome } from "../base/home.js";
import { silentLog } from "../base/log.js";
import type { Environment } from "../provider/credentials.js";
import { discoverEnvironment, discoverSettings } from "./discover.js";
import { variable } from "./environment.js";
import type { Settings } from "./settings/settings.js";

/** What this run names, else the environment, else the settings. Absolute; undefined means the default directory. */
export function sessionDirectory(
  named: string | undefined,
  { cwd, env, settings }: { cwd: string; env: Environment; settings: Settings },
): string | undefined {
  const chosen = named ?? variable(env, "GALLEY_SESSION_DIR") ?? settings.get("sessionDir");
  return chosen === undefined ? undefined : resolve(cwd, withHome(chosen));
}

export interface SessionLocation {
  readonly cwd: string;
  readonly agentDir: string;
  /** As the command line names it. */
  readonly sessionDir?: string | undefined;
}

/** For a program that holds no session. Problems of the settings files are reported when a session is opened. */
export async function findSessionDirectory({
  cwd,
  agentDir,
  sessionDir,
}: SessionLocation): Promise<string | undefined> {
  const location = { cwd, agentDir, log: silentLog };
  const env = discoverEnvironment(location);
  return sessionDirectory(sessionDir, { cwd, env, settings: await discoverSettings(location, { env }) });
}

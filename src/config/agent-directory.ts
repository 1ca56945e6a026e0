// Where the user's agent directory is: models, credentials, settings, sessions.

import { join, resolve } from "node:path";
import { homedir, withHome } from "../base/home.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Absolute. An empty variable counts as unset. */
export function agentDirectory(env: Environment, home: string = homedir()): string {
  const named = env.GALLEY_AGENT_DIR || env.PI_CODING_AGENT_DIR;
  if (named) return resolve(withHome(named, home));
  return join(home, env.GALLEY_CONFIG_DIR || env.PI_CONFIG_DIR || ".galley", "agent");
}

/** Is galley there in the place of pi? */
export function isPiDirectory(agentDir: string): boolean {
  return /[\\/]\.pi[\\/]agent$/.test(agentDir);
}

// Where a session runs and what applies there: its directories, environment, log, project and settings. Looked up once,
// so that all parts of the session see the same.

import { resolve } from "node:path";
import { type Clock, systemClock } from "../base/clock.js";
import { homedir } from "../base/home.js";
import { type Ids, randomIds } from "../base/ids.js";
import { type Log, silentLog } from "../base/log.js";
import { agentDirectory } from "../config/agent-directory.js";
import type { ConfigRoot } from "../config/config-roots.js";
import { discoverEnvironment, discoverSettings } from "../config/discover.js";
import { variable } from "../config/environment.js";
import type { Settings } from "../config/settings/settings.js";
import { configRootsAt } from "../config/survey-extensions.js";
import { findProject, type Project } from "../files/paths/find-roots.js";
import type { Environment } from "../provider/credentials.js";
import { KnownSecrets, maskedLog, secretsIn } from "./secrets/known-secrets.js";
import type { CreateAgentSessionOptions } from "./session-options.js";

export interface SessionEnvironment {
  readonly cwd: string;
  readonly agentDir: string;
  readonly home: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Masks what it knows to be secret. */
  readonly log: Log;
  readonly secrets: KnownSecrets;
  readonly project: Project;
  readonly settings: Settings;
  /** The configuration directories. */
  readonly roots: readonly ConfigRoot[];
}

export async function findSessionEnvironment(options: CreateAgentSessionOptions): Promise<SessionEnvironment> {
  const { clock = systemClock, ids = randomIds, log: told = silentLog } = options;
  const cwd = resolve(options.cwd ?? ".");
  const agentDir = options.agentDir ?? agentDirectory(options.env ?? process.env);
  const env = options.env ?? discoverEnvironment({ cwd, agentDir, log: told });
  const logFile = variable(env, "GALLEY_LOG");
  const secrets = new KnownSecrets();
  secrets.learn(secretsIn(env));
  const log = maskedLog(
    logFile === undefined
      ? told
      : (await import("../files/log-file.js")).withLogFile(told, logFile, { cwd, agentDir, clock }),
    secrets,
  );
  const home = homedir();
  const project = findProject({ cwd, home });
  const settings = options.settings ?? (await discoverSettings({ cwd, agentDir, log, project }, { ...options, env }));
  const roots = configRootsAt({ cwd, home, agentDir, env, settings }, project);
  return { cwd, agentDir, home, env, clock, ids, log, secrets, project, settings, roots };
}

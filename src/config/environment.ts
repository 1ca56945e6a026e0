// The environment a run sees: the process's own variables, and the user's `.env` files for names that are unset. The
// result is a new object; `process.env` is never changed. Also the names galley reads, with their older spellings.

import { join } from "node:path";
import { GalleyError } from "../base/errors.js";
import { readConfigFile } from "../files/config/config-files.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Environment } from "../provider/credentials.js";
import { parseEnvFile } from "./env-file.js";

/** galley's variables, each with the spelling of the programs it is compatible with. */
const variableAliases = {
  GALLEY_AGENT_DIR: "PI_CODING_AGENT_DIR",
  GALLEY_CONFIG_DIR: "PI_CONFIG_DIR",
  GALLEY_SESSION_DIR: "PI_CODING_AGENT_SESSION_DIR",
  GALLEY_RPC_EMIT_TITLE: "PI_RPC_EMIT_TITLE",
  GALLEY_NO_TITLE: "PI_NO_TITLE",
  GALLEY_SMOL_MODEL: "PI_SMOL_MODEL",
  GALLEY_SLOW_MODEL: "PI_SLOW_MODEL",
  GALLEY_PLAN_MODEL: "PI_PLAN_MODEL",
  GALLEY_CACHE_RETENTION: "PI_CACHE_RETENTION",
  GALLEY_OFFLINE: "PI_OFFLINE",
  GALLEY_STREAM_FIRST_EVENT_TIMEOUT_MS: "PI_STREAM_FIRST_EVENT_TIMEOUT_MS",
  GALLEY_STREAM_IDLE_TIMEOUT_MS: "PI_OPENAI_STREAM_IDLE_TIMEOUT_MS",
  GALLEY_TASK_MAX_OUTPUT_BYTES: "PI_TASK_MAX_OUTPUT_BYTES",
  GALLEY_TASK_MAX_OUTPUT_LINES: "PI_TASK_MAX_OUTPUT_LINES",
  GALLEY_BLOCKED_AGENT: "PI_BLOCKED_AGENT",
  GALLEY_BASH_NO_CI: "PI_BASH_NO_CI",
  GALLEY_SHELL_PREFIX: "PI_SHELL_PREFIX",
  GALLEY_NO_PTY: "PI_NO_PTY",
  GALLEY_MAX_AST_FILES: "PI_MAX_AST_FILES",
  GALLEY_LOG: undefined,
  GALLEY_PLAIN: undefined,
  GALLEY_TOUR: undefined,
  GALLEY_LOAD_PROJECT_ENV: undefined,
} as const;

export type VariableName = keyof typeof variableAliases;

/** The variable or its alias, trimmed. An empty one counts as unset. */
export function variable(env: Environment, name: VariableName): string | undefined {
  const alias = variableAliases[name];
  return env[name]?.trim() || (alias && env[alias]?.trim()) || undefined;
}

/** On for 1, true, yes, on, in any case; off for anything else. */
export function isOn(env: Environment, name: VariableName): boolean {
  const value = variable(env, name);
  return value !== undefined && /^(1|true|yes|on)$/i.test(value);
}

/** `undefined` when unset or not a whole number from 0 up. */
export function wholeNumber(env: Environment, name: VariableName): number | undefined {
  const text = variable(env, name) ?? "";
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
}

export interface LoadEnvironmentOptions {
  /** The process's variables. */
  readonly env: Environment;
  readonly cwd: string;
  readonly agentDir: string;
  /** The user's configuration directory, `~/.galley`. */
  readonly configRoot: string;
  readonly home: string;
}

export interface LoadedEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** What was wrong in a file, without repeating any value. */
  readonly problems: readonly string[];
}

/**
 * Process, then `<agentDir>/.env`, `<configRoot>/.env`, `~/.env`; the first that has a name wins, also with an empty
 * value. A `.env` in the working directory comes with the project and so from strangers, and the result is read only
 * for keys, addresses, galley's own variables and the environment of the user's credential commands: nothing that a
 * project may set. It is not even opened; a user who asks for it (GALLEY_LOAD_PROJECT_ENV) is told why.
 */
export function loadEnvironment({ env, cwd, agentDir, configRoot, home }: LoadEnvironmentOptions): LoadedEnvironment {
  const problems: string[] = [];
  const own = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const files = [...new Set([home, configRoot, agentDir].map((directory) => join(directory, ".env")))];
  const users = new Map(files.flatMap((path) => [...readEnvFile(path, problems)])); // the later ones win
  for (const name of placeNames) users.delete(name);
  const loaded = Object.fromEntries([...users, ...own]);
  if (isOn(loaded, "GALLEY_LOAD_PROJECT_ENV") && !files.includes(join(cwd, ".env")))
    problems.push(
      "GALLEY_LOAD_PROJECT_ENV: has no effect, because a project's .env is never used; " +
        `put your keys into ${printable(join(agentDir, ".env"))}`,
    );
  return { env: loaded, problems };
}

/** They decide which files are read, so a file cannot set them. */
const placeNames = ["GALLEY_AGENT_DIR", "PI_CODING_AGENT_DIR", "GALLEY_CONFIG_DIR", "PI_CONFIG_DIR"];

function readEnvFile(path: string, problems: string[]): ReadonlyMap<string, string> {
  try {
    const file = readConfigFile(path);
    if (file === undefined) return new Map();
    const { values, problem } = parseEnvFile(file.text);
    if (problem !== undefined) problems.push(`${printable(path)}: ${problem}`);
    return values;
  } catch (error) {
    if (!GalleyError.is(error, "file_refused")) throw error;
    problems.push(`${printable(path)}: ${error.message}`);
    return new Map();
  }
}

// Combines the built-in tables, the user's models file, credential file and environment into a registry. This is on the
// path to the program's first answer: without those files it costs three failed opens, and no table is read here.

import { basename, join } from "node:path";
import { GalleyError, messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { Secret } from "../base/text-mask.js";
import { parseConfig } from "../config/parse-config.js";
import { authFileProblem } from "../files/config/auth-file.js";
import { type ConfigFile, readConfigFile, runForOutput } from "../files/config/config-files.js";
import {
  type CommandAnswers,
  type Environment,
  looksLikeUnsetName,
  readAuthFile,
  rememberCommands,
} from "../provider/credentials.js";
import { ModelRegistry } from "../provider/models/model-registry.js";
import { type ModelsFile, problemText, readModelsFile, unreadableModelsFile } from "../provider/models/models-file.js";
import { catalogModels } from "./models/load-catalog.js";
import { configuredSecrets } from "./secrets/known-secrets.js";

export interface LoadModelsOptions {
  readonly agentDir: string;
  readonly env: Environment;
  readonly disabledProviders?: readonly string[];
  /** Keys by provider, instead of the credential file. */
  readonly authStorage?: ReadonlyMap<string, string>;
  readonly log: Log;
  /** Told of every secret that the files hold. */
  onSecrets?(secrets: readonly Secret[]): void;
}

const commandLimitMs = 10_000;
const maxReported = 20;

/** Never throws for the content of a file: problems are logged, and kept in `problems` for later errors. */
export async function loadModelRegistry(options: LoadModelsOptions): Promise<ModelRegistry> {
  const { agentDir, env, disabledProviders = [], log } = options;
  const file = await loadModelsFile(agentDir, log);
  const path = join(agentDir, "auth.json");
  const stored = new Map(options.authStorage ? [] : await loadAuthFile(path, log));
  const authFile = options.authStorage ?? stored;
  const tellSecrets = () => options.onSecrets?.(configuredSecrets(authFile, file.providers.values(), env));
  tellSecrets();
  const registry = new ModelRegistry({
    sources: {
      env,
      authFile,
      runtimeKeys: new Map(),
      runCommand: (command) => commandsOf(agentDir, env).run(command),
      forgetAnswer: (command, answer) => commandsOf(agentDir, env).forget(command, answer),
      names: { models: basename(file.path), ...(options.authStorage ? { auth: "authStorage" } : {}) },
    },
    file,
    builtIns: catalogModels,
    disabledProviders,
    async reloadKeys() {
      if (options.authStorage) return; // its owner changes it
      const fresh = await loadAuthFile(path, log);
      stored.clear();
      for (const [provider, key] of fresh) stored.set(provider, key);
      tellSecrets();
    },
  });
  report([...registry.problems.map(problemText), ...registry.warnings, ...suspectKeys(file, env)], log);
  return registry;
}

/** By directory and environment, on which the answer may depend: a second call in this process gets it at once. */
const remembered = new Map<string, CommandAnswers>();

function commandsOf(cwd: string, env: Environment): CommandAnswers {
  const key = JSON.stringify([cwd, Object.entries(env).sort()]);
  const known = remembered.get(key);
  if (known) return known;
  const answers = rememberCommands((command) => runForOutput(command, { timeoutMs: commandLimitMs, env, cwd }));
  remembered.set(key, answers);
  return answers;
}

/** An empty one where there is none; what is wrong with it is in its `problems`. */
export async function loadModelsFile(agentDir: string, log: Log): Promise<ModelsFile> {
  const yaml = join(agentDir, "models.yml");
  const json = join(agentDir, "models.json");
  const [first, second] = [readOrProblem(yaml), readOrProblem(json)];
  if (first && second) log.warn(`${json}: not used, because ${yaml} exists too`);
  const found = first ?? second;
  if (found === undefined) return { path: yaml, providers: new Map(), problems: [], warnings: [] };
  if (!("text" in found)) return found;
  try {
    const value = await parseConfig(found);
    const file = readModelsFile(value, found.path);
    if (file.problems.length === 0 && file.warnings.length === 0) return file;
    const { findPlaces } = await import("../config/config-places.js"); // most files have no mistake
    return readModelsFile(value, found.path, await findPlaces(found.text));
  } catch (error) {
    if (!GalleyError.is(error, "invalid_config")) throw error;
    return unreadableModelsFile(found.path, messageOf(error));
  }
}

function readOrProblem(path: string): ConfigFile | ModelsFile | undefined {
  try {
    return readConfigFile(path);
  } catch (error) {
    if (!GalleyError.is(error, "file_refused")) throw error;
    return unreadableModelsFile(path, messageOf(error));
  }
}

/** One that cannot be used: one line, and no key from it. */
export async function loadAuthFile(path: string, log: Log): Promise<ReadonlyMap<string, string>> {
  const { keys, warnings, problem } = await findStoredKeys(path);
  report(problem === undefined ? warnings : [problem], log);
  return keys;
}

/** `problem`: the file cannot be read, or has another mode than 0600. */
export async function findStoredKeys(
  path: string,
): Promise<{ keys: ReadonlyMap<string, string>; warnings: readonly string[]; problem?: string }> {
  const unusable = (problem: string) => ({ keys: new Map(), warnings: [], problem: `${path}: ${problem}` });
  try {
    const file = readConfigFile(path);
    if (file === undefined) return { keys: new Map(), warnings: [] };
    const problem = authFileProblem(file);
    return problem === undefined ? readAuthFile((await parseConfig(file)) ?? {}, path) : unusable(problem);
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error;
    return unusable(error.message);
  }
}

/** Without the text itself, which may be a key after all. */
function suspectKeys(file: ModelsFile, env: Environment): string[] {
  return [...file.providers.values()]
    .filter(({ apiKey }) => apiKey !== undefined && looksLikeUnsetName(apiKey, env))
    .map(
      ({ id }) =>
        `${file.path}: providers.${id}.apiKey: looks like the name of a variable that is not set, so its text counts as ` +
        "the key; write $NAME to require the variable",
    );
}

/** A broken file should not fill the screen. */
function report(lines: readonly string[], log: Log): void {
  for (const line of lines.slice(0, maxReported)) log.warn(line);
  if (lines.length > maxReported) log.warn(`and ${lines.length - maxReported} more of this kind`);
}

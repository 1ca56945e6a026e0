// The keys that galley finds and the ones that it stores: for the commands about them. No function returns a key.

import { basename, join } from "node:path";
import { GalleyError } from "../../base/errors.js";
import { type Log, silentLog } from "../../base/log.js";
import { agentDirectory } from "../../config/agent-directory.js";
import { discoverEnvironment } from "../../config/discover.js";
import { authEntryNames, changeAuthFile } from "../../files/config/auth-file.js";
import { type CredentialSources, type Environment, findKeys } from "../../provider/credentials.js";
import type { ModelsFile } from "../../provider/models/models-file.js";
import { findAddress } from "../../provider/models/service-models.js";
import { type KnownProvider, keyNames, knownProviders } from "../../provider/provider-list.js";
import { loadAuthFile, loadModelsFile } from "../load-models.js";
import type { CheckedService } from "./check-key.js";

export { type KnownProvider, knownProviders };

export interface KeyStore {
  readonly agentDir: string;
  readonly env: Environment;
  readonly log: Log;
}

export interface KeySource {
  readonly provider: string;
  /** A variable, auth.json or the models file. */
  readonly source: string;
}

/** Of this user, in this process's environment. */
export function findKeyStore(log: Log): KeyStore {
  const agentDir = agentDirectory(process.env);
  return { agentDir, env: discoverEnvironment({ cwd: process.cwd(), agentDir, log }), log };
}

export function authFileOf({ agentDir }: KeyStore): string {
  return join(agentDir, "auth.json");
}

/** Every key that is found, by provider in the order of use. */
export async function listKeys(store: KeyStore): Promise<KeySource[]> {
  const file = await loadModelsFile(store.agentDir, store.log);
  const authFile = await loadAuthFile(authFileOf(store), store.log);
  const providers = new Set([...keyNames.keys(), ...file.providers.keys(), ...authFile.keys()]);
  return [...providers].flatMap((provider) => sourcesOf(provider, { ...store, file, authFile }));
}

/** Throws, as the others do, what `changeAuthFile` throws. */
export async function storeKey(store: KeyStore, provider: string, key: string): Promise<void> {
  await changeAuthFile(authFileOf(store), new Map([[provider, { type: "api_key", key }]]));
}

/** Throws before a user is asked for a key that could not be stored. */
export function requireUsableStore(store: KeyStore): void {
  authEntryNames(authFileOf(store));
}

export interface RemovedKeys {
  readonly removed: readonly string[];
  /** Keys of these providers that are found elsewhere. */
  readonly left: readonly KeySource[];
  /** Entries that are no API keys, and stay when all keys are removed. */
  readonly others: readonly string[];
}

/** Removes the entry of one provider, or every API key. */
export async function removeKeys(store: KeyStore, provider: string | undefined): Promise<RemovedKeys> {
  const path = authFileOf(store);
  const wanted = provider === undefined ? [...(await loadAuthFile(path, silentLog)).keys()] : [provider];
  const removed = await changeAuthFile(path, new Map(wanted.map((name) => [name, undefined])));
  const file = await loadModelsFile(store.agentDir, silentLog);
  const concerned = provider === undefined ? [...keyNames.keys(), ...file.providers.keys()] : [provider];
  const left = [...new Set(concerned)].flatMap((name) => sourcesOf(name, { ...store, file, authFile: new Map() }));
  return { removed, left, others: provider === undefined ? authEntryNames(path) : [] };
}

/** The names of stored entries; none where the file cannot be used. */
export function storedProviders(store: KeyStore): readonly string[] {
  try {
    return authEntryNames(authFileOf(store));
  } catch (error) {
    if (GalleyError.is(error, "file_refused")) return [];
    throw error;
  }
}

/** Where the service is asked: as the models file says, then the environment. */
export async function findService(known: KnownProvider, { agentDir, env }: KeyStore): Promise<CheckedService> {
  const { providers } = await loadModelsFile(agentDir, silentLog);
  const baseUrl = findAddress(known, providers.get(known.id), env)?.baseUrl ?? known.baseUrl;
  return { known, baseUrl, env };
}

function sourcesOf(
  provider: string,
  { env, authFile, file }: KeyStore & { authFile: ReadonlyMap<string, string>; file: ModelsFile },
): KeySource[] {
  const names = { models: basename(file.path) };
  const sources: CredentialSources = { env, authFile, runtimeKeys: new Map(), runCommand: neverRun, names };
  const { apiKey, isKeyless } = file.providers.get(provider) ?? {};
  if (isKeyless) return [];
  return [...findKeys(sources, provider, apiKey)].map(({ source }) => ({ provider, source }));
}

function neverRun(): Promise<never> {
  throw new GalleyError("invalid_argument", "Listing keys runs no command.");
}

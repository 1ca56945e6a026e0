// The providers that the extensions of a session register, and what becomes of them: each belongs to the extension that named it
// first, lives as long as that is live, and never takes the place of one that the user has set up.

import { AsyncLocalStorage } from "node:async_hooks";
import { atMost, type Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { isObject, type JsonObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { complaint } from "../../extensions/api/custom-tool-failure.js";
import type { ExtensionOrigin } from "../../extensions/api/extension-origin.js";
import { runGuarded } from "../../extensions/load/load-guard.js";
import { mayExist } from "../../files/paths/find-roots.js";
import type { Environment } from "../../provider/credentials.js";
import type { ModelRegistry } from "../../provider/models/model-registry.js";
import { configuredSecrets, type KnownSecrets } from "../secrets/known-secrets.js";
import { configOfNative, isNativeProvider, type NativeProvider, readGivenProvider } from "./given-provider.js";
import { type Authorization, type StreamSimple, streamOfExtension } from "./provider-stream.js";

export interface RegisteredProvidersDeps {
  readonly registry: Pick<ModelRegistry, "added">;
  readonly env: Environment;
  readonly log: Log;
  readonly secrets: KnownSecrets;
  readonly clock: Clock;
}

export type ProviderOwner = Pick<ExtensionOrigin, "path" | "realPath" | "needsTrust">;

interface Given {
  readonly owner: ProviderOwner;
  readonly config: JsonObject;
}

/** How long a session whose model is not known waits for providers to name theirs. */
const patienceMs = 5000;

const insideProvider = new AsyncLocalStorage<true>();

/** An extension's own model is being asked: what it asks meanwhile is part of that request. */
export function isInsideProvider(): boolean {
  return insideProvider.getStore() ?? false;
}

export class RegisteredProviders {
  readonly #deps: RegisteredProvidersDeps;
  #given = new Map<string, Given>();
  readonly #over = new AbortController();
  #asking: Promise<void> = Promise.resolve();

  constructor(deps: RegisteredProvidersDeps) {
    this.#deps = deps;
  }

  get ids(): readonly string[] {
    return [...this.#given.keys()];
  }

  /** As it was given. */
  configOf(id: string): JsonObject | undefined {
    return this.#given.get(id)?.config;
  }

  /** What `work` does not register again is gone afterwards: the extensions are others, or begin anew. */
  renew(work: () => void): void {
    const before = this.#given;
    this.#given = new Map();
    work();
    for (const id of before.keys()) if (!this.#given.has(id)) this.#deps.registry.added.remove(id);
  }

  /** Throws a sentence for its author where it cannot be used. */
  register(owner: ProviderOwner, id: string, config: JsonObject): void {
    this.#add(owner, id, config);
    if (typeof config.refreshModels !== "function") return;
    const [before, asked] = [this.#asking, this.#refresh(id)];
    this.#asking = before.then(() => asked); // neither rejects
  }

  /** Every provider that was registered so far was asked for its models, as far as they answer in time. */
  settled(): Promise<void> {
    return atMost(this.#deps.clock, patienceMs, this.#asking);
  }

  unregister(owner: ProviderOwner, id: string): void {
    if (this.#given.get(id)?.owner.path !== owner.path) return;
    this.#given.delete(id);
    this.#deps.registry.added.remove(id);
  }

  /** Asks each for its models. Never rejects. */
  async refresh(): Promise<void> {
    const asked = [...this.#given].filter(([, { config }]) => typeof config.refreshModels === "function");
    await Promise.all(asked.map(([id]) => this.#refresh(id)));
  }

  close(): void {
    this.#over.abort();
  }

  #add(owner: ProviderOwner, id: string, config: JsonObject, models?: unknown): void {
    const { registry, env, log, secrets } = this.#deps;
    const other = this.#given.get(id)?.owner.path ?? owner.path;
    if (other !== owner.path) throw complaint(`The provider ${id} is already registered by ${other}.`);
    try {
      const native = isNativeProvider(config) ? config : undefined;
      const described: JsonObject = native ? configOfNative(native) : { ...config, models: models ?? config.models };
      const { entry, warnings } = readGivenProvider(id, described, { mayRun: !owner.needsTrust });
      registry.added.add({ entry, stream: this.#streamOf(owner, described, native) });
      secrets.learn(configuredSecrets(new Map(), [entry], env));
      for (const warning of models === undefined ? warnings : []) log.warn(`${owner.path}: ${warning}`);
    } catch (error) {
      throw complaint(messageOf(error));
    }
    this.#given.set(id, { owner, config });
  }

  #streamOf({ realPath: path }: ProviderOwner, { streamSimple }: JsonObject, native: NativeProvider | undefined) {
    if (typeof streamSimple !== "function") return undefined;
    const { log, env } = this.#deps;
    const call = <Result>(work: () => Result): Result =>
      insideProvider.run(true, () => runGuarded({ path, log }, work));
    const authorize = native && ((signal: AbortSignal) => call(() => authorization(native, { signal, env })));
    return streamOfExtension(streamSimple as StreamSimple, { call, authorize });
  }

  async #refresh(id: string): Promise<void> {
    const given = this.#given.get(id);
    if (!given) return;
    const { owner, config } = given;
    const { log, registry } = this.#deps;
    const isCurrent = () => this.#given.get(id)?.config === config && !this.#over.signal.aborted;
    const context = {
      allowNetwork: true,
      signal: this.#over.signal,
      /** Nothing is kept between sessions. */
      async publish({ update }: { update?: () => void }) {
        if (isCurrent()) update?.();
        return isCurrent();
      },
    };
    try {
      const ask = config.refreshModels as (context: object) => unknown;
      const models = await runGuarded({ path: owner.realPath, log }, async () => ask.call(config, context));
      if (isCurrent() && (Array.isArray(models) || isNativeProvider(config))) this.#add(owner, id, config, models);
    } catch (error) {
      // A list that could not be fetched is none of the user's business while there is another.
      const isEmpty = (registry.added.entryOf(id)?.models.length ?? 0) === 0;
      if (isEmpty && isCurrent())
        log.warn(`${owner.path}: the models of ${id} could not be found: ${messageOf(error)}`);
    }
  }
}

/** As pi asks such a provider for its key. */
async function authorization(
  { id, auth }: NativeProvider,
  { signal, env }: { signal: AbortSignal; env: Environment },
): Promise<Authorization> {
  const { apiKey } = auth ?? {};
  if (typeof apiKey?.resolve !== "function") return {};
  const ctx = {
    env: async (name: string) => env[name] ?? process.env[name],
    fileExists: async (path: string) => mayExist(path),
  };
  const result = await apiKey.resolve({ ctx, signal });
  const found = isObject(result) && isObject(result.auth) ? result.auth : undefined;
  if (!found) throw complaint(`No API key found for ${id}.`);
  const headers = isObject(found.headers) ? texts(found.headers) : undefined;
  return { apiKey: typeof found.apiKey === "string" ? found.apiKey : undefined, headers };
}

function texts(headers: JsonObject): Record<string, string> {
  const kept = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(kept);
}

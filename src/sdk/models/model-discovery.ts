// The models of local servers in the registry of a session: which servers are asked, when, and what is assumed of a named
// model while its server is not asked. Asking is loaded when it is needed; a session that needs none pays nothing.

import type { Clock } from "../../base/clock.js";
import { GalleyError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { isOn } from "../../config/environment.js";
import type { Settings } from "../../config/settings/settings.js";
import type { Environment } from "../../provider/credentials.js";
import { assumedModel } from "../../provider/local/found-model.js";
import type { AskedServer } from "../../provider/local/local-servers.js";
import { nothingListens } from "../../provider/local/nothing-listens.js";
import { originOf, rootOf, type ServerToAsk, usualServers } from "../../provider/local/server-address.js";
import { isLoopbackUrl } from "../../provider/models/config-checks.js";
import type { ModelRegistry, RequestedModel } from "../../provider/models/model-registry.js";
import { plannerModel } from "../../provider/planner/planner-model.js";
import type { ProviderModel } from "../../provider/provider.js";
import { splitLevel } from "../../provider/thinking-levels.js";

export interface ModelDiscoveryDeps {
  readonly registry: ModelRegistry;
  readonly env: Environment;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AskOptions {
  /** Only its server; default: all. */
  readonly provider?: string | undefined;
  /** The id of a model that was named. */
  readonly wanted?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class ModelDiscovery {
  readonly #deps: ModelDiscoveryDeps;
  readonly #servers: ReadonlyMap<string, ServerToAsk>;
  /** By provider: how its server was when it was asked last. */
  readonly #asked = new Map<string, AskedServer>();
  /** `provider/id` of models that no server has told of. */
  readonly #assumed = new Set<string>();
  #hasLooked = false;

  constructor(deps: ModelDiscoveryDeps) {
    this.#deps = deps;
    this.#servers = new Map(serversOf(deps).map((server) => [server.provider, server]));
  }

  /** Neither the user nor the process is offline. */
  get isAllowed(): boolean {
    const { env, settings } = this.#deps;
    const isOffline = isOn(env, "GALLEY_OFFLINE") || isOn(process.env, "GALLEY_OFFLINE");
    return !isOffline && settings.get("models.discovery") === "on";
  }

  /** What kind of server a provider is; undefined where it is none. */
  typeOf(provider: string): ServerToAsk["type"] | undefined {
    return this.#servers.get(provider)?.type;
  }

  /** Asks, and adds what is found to the registry. The models in the order of choice; none where none may be asked. */
  async ask({ provider, wanted, signal }: AskOptions = {}): Promise<readonly ProviderModel[]> {
    if (!this.isAllowed) return [];
    const servers = [...this.#servers.values()].filter((server) => !provider || server.provider === provider);
    if (servers.length === 0) return [];
    const { env, clock, registry } = this.#deps;
    const { findLocalModels } = await import("../../provider/local/local-servers.js");
    const { models, servers: asked } = await findLocalModels({ env, clock, servers, wanted, signal });
    registry.addDiscovered(models);
    for (const server of asked) this.#asked.set(server.provider, server);
    for (const model of models) this.#assumed.delete(keyOf(model));
    return models.map((model) => registry.find(model.provider, model.id) ?? model);
  }

  /** Where the command line names such a provider: its server is asked, and a model that it may have is known then. */
  async learnNamed({ provider, model }: RequestedModel): Promise<void> {
    const isServer = provider === undefined && this.#servers.has(model ?? "");
    const named = split(isServer ? `${model}/` : provider === undefined ? (model ?? "") : `${provider}/${model ?? ""}`);
    if (!this.#servers.has(named.provider) || this.#isKnown(named)) return;
    await this.ask({ provider: named.provider, wanted: named.id });
    if (named.id !== "") this.assume(`${named.provider}/${named.id}`);
    else if (this.isAllowed && !this.#hasAnswered(named.provider))
      throw new GalleyError("no_model", this.whyNothing(named.provider) ?? `No model found at ${named.provider}.`);
  }

  /** Makes a model known that is named as `provider/id`, unless its server was asked and does not have it. */
  assume(name: string): ProviderModel | undefined {
    const named = split(name);
    const { registry, env } = this.#deps;
    const server = this.#servers.get(named.provider);
    const isPlain = named.id !== "" && !/[*?\p{Cc}]/u.test(named.id);
    if (!server || !isPlain || this.#hasAnswered(named.provider) || this.#isKnown(named)) return undefined;
    const model = assumedModel(named.id, server, env);
    registry.addDiscovered([model]);
    this.#assumed.add(keyOf(model));
    return registry.find(model.provider, model.id);
  }

  /**
   * Before a prompt, at most a second and once for each reason: a model in place of a planner that was not chosen, or
   * what the server says of a model that was only assumed. Undefined where there is nothing to ask.
   */
  forPrompt(
    current: ProviderModel,
    { isChosen, signal }: { isChosen: boolean; signal?: AbortSignal },
  ): Promise<ProviderModel | undefined> | undefined {
    if (!this.isAllowed) return undefined;
    if (current === plannerModel) return isChosen || this.#hasLooked ? undefined : this.useFirstChoice(signal);
    if (!this.#assumed.delete(keyOf(current))) return undefined;
    const { provider, id } = current;
    return this.ask({ provider, wanted: id, signal }).then(() => this.#deps.registry.find(provider, id));
  }

  /** For a session without a model, which says what it uses now. */
  async useFirstChoice(signal?: AbortSignal): Promise<ProviderModel | undefined> {
    this.#hasLooked = true;
    const found = this.firstOf(await this.ask({ signal }));
    if (found) this.#deps.log.warn(`Using ${keyOf(found)}, which was found at ${originOf(found.baseUrl)}.`);
    return found;
  }

  /** The model to use where none was chosen: on this machine, or of a server that the user described. */
  firstOf(models: readonly ProviderModel[]): ProviderModel | undefined {
    const { registry } = this.#deps;
    const described = new Set(registry.described().map(({ id }) => id));
    // A local server may pass requests on to another machine, at a price that is not known: not without being chosen.
    const isMeant = ({ cost, provider, baseUrl }: ProviderModel) =>
      cost !== undefined || (described.has(provider) && !isLoopbackUrl(baseUrl));
    return models.find((model) => isMeant(model) && registry.hasCredential(model));
  }

  /** Why a server told of nothing, for people; default: the first that the models file describes. */
  whyNothing(provider?: string): string | undefined {
    const described = this.#deps.registry.described().filter(({ discovery }) => discovery);
    const asked = this.#asked.get(provider ?? described.find(({ id }) => this.#asked.has(id))?.id ?? "");
    if (!asked || asked.outcome === "answered") return undefined;
    if (asked.outcome === "refused") return nothingListens(asked.origin, asked.type);
    return asked.outcome === "silent" ? `${asked.origin} does not answer.` : asked.problem;
  }

  #hasAnswered(provider: string): boolean {
    return this.#asked.get(provider)?.outcome === "answered";
  }

  #isKnown({ provider, id }: { provider: string; id: string }): boolean {
    return id !== "" && this.#deps.registry.find(provider, id) !== undefined;
  }
}

/** The usual servers and those of the models file, which wins where it describes a usual one. */
function serversOf({ registry, env }: ModelDiscoveryDeps): ServerToAsk[] {
  const entries = registry.described();
  const usual = usualServers(env).filter(({ provider }) => registry.isEnabled(provider));
  const typeOf = (id: string) => usual.find(({ provider }) => provider === id)?.type;
  const described = entries.flatMap(({ id, baseUrl, isKeyless, discovery }): ServerToAsk[] => {
    const type = discovery?.type ?? typeOf(id);
    const address = type && (baseUrl ?? usual.find(({ provider }) => provider === type)?.baseUrl);
    if (type === undefined || address === undefined) return [];
    const chatUrl = type === "openai-compat" ? address : `${rootOf(address)}/v1`;
    return [{ provider: id, type, baseUrl: chatUrl, ...(isKeyless && { isFree: true }) }];
  });
  const all = new Map([...usual, ...described].map((server) => [server.provider, server]));
  return [...all.values()].map((server) => ({ ...server, headers: () => headersOf(registry, server.provider) }));
}

/** What a request to a model of this provider carries. */
async function headersOf(registry: ModelRegistry, provider: string): Promise<Record<string, string>> {
  const model = { provider, id: "" };
  const [key, headers] = await Promise.all([registry.apiKeyFor(model), registry.headersFor(model)]);
  return { ...(key !== undefined && { authorization: `Bearer ${key.trim()}` }), ...headers };
}

/** `provider/id[:level]`; an id may hold a colon of its own. */
function split(name: string): { provider: string; id: string } {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(slash, 0));
  const rest = name.slice(slash + 1);
  return { provider, id: splitLevel(rest)?.name ?? rest };
}

function keyOf({ provider, id }: Pick<ProviderModel, "provider" | "id">): string {
  return `${provider}/${id}`;
}

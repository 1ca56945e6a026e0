// What a session knows about models: the registry, the models to cycle through, the models for other work, and what
// every request carries. Combines settings, environment and command line.

import { type Clock, systemClock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { variable, wholeNumber } from "../config/environment.js";
import type { Settings } from "../config/settings/settings.js";
import type { ThinkingLevel } from "../protocol/model.js";
import { type Environment, noKeyText } from "../provider/credentials.js";
import { secretsOf } from "../provider/mask-secrets.js";
import { chooseInitialModel, type InitialModel, type Preferences } from "../provider/models/initial-model.js";
import type { ModelRegistry } from "../provider/models/model-registry.js";
import { plannerModel } from "../provider/planner/planner-model.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import type { ModelChoice, ModelSource, RequestSettings } from "../session/models/model-source.js";
import type { KeyAccess } from "./keys/stream-with-keys.js";
import { loadModelRegistry } from "./load-models.js";
import { ModelDiscovery } from "./models/model-discovery.js";
import type { NoModelReason } from "./no-model.js";
import type { KnownSecrets } from "./secrets/known-secrets.js";
import { learnedKeys } from "./secrets/learned-keys.js";

export interface ModelOptions {
  /** A model object, when the caller has one; else `provider` and `modelPattern` select. */
  model?: ProviderModel;
  provider?: string;
  modelPattern?: string;
  /** A key for the chosen model's provider, for this session only. */
  apiKey?: string;
  thinkingLevel?: ThinkingLevel;
  /** The models to cycle through, as models or as patterns; default: the setting `enabledModels`. */
  scopedModels?: readonly (ModelChoice | string)[];
  /** Patterns for the models of other work; they win over the environment and the setting `modelRoles`. */
  modelRoles?: Readonly<Record<string, string>>;
  modelRegistry?: ModelRegistry;
  /** Keys by provider, instead of the credential file; read whenever one is needed. */
  authStorage?: ReadonlyMap<string, string>;
  /** For services that cache per conversation; default: the session's id. */
  providerSessionId?: string;
}

export interface Surroundings {
  readonly agentDir: string;
  readonly env: Environment;
  readonly settings: Settings;
  readonly log: Log;
  readonly clock?: Clock;
  /** Learns the keys and headers that come into use. */
  readonly secrets?: KnownSecrets;
}

export interface SessionModels {
  readonly source: ModelSource;
  readonly keys: KeyAccess;
  /** Where extensions add their providers. */
  readonly registry: Pick<ModelRegistry, "added">;
  readonly model: ProviderModel | undefined;
  /** For a named model that is not known: looks again, when extensions have registered theirs. Throws where it is not there. */
  readonly missing: (() => InitialModel) | undefined;
  /** What was requested, by itself or with the model. */
  readonly namedLevel: ThinkingLevel | undefined;
  readonly usualLevel: ThinkingLevel;
  /** The kind of local server that a provider is; undefined for services elsewhere. */
  serverTypeOf(provider: string): string | undefined;
}

/** Throws `model_not_found` or `invalid_config` when a named model is not available. */
export async function chooseModels(options: NoModelOptions, around: Surroundings) {
  const registry = await findRegistry(options, around);
  const discovery = new ModelDiscovery({ ...around, registry, clock: around.clock ?? systemClock });
  await learnNamed({ discovery, registry }, options, around);
  const scope = findScope(registry, options.scopedModels, around);
  const named = rolePatterns(options.modelRoles ?? {}, around);
  const roles = findRoles(registry, named, around);
  const preferences = { usual: roles.get("default"), scope };
  const { initial, missing } = initialOrMissing(registry, options, preferences);
  if (options.apiKey !== undefined && initial.model === plannerModel && !isModelNamed(options))
    throw new GalleyError("usage", "The key of --api-key is for no model: name one with --model PROVIDER/ID.");
  // A one-shot run has nothing to answer before its prompt, so it looks for a model at once.
  const isLooking = options.onNoModel && !options.streamFn && !isModelNamed(options) && !isPlannerUsual(roles);
  const found = isLooking && initial.model === plannerModel ? await discovery.useFirstChoice() : undefined;
  const chosen = found ? { ...initial, model: found } : initial;
  if (chosen.model && isModelNamed(options) && !options.model && registry.isUnlisted(chosen.model))
    around.log.warn(
      `${chosen.model.provider}/${chosen.model.id} is not in galley's table of models. It may be newer, so it is tried.`,
    );
  const small = chosen.model && !named.has("smol") ? registry.smallOf(chosen.model.provider) : undefined;
  if (small) roles.set("smol", { model: small });
  return { registry, discovery, scope, roles, chosen, missing };
}

/** A name that means nothing yet may mean a model that an extension is going to register. */
function initialOrMissing(
  registry: ModelRegistry,
  options: NoModelOptions,
  preferences: Preferences,
): { initial: InitialModel; missing: (() => InitialModel) | undefined } {
  try {
    return { initial: initialModel(registry, options, preferences), missing: undefined };
  } catch (error) {
    if (!GalleyError.is(error, "model_not_found") || !options.mayAddModels?.()) throw error;
    return { initial: {}, missing: () => initialModel(registry, options, preferences) };
  }
}

/** The user prefers it to what may be found. */
function isPlannerUsual(roles: ReadonlyMap<string, ModelChoice>): boolean {
  return roles.get("default")?.model === plannerModel;
}

/** Throws as `chooseModels` does. */
export async function findSessionModels(options: NoModelOptions, around: Surroundings): Promise<SessionModels> {
  const { settings } = around;
  const { registry, discovery, scope, roles, chosen, missing } = await chooseModels(options, around);
  const mayDiscover = !options.streamFn && !isPlannerUsual(roles);
  if (options.apiKey !== undefined && chosen.model) registry.setRuntimeApiKey(chosen.model.provider, options.apiKey);
  around.secrets?.learn(secretsOf(chosen.model?.provider ?? "api-key", options));
  await tellNoModel(registry, { options, model: chosen.model, usual: roles.get("default"), discovery }, around);
  const keys = learnedKeys(registry, around.secrets);
  const source: ModelSource = {
    available: () => registry.available(),
    all: () => registry.all(),
    allKnown: () => registry.allKnown(),
    find(provider, id) {
      const found = registry.isMisspelt({ provider, id }) ? undefined : registry.find(provider, id);
      return found ?? discovery.assume(`${provider}/${id}`);
    },
    hasCredential: (model) => registry.hasCredential(model),
    apiKeyFor: keys.apiKeyFor,
    headersFor: keys.headersFor,
    noKeyText: (model) => noKeyText(model.provider, registry.keyVariable(model)),
    ...(mayDiscover && { discover: (current, how) => discovery.forPrompt(current, how) }),
    learn: (provider, modelId) => discovery.learnNamed({ provider, model: modelId }),
    reloadKeys: registry.reloadKeys,
    scope,
    roles,
    requestSettings: requestSettings(options.providerSessionId, around),
  };
  const namedLevel = options.thinkingLevel ?? chosen.thinkingLevel;
  const usualLevel = settings.get("defaultThinkingLevel");
  const serverTypeOf = (id: string) => discovery.typeOf(id);
  return { source, keys, registry, model: chosen.model, missing, namedLevel, usualLevel, serverTypeOf };
}

/** Models of local servers are known once they are named: by the command line after asking, by the settings as they are. */
async function learnNamed(
  { discovery, registry }: { discovery: ModelDiscovery; registry: ModelRegistry },
  options: NoModelOptions,
  around: Surroundings,
): Promise<void> {
  const { model, provider, modelPattern, apiKey, modelRoles = {}, scopedModels, streamFn } = options;
  if (!model && !streamFn) {
    const server = provider ?? modelPattern?.split("/", 1)[0] ?? "";
    if (apiKey !== undefined && discovery.typeOf(server)) registry.setRuntimeApiKey(server, apiKey);
    await discovery.learnNamed({ ...(provider && { provider }), ...(modelPattern && { model: modelPattern }) });
  }
  const { settings, env } = around;
  const inSettings = [...Object.values(settings.get("modelRoles")), ...settings.get("enabledModels")];
  const inEnvironment = Object.values(roleVariables).map((name) => variable(env, name));
  for (const name of [...inSettings, ...inEnvironment, ...Object.values(modelRoles), ...(scopedModels ?? [])])
    if (typeof name === "string") discovery.assume(name);
}

export function isModelNamed({ model, provider, modelPattern }: ModelOptions): boolean {
  return (model ?? provider ?? modelPattern) !== undefined;
}

/** To the front end that asked for it, else to the log. */
async function tellNoModel(
  registry: ModelRegistry,
  {
    options,
    model,
    usual,
    discovery,
  }: {
    options: NoModelOptions;
    model: ProviderModel | undefined;
    usual?: ModelChoice | undefined;
    discovery: ModelDiscovery;
  },
  around: Surroundings,
): Promise<void> {
  if (!options.onNoModel) return isModelNamed(options) ? undefined : tellStandIn(registry, model, around.log);
  if (options.streamFn) return;
  const { whyNoModel } = await import("./no-model.js");
  const isChosen = isModelNamed(options) || usual?.model === plannerModel;
  const reason = await whyNoModel(registry, { model, isNamed: isChosen }, around);
  const silence = reason?.kind === "unusable" ? discovery.whyNothing() : undefined;
  if (reason) options.onNoModel(silence === undefined ? reason : { kind: "unusable", text: silence });
}

/** A caller that brings the provider layer needs neither a key nor an explanation. */
type NoModelOptions = ModelOptions & {
  onNoModel?: (reason: NoModelReason) => void;
  streamFn?: StreamFunction;
  /** Extensions may add models later. */
  mayAddModels?: () => boolean;
};

/** The user should not take the planner's answers for those of a model that was set up. */
function tellStandIn(registry: ModelRegistry, model: ProviderModel | undefined, log: Log): void {
  if (model !== plannerModel) return;
  const providers = [...new Set(registry.all().map(({ provider }) => provider))].filter(
    (name) => name !== plannerModel.provider,
  );
  if (providers.length === 0) return;
  log.warn(
    `No key for ${providers.slice(0, 5).join(", ")}: the built-in planner answers, which is not a language model.`,
  );
}

/** A caller that brings the provider layer brings the keys. */
export function withoutKeys(models: ModelSource): ModelSource {
  return { ...models, hasCredential: () => true, apiKeyFor: async () => undefined, headersFor: async () => ({}) };
}

async function findRegistry(options: ModelOptions, around: Surroundings): Promise<ModelRegistry> {
  const { modelRegistry, authStorage } = options;
  if (modelRegistry && authStorage)
    throw new GalleyError("invalid_argument", "Give modelRegistry or authStorage, not both: a registry has its keys.");
  const disabledProviders = around.settings.get("disabledProviders");
  if (modelRegistry) return modelRegistry;
  const onSecrets: KnownSecrets["learn"] = (secrets) => around.secrets?.learn(secrets);
  return loadModelRegistry({ ...around, disabledProviders, onSecrets, ...(authStorage ? { authStorage } : {}) });
}

function initialModel(
  registry: ModelRegistry,
  { model, provider, modelPattern }: ModelOptions,
  preferences: Preferences,
): InitialModel {
  if (model) return { model };
  const requested = { provider, model: modelPattern };
  return chooseInitialModel(registry, requested, preferences);
}

/** In the order of the patterns, each model at each level once. A pattern without a match is reported. */
function findScope(
  registry: ModelRegistry,
  wanted: ModelOptions["scopedModels"],
  { settings, log }: Surroundings,
): ModelChoice[] {
  const choices = (wanted ?? settings.get("enabledModels")).flatMap((choice) => {
    if (typeof choice !== "string") return [choice];
    const found = registry.selectAll(choice);
    if (found.length === 0) log.warn(`No model matches "${choice}" of ${wanted ? "the scope" : "enabledModels"}.`);
    return found;
  });
  const keyOf = ({ model, thinkingLevel }: ModelChoice) => `${model.provider}/${model.id}:${thinkingLevel}`;
  return [...new Map(choices.toReversed().map((choice) => [keyOf(choice), choice])).values()].toReversed();
}

const roleVariables = { smol: "GALLEY_SMOL_MODEL", slow: "GALLEY_SLOW_MODEL", plan: "GALLEY_PLAN_MODEL" } as const;

function rolePatterns(
  given: Readonly<Record<string, string>>,
  { settings, env }: Surroundings,
): ReadonlyMap<string, string | undefined> {
  const variables = Object.entries(roleVariables).map(([role, name]) => [role, variable(env, name)] as const);
  return new Map<string, string | undefined>([
    ...Object.entries(settings.get("modelRoles")),
    ...variables.filter(([, pattern]) => pattern !== undefined),
    ...Object.entries(given),
  ]);
}

/** A role whose pattern has no match is reported and left out: other work falls back by itself. */
function findRoles(
  registry: ModelRegistry,
  patterns: ReadonlyMap<string, string | undefined>,
  { settings, log }: Surroundings,
): Map<string, ModelChoice> {
  const roles = new Map<string, ModelChoice>();
  for (const [role, pattern = ""] of patterns) {
    const found = registry.select(pattern);
    if (found) roles.set(role, found);
    // Without the usual model the session starts with another one; the others are only used when there is work.
    if (!found || (role === "default" && !registry.hasCredential(found.model)))
      log.warn(`modelRoles.${role}: ${pattern} cannot be used now`);
  }
  for (const role of Object.keys(settings.get("retry.fallbackChains")))
    if (role !== "default" && !patterns.has(role))
      log.warn(`retry.fallbackChains.${role}: no model has this role; the conversation's is "default"`);
  return roles;
}

function requestSettings(sessionId: string | undefined, { settings, env, log }: Surroundings): RequestSettings {
  const temperature = settings.get("temperature");
  const firstEventTimeoutMs = wholeNumber(env, "GALLEY_STREAM_FIRST_EVENT_TIMEOUT_MS");
  const idleTimeoutMs = wholeNumber(env, "GALLEY_STREAM_IDLE_TIMEOUT_MS");
  return {
    thinkingBudgets: {
      minimal: settings.get("thinkingBudgets.minimal"),
      low: settings.get("thinkingBudgets.low"),
      medium: settings.get("thinkingBudgets.medium"),
      high: settings.get("thinkingBudgets.high"),
      xhigh: settings.get("thinkingBudgets.xhigh"),
    },
    ...(temperature < 0 ? {} : { temperature }),
    ...sampling(settings),
    ...cacheRetention(env, log),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(firstEventTimeoutMs === undefined ? {} : { firstEventTimeoutMs }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    proxyVariables: proxyVariables(env),
    onWarning: onceEach(log),
  };
}

/** A provider warns with every request. */
function onceEach(log: Log): (text: string) => void {
  const told = new Set<string>();
  return (text) => {
    if (!told.has(text)) log.warn(text);
    told.add(text);
  };
}

/** Also when there is none: then the caller's environment has no proxy, whatever the process's has. */
function proxyVariables(env: Environment): Environment {
  const names = ["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"];
  return Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]));
}

/** Empty where nothing is set: most requests set none of it. */
function sampling(settings: Settings): Pick<RequestSettings, "sampling"> {
  const names = ["topP", "topK", "minP", "presencePenalty", "repetitionPenalty"] as const;
  const chosen = names.flatMap((name) => (settings.get(name) === -1 ? [] : [[name, settings.get(name)]]));
  return chosen.length === 0 ? {} : { sampling: Object.fromEntries(chosen) };
}

function cacheRetention(env: Environment, log: Log): Pick<RequestSettings, "cacheRetention"> {
  const wanted = variable(env, "GALLEY_CACHE_RETENTION");
  if (wanted === "long" || wanted === "short") return { cacheRetention: wanted };
  if (wanted !== undefined) log.warn("GALLEY_CACHE_RETENTION: expected short or long; it is not used");
  return {};
}

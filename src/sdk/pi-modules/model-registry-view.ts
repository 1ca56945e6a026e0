// `ctx.modelRegistry`: the models that are known, their keys, and requests to them, as modules of pi ask for them.

import { messageOf } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { ModelRegistryView } from "../../extensions/api/custom-tool-context.js";
import { currentModule } from "../../extensions/load/load-guard.js";
import type { ProviderModel } from "../../provider/provider.js";
import type { ModelSource } from "../../session/models/model-source.js";
import type { ModelFunctions } from "./model-functions.js";
import { piModel } from "./pi-model.js";
import type { ProviderOwner, RegisteredProviders } from "./registered-providers.js";

export interface ModelRegistryViewDeps {
  readonly models: ModelSource;
  readonly providers: RegisteredProviders;
  /** Asked when a model is. */
  functions(): ModelFunctions;
}

export function modelRegistryView({ models, providers, functions }: ModelRegistryViewDeps): ModelRegistryView {
  const known = () => models.allKnown?.() ?? models.all?.() ?? models.available();
  const shown = (model: ProviderModel | undefined) => model && piModel(model);
  const keyOf = async (provider: string) => {
    const model = known().find((one) => one.provider === provider);
    return model && models.apiKeyFor(model);
  };
  return {
    find: (provider, modelId) => shown(models.find(provider, modelId)),
    getAll: () => known().map(piModel),
    getAvailable: () => models.available().map(piModel),
    getApiKey: (model) => models.apiKeyFor(model as ProviderModel),
    async getApiKeyAndHeaders(given) {
      const model = given as ProviderModel;
      if (!models.hasCredential(model)) return { ok: false, error: models.noKeyText(model) };
      try {
        const [apiKey, headers] = await Promise.all([models.apiKeyFor(model), models.headersFor(model)]);
        return { ok: true, apiKey, headers };
      } catch (error) {
        return { ok: false, error: messageOf(error) };
      }
    },
    getApiKeyForProvider: keyOf,
    async getProviderAuth(provider) {
      const apiKey = await keyOf(provider);
      return apiKey === undefined ? undefined : { auth: { apiKey } };
    },
    getProviderAuthStatus(provider) {
      const model = known().find((one) => one.provider === provider);
      return { configured: model !== undefined && models.hasCredential(model) };
    },
    getProvider(id) {
      const own = () => known().filter(({ provider }) => provider === id);
      const [first] = own();
      if (!first) return undefined;
      const { stream, streamSimple } = functions();
      return { id, name: id, baseUrl: first.baseUrl, getModels: () => own().map(piModel), stream, streamSimple };
    },
    getProviderDisplayName: (provider) => provider,
    hasConfiguredAuth: (model) => models.hasCredential(model as ProviderModel),
    isUsingOAuth: () => false,
    getError: () => undefined,
    async refresh() {
      await Promise.all([models.reloadKeys?.(), providers.refresh()]);
      return { aborted: false, errors: new Map() };
    },
    stream: (...args) => functions().stream(...(args as Parameters<ModelFunctions["stream"]>)),
    streamSimple: (...args) => functions().streamSimple(...(args as Parameters<ModelFunctions["stream"]>)),
    complete: (...args) => functions().complete(...(args as Parameters<ModelFunctions["stream"]>)),
    registerProvider(given: unknown, config: unknown = given) {
      const name = typeof given === "string" ? given : (given as { id: string }).id;
      providers.register(caller(), name, config as JsonObject);
    },
    unregisterProvider: (name) => providers.unregister(caller(), name),
    getRegisteredProviderConfig: (name) => providers.configOf(name),
    getRegisteredProviderIds: () => providers.ids,
  };
}

/** Which extension asks is not said here: it may do no more than one of a project. */
function caller(): ProviderOwner {
  const path = currentModule()?.path ?? "ctx.modelRegistry";
  return { path, realPath: path, needsTrust: true };
}

// The models for people and scripts: which there are, which can be used and by which key, and which one a session would
// begin with. Asks local servers for their models, and no other service.

import type { Log } from "../../base/log.js";
import type { Model } from "../../protocol/model.js";
import type { ModelRegistry } from "../../provider/models/model-registry.js";
import { toWireModel } from "../../provider/models/wire-model.js";
import { plannerModel } from "../../provider/planner/planner-model.js";
import type { ProviderModel } from "../../provider/provider.js";
import { knownProviders, localProviders, usualKeyName } from "../../provider/provider-list.js";
import { thinkingOf } from "../../session/models/thinking.js";
import { findExtensionLocation } from "../extensions/manage-extensions.js";
import { chooseModels } from "../session-models.js";
import { readCatalog } from "./load-catalog.js";

export interface ListedModel {
  /** As hosts see it. */
  readonly wire: Model;
  /** Undefined: the price is not known. */
  readonly cost: { readonly input: number; readonly output: number } | undefined;
  /** `low-high`; undefined: it does not reason. */
  readonly thinking: string | undefined;
  readonly available: boolean;
  /** Where its key was found; `local` for a server that wants none. */
  readonly source?: string;
  /** The variable that would hold its key. */
  readonly missing?: string;
  /** A session that names no model begins with it. */
  readonly isDefault: boolean;
}

export interface ModelList {
  readonly models: readonly ListedModel[];
  /** How many services galley knows that have no key. */
  readonly otherProviders: number;
  /** Of the prices in the built-in tables; undefined where none of them is in the list. */
  readonly date: string | undefined;
  readonly providers: readonly string[];
}

const names = knownProviders.slice(0, 3).map(({ id }) => usualKeyName(id));

export const setKeyText = `Set ${names.join(", ")}, … or run: galley login`;

/** `all`: also what cannot be used. The planner is in no list: it is no language model. */
export async function listModels({ cwd, log, all }: { cwd: string; log: Log; all: boolean }): Promise<ModelList> {
  const location = await findExtensionLocation({ cwd, log, builtInToolNames: [] });
  const models = await chooseModels({}, location);
  const { registry, discovery } = models;
  const found = discovery.firstOf(await discovery.ask());
  const begins = models.chosen.model === plannerModel ? found : models.chosen.model;
  const listed = (all ? registry.allKnown() : registry.available()).filter((model) => model !== plannerModel);
  const providers = new Set(listed.map(({ provider }) => provider));
  const table = knownProviders.find(({ id }) => providers.has(id));
  return {
    models: listed.map((model) => describe(model, registry, begins)),
    otherProviders: knownProviders.filter(({ id }) => !providers.has(id)).length,
    date: table && readCatalog(table.id)?.date,
    providers: [...new Set([...registry.providers(), ...localProviders])].filter(
      (provider) => provider !== plannerModel.provider,
    ),
  };
}

function describe(model: ProviderModel, registry: ModelRegistry, begins: ProviderModel | undefined): ListedModel {
  const available = registry.hasCredential(model);
  const thinking = thinkingOf(model);
  const source = registry.keySource(model) ?? (localProviders.has(model.provider) ? "local" : "models.yml");
  return {
    wire: toWireModel(model),
    cost: model.cost,
    thinking: thinking && [...new Set([thinking.minLevel, thinking.maxLevel])].join("-"),
    available,
    ...(available ? { source } : { missing: registry.keyVariable(model) ?? "apiKey" }),
    isDefault: model === begins,
  };
}

// The models of one service, joined from where they are described: the built-in table, the user's models file, and what a
// running server reports. Pure: who asks decides when a table is read.

import type { Environment } from "../credentials.js";
import type { ProviderModel } from "../provider.js";
import type { KnownProvider } from "../provider-list.js";
import { type Headers, mergeCompat, mergeHeaders } from "./model-fields.js";
import type { ProviderEntry } from "./models-file.js";
import { mergePrices } from "./price-fields.js";

export interface KnownModel {
  readonly model: ProviderModel;
  /** Unresolved. */
  readonly headers: Headers;
}

/** An address that is not the service's own, and the variable that names it, if one does. */
export interface OtherAddress {
  readonly baseUrl: string;
  readonly baseUrlSource?: string;
}

export interface ServiceParts {
  readonly builtIns: readonly ProviderModel[];
  readonly entry: ProviderEntry | undefined;
  readonly discovered: readonly ProviderModel[];
  readonly address: OtherAddress | undefined;
}

/** Built-ins, changed by provider and model overrides; the file's own models replace; discovered ones only add. */
export function joinService({ builtIns, entry, discovered, address }: ServiceParts): ReadonlyMap<string, KnownModel> {
  const known = new Map(builtIns.map((model) => [model.id, override({ ...model, ...address }, entry)]));
  for (const own of entry?.models ?? []) known.set(own.model.id, own);
  for (const model of discovered) if (!known.has(model.id)) known.set(model.id, override(model, entry));
  return known;
}

/** The models file is galley's own, so it wins over the environment, which other programs read too. */
export function findAddress(
  known: KnownProvider | undefined,
  entry: ProviderEntry | undefined,
  env: Environment,
): OtherAddress | undefined {
  if (entry?.baseUrl !== undefined) return { baseUrl: entry.baseUrl };
  for (const name of known?.baseUrlNames ?? []) {
    const baseUrl = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
    if (baseUrl) return { baseUrl: baseUrl.replace(/\/+$/, ""), baseUrlSource: name };
  }
  return undefined;
}

/**
 * A model that the table does not have. At another host such models are usual; of the service itself one may be newer than the
 * table, which counts where the user asks for it (`isAsked`). Other servers rarely have OpenAI's newer API, and all have the
 * older one.
 */
export function unlistedModel(
  known: KnownProvider,
  id: string,
  { address, entry, isAsked }: Pick<ServiceParts, "address" | "entry"> & { isAsked: boolean },
): KnownModel | undefined {
  const isElsewhere = address !== undefined && hostOf(address.baseUrl) !== hostOf(known.baseUrl);
  if (!(isElsewhere || isAsked) || !/^[!-~]{1,200}$/.test(id)) return undefined;
  const isOpenAi = isElsewhere && known.api === "openai-responses";
  const model: ProviderModel = {
    id,
    name: id,
    api: isOpenAi ? "openai-completions" : known.api,
    provider: known.id,
    baseUrl: known.baseUrl,
    ...address,
    reasoning: false,
    input: ["text"],
    contextWindow: 128_000,
    maxTokens: 16_384,
    ...(isOpenAi && { compat: otherServer }),
  };
  return override(model, entry);
}

/** By its provider's name such a model would pass for one of OpenAI's, with what only OpenAI itself knows. */
const otherServer = { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" };

function override(model: ProviderModel, entry: ProviderEntry | undefined): KnownModel {
  if (entry === undefined) return { model, headers: {} };
  const patch = entry.modelOverrides.get(model.id);
  const compat = mergeCompat(mergeCompat(model.compat ?? {}, entry.compat), patch?.compat ?? {});
  const cost = mergePrices(model.cost, patch?.cost);
  return {
    model: {
      ...model,
      ...patch?.fields,
      api: entry.api ?? model.api,
      ...(cost && { cost }),
      ...(Object.keys(compat).length > 0 && { compat }),
    },
    headers: mergeHeaders(entry.headers, patch?.headers ?? {}),
  };
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

// The built-in model tables: one file for each service, beside the program and never part of it. A table is read when a
// model of its service is needed, so a start with one key reads one.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownLocation } from "../../base/own-location.js";
import { readConfigFile } from "../../files/config/config-files.js";
import type { ModelPrices, ProviderModel } from "../../provider/provider.js";
import { knownProvider } from "../../provider/provider-list.js";
import { isSupportedApi } from "../../provider/stream-by-api.js";

/** What scripts/generate-models.mjs writes, and scripts/check-models.mjs checks. */
export interface CatalogFile {
  /** Of the prices. */
  readonly date: string;
  readonly models: readonly CatalogRow[];
}

type CatalogRow = Pick<ProviderModel, "id" | "contextWindow" | "maxTokens"> &
  Partial<Pick<ProviderModel, "name" | "reasoning" | "thinking" | "input" | "compat">> & {
    readonly cost?: ModelPrices;
  };

/** Empty for a service without a table. */
export function catalogModels(provider: string): readonly ProviderModel[] {
  const known = knownProvider(provider);
  if (known === undefined || !isSupportedApi(known.api)) return [];
  const { api, baseUrl } = known;
  return (readCatalog(provider)?.models ?? []).map((row) => ({
    name: row.id,
    reasoning: false,
    input: ["text"],
    ...row,
    api,
    provider,
    baseUrl,
  }));
}

export function readCatalog(provider: string): CatalogFile | undefined {
  for (const directory of directories()) {
    const file = readConfigFile(join(directory, `${provider}.json`));
    if (file) return JSON.parse(file.text);
  }
  return undefined;
}

/** Seen from the built program and the chunks of the library; from the library itself; from the sources. */
function directories(): string[] {
  const own = ownLocation();
  const here = dirname(own.startsWith("file:") ? fileURLToPath(own) : own);
  return [join(here, "../catalog"), join(here, "catalog"), join(here, "../provider/catalog")];
}

// Overrides of a models file that name a model which its service does not have: they would have no effect in silence.

import type { ProviderModel } from "../provider.js";
import { localProviders } from "../provider-list.js";
import { step } from "./config-checks.js";
import type { ModelsFile } from "./models-file.js";

/** A warning for each. A server that is asked for its models may have any. */
export function unusedOverrides(file: ModelsFile, tableOf: (provider: string) => readonly ProviderModel[]): string[] {
  return [...file.providers.values()]
    .filter(({ id, discovery }) => !localProviders.has(id) && !discovery)
    .flatMap(({ id: provider, modelOverrides }) => {
      const names = new Set(tableOf(provider).map(({ id }) => id));
      return [...modelOverrides.keys()]
        .filter((id) => !names.has(id))
        .map((id) => step(step(step("providers", provider), "modelOverrides"), id))
        .map((path) => `${file.path}: ${path}: names no built-in model and is not used`);
    });
}

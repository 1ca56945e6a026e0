// What a session needs to know of models, whoever keeps the list.

import type { ProviderModel } from "../provider/provider.js";

export interface ModelSource {
  /** Models with a usable credential; asks nobody over the network. */
  available(): readonly ProviderModel[];
  find(provider: string, modelId: string): ProviderModel | undefined;
  hasCredential(model: ProviderModel): boolean;
  /** Asked when a request is made, since a key may come from a command. */
  apiKeyFor(model: ProviderModel): Promise<string | undefined>;
  headersFor(model: ProviderModel): Promise<Record<string, string>>;
}

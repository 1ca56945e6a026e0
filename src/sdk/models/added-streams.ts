// Requests to models that extensions bring go to the function that came with them, if one did.

import type { ModelRegistry } from "../../provider/models/model-registry.js";
import type { ProviderModel, StreamFunction } from "../../provider/provider.js";

/** To be asked over the API they name, whatever brought them. */
const plain = new WeakSet<ProviderModel>();

/** A model that is asked over this API of ours, as an extension's own function does it. */
export function overApi(model: ProviderModel, api: string): ProviderModel {
  const asked = { ...model, api };
  plain.add(asked);
  return asked;
}

export function streamWithAdded(stream: StreamFunction, { added }: Pick<ModelRegistry, "added">): StreamFunction {
  return (request) => {
    const own = plain.has(request.model) ? undefined : added.streamOf(request.model);
    return (own ?? stream)(request);
  };
}

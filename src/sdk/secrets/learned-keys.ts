// The keys and headers of models, masked from the moment they are known.

import { secretsOf } from "../../provider/mask-secrets.js";
import type { ModelRegistry } from "../../provider/models/model-registry.js";
import type { KeyAccess } from "../keys/stream-with-keys.js";
import type { KnownSecrets } from "./known-secrets.js";

export function learnedKeys(registry: ModelRegistry, secrets: KnownSecrets | undefined): KeyAccess {
  return {
    async apiKeyFor(model) {
      const apiKey = await registry.apiKeyFor(model);
      if (apiKey !== undefined) secrets?.learn(secretsOf(model.provider, { apiKey }));
      return apiKey;
    },
    async headersFor(model) {
      const headers = await registry.headersFor(model);
      secrets?.learn(secretsOf(model.provider, { headers }));
      return headers;
    },
    keySource: (...request) => registry.keySource(...request),
    forgetAnswers: (...request) => registry.forgetAnswers(...request),
  };
}

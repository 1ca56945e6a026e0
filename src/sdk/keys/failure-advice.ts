// What a failed request tells the user after the service's own words: which key was refused, and what to do now.

import type { ProviderFailure } from "../../protocol/messages.js";
import { loginCommand } from "../../provider/credentials.js";
import type { ProviderModel } from "../../provider/provider.js";
import { knownProvider } from "../../provider/provider-list.js";

/** What a request had that a service could take for a key. */
export interface SentKey {
  /** Where the key came from, if it is known. */
  readonly keySource: string | undefined;
  readonly hasKey: boolean;
  readonly hasHeaders: boolean;
}

/** Undefined where the service's words are enough. */
export function adviceFor(
  words: string,
  { kind, status, retryAfterMs }: ProviderFailure,
  sent: SentKey & { readonly model: ProviderModel },
): string | undefined {
  const { model } = sent;
  if (kind === "auth") return refusedText(model, sent);
  // One that names a time is asked again then.
  if (kind === "usage_limit" && retryAfterMs === undefined)
    return `${model.provider} reports that the quota is used up; this is not retried.`;
  // A server that has the address speaks of the model.
  if (status === 404 && model.api === "openai-responses" && isForeignHost(model) && !/\bmodel/i.test(words))
    return `This server has no /responses. Set  api: openai-completions  for ${model.provider} in models.yml`;
  return undefined;
}

function refusedText(
  { provider, baseUrl }: ProviderModel,
  { keySource, hasKey, hasHeaders }: SentKey,
): string | undefined {
  const login = loginCommand(provider);
  const origin = originOf(baseUrl);
  if (keySource !== undefined) {
    const mend =
      login === undefined ? `Check it; ${provider} is described in models.yml.` : `Check it, or run: ${login}`;
    return `The key from ${keySource} was refused by ${origin}. ${mend}`;
  }
  if (hasKey) return undefined; // the caller's own
  if (hasHeaders) return `${origin} refused the headers that models.yml has for ${provider}. Check them.`;
  return `No key is set for ${provider}. Set  apiKey  for it in models.yml${login === undefined ? "" : `, or run: ${login}`}`;
}

/** Not the vendor's own. */
function isForeignHost({ provider, baseUrl }: ProviderModel): boolean {
  const known = knownProvider(provider);
  return known === undefined || originOf(known.baseUrl) !== originOf(baseUrl);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

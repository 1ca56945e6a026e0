// What a failed request tells the user after the service's own words: which key was refused, and what to do now.

import type { ProviderFailure } from "../../protocol/messages.js";
import { loginCommand } from "../../provider/credentials.js";
import type { ProviderModel } from "../../provider/provider.js";
import { knownProviders } from "../../provider/provider-list.js";

/** Undefined where the service's words are enough. `keySource`: where the key came from, if it is known. */
export function adviceFor(
  words: string,
  { kind, status, retryAfterMs }: ProviderFailure,
  { model, keySource }: { model: ProviderModel; keySource: string | undefined },
): string | undefined {
  if (kind === "auth") return keySource === undefined ? undefined : refusedKeyText(model, keySource);
  // One that names a time is asked again then.
  if (kind === "usage_limit" && retryAfterMs === undefined)
    return `${model.provider} reports that the quota is used up; this is not retried.`;
  // A server that has the address speaks of the model.
  if (status === 404 && model.api === "openai-responses" && isForeignHost(model) && !/\bmodel/i.test(words))
    return `This server has no /responses. Set  api: openai-completions  for ${model.provider} in models.yml`;
  return undefined;
}

function refusedKeyText({ provider, baseUrl }: ProviderModel, source: string): string {
  const login = loginCommand(provider);
  const mend = login === undefined ? "Check it." : `Check it, or run: ${login}`;
  return `The key from ${source} was refused by ${originOf(baseUrl)}. ${mend}`;
}

/** Not the vendor's own. */
function isForeignHost({ provider, baseUrl }: ProviderModel): boolean {
  const known = knownProviders.find(({ id }) => id === provider);
  return known === undefined || originOf(known.baseUrl) !== originOf(baseUrl);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

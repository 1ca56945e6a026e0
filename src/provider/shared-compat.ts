// What every dialect reads of a model's `compat` in the same way. The model's own word wins over a dialect's guess.

import type { ProviderModel, StreamOptions, StreamRequest } from "./provider.js";

export function compatFlag({ compat }: ProviderModel, name: string, guess: boolean): boolean {
  const told = compat?.[name];
  return typeof told === "boolean" ? told : guess;
}

/** Guessed from the provider's name and its address. */
export function isService({ provider, baseUrl }: ProviderModel, name: string, ...hosts: readonly string[]): boolean {
  if (provider === name) return true;
  const host = /^[a-z]+:\/\/([^/:?#]+)/i.exec(baseUrl)?.[1]?.toLowerCase();
  return hosts.some((known) => host === known || host?.endsWith(`.${known}`));
}

/** For services that keep a conversation together by a header of their own. */
export function sessionHeaders({ model, options }: StreamRequest): Record<string, string> {
  const name = model.compat?.sessionHeader;
  return typeof name === "string" && options.sessionId ? { [name]: options.sessionId } : {};
}

/** Sampling options to send: none where the model takes none, which is told. */
export function samplingFor(
  { model, options }: StreamRequest,
  isSupported: boolean,
): Pick<StreamOptions, "temperature" | "sampling"> {
  const { temperature, sampling } = options;
  const wanted = { ...(temperature === undefined ? {} : { temperature }), ...(sampling ? { sampling } : {}) };
  if (isSupported) return wanted;
  const names = Object.keys({ ...(temperature === undefined ? {} : { temperature }), ...sampling });
  if (names.length > 0)
    options.onWarning?.(`${model.provider}/${model.id} takes no sampling options: ${names.join(", ")} not sent.`);
  return {};
}

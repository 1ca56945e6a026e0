// The secrets of a request. A service may repeat them in its error message, which goes into the session, the log and to
// the host.

import { createMask } from "../base/secret-mask.js";
import { minSecretLength, type Secret } from "../base/text-mask.js";
import type { StreamRequest } from "./provider.js";

const secretHeader = /key|token|secret|auth|cookie|pass|credential/i;

/** The key and the secret headers that a provider is sent. */
export function secretsOf(
  provider: string,
  { apiKey = "", headers = {} }: Pick<StreamRequest["options"], "apiKey" | "headers">,
): Secret[] {
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => (secretHeader.test(name) ? [value] : []));
  return [apiKey, ...ofHeaders.map((value) => value.replace(/^(?:bearer|basic) /i, ""))]
    .filter((value) => value.length >= minSecretLength && value !== provider) // some local servers take their name
    .map((value) => ({ value, name: provider }));
}

/** An excerpt without the request's secrets, or the beginning of one that was cut off. */
export function maskSecrets(text: string, { model, options }: Pick<StreamRequest, "model" | "options">): string {
  const secrets = secretsOf(model.provider, options);
  return secrets.length === 0 ? text : createMask(secrets).excerpt(text);
}

// A service may repeat a key in its error message, which goes into the session, the log and to the host. This removes the
// key.

import type { StreamRequest } from "./provider.js";

/** A shorter one would be found in the middle of words. */
const minLength = 8;
/** What is cut off within a key leaves its beginning. */
const minRest = 4;
const sensitiveHeader = /key|token|secret|auth|cookie/i;

/** The text with the request's keys, in the forms in which they may come back, replaced by the name of their provider. */
export function maskSecrets(text: string, { model, options }: Pick<StreamRequest, "model" | "options">): string {
  const headers = Object.entries(options.headers ?? {}).filter(([name]) => sensitiveHeader.test(name));
  const secrets = [options.apiKey ?? "", ...headers.map(([, value]) => value.replace(/^(?:bearer|basic) /i, ""))];
  const name = `[secret:${model.provider}]`;
  let masked = text;
  for (const secret of secrets.filter(({ length }) => length >= minLength))
    for (const form of formsOf(secret)) masked = withoutBeginning(masked.replaceAll(form, name), form, name);
  return masked;
}

function formsOf(secret: string): Set<string> {
  const base64 = Buffer.from(secret).toString("base64").replaceAll("=", "");
  return new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64]);
}

/** An excerpt may end within the key. */
function withoutBeginning(text: string, secret: string, name: string): string {
  const end = text.endsWith("…") ? text.length - 1 : text.length;
  for (let length = Math.min(secret.length - 1, end); length >= minRest; length--)
    if (text.startsWith(secret.slice(0, length), end - length))
      return text.slice(0, end - length) + name + text.slice(end);
  return text;
}

// The secrets that a session knows, as one mask for everything that leaves it: keys and secret headers as they come into
// use, and variables that are named like credentials. A secret that is learned later counts from then on. Without any
// the mask costs nothing.

import type { Log } from "../../base/log.js";
import { createMask } from "../../base/secret-mask.js";
import { type MaskStream, minSecretLength, noMask, type Secret, type TextMask } from "../../base/text-mask.js";
import { type Environment, findValue } from "../../provider/credentials.js";
import { secretsOf } from "../../provider/mask-secrets.js";
import type { ProviderEntry } from "../../provider/models/models-file.js";
import { knownProviders } from "../../provider/provider-list.js";

/** What a mask is not made for: a few thousand forms are quick, a million are not. */
const maxSecrets = 500;

export class KnownSecrets implements TextMask {
  readonly #names = new Map<string, string>();
  #made: TextMask | undefined = noMask;

  get isActive(): boolean {
    return this.#names.size > 0;
  }

  /** The first name of a value stays. */
  learn(secrets: Iterable<Secret>): void {
    for (const { value, name } of secrets) {
      const secret = value.trim();
      if (secret.length < minSecretLength || this.#names.has(secret) || this.#names.size >= maxSecrets) continue;
      this.#names.set(secret, name);
      this.#made = undefined;
    }
  }

  readonly mask = (text: string): string => this.#mask.mask(text);
  readonly excerpt = (text: string, minLength?: number): string => this.#mask.excerpt(text, minLength);
  readonly line = (json: string): string => this.#mask.line(json);
  readonly stream = (): MaskStream => this.#mask.stream();

  get #mask(): TextMask {
    this.#made ??= createMask([...this.#names].map(([value, name]) => ({ value, name })));
    return this.#made;
  }
}

/** Named after its provider where the variable is known to hold its key, else after the variable. */
export function secretsIn(env: Environment): Secret[] {
  return Object.entries(env).flatMap(([variable, value = ""]) => {
    if (!isCredentialName(variable) || !mayBeSecret(value.trim())) return [];
    const provider = knownProviders.find(({ keyNames }) => keyNames.includes(variable));
    return [{ value, name: provider?.id ?? variable }];
  });
}

/** An author is no authorization. */
function isCredentialName(name: string): boolean {
  return (
    /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!ORS?(?:_|$))/i.test(name) &&
    !/_(?:PATH|FILE|DIR|SOCK|URL|HOST|USER)$/i.test(name)
  );
}

/** Not a path, a number, a truth value, or a word that is found in other text. */
function mayBeSecret(value: string): boolean {
  if (value.length < minSecretLength) return false;
  const isPath = /^(?:~|\.{0,2})\/[^+=]*$|^[A-Za-z]:[\\/]/.test(value);
  const isNumber = /^[-+]?[\d.,_]+$/.test(value);
  const isWord = value.length < 16 && /^\p{L}+$/u.test(value); // true and false are shorter than a secret
  return !isPath && !isNumber && !isWord;
}

/** The keys of the credential file, and what the models file says by itself: a command has not answered yet. */
export function configuredSecrets(
  authFile: ReadonlyMap<string, string>,
  providers: Iterable<Pick<ProviderEntry, "id" | "apiKey" | "headers" | "models">>,
  env: Environment,
): Secret[] {
  const resolved = (text: string) => {
    const finding = findValue(text, env);
    return finding.kind === "value" ? finding.value : "";
  };
  const found = [...authFile].map(([name, value]): Secret => ({ value, name }));
  for (const { id, apiKey = "", headers, models } of providers)
    for (const all of [headers, ...models.map((model) => model.headers)]) {
      const values = Object.entries(all).map(([name, text]) => [name, resolved(text)]);
      found.push(...secretsOf(id, { apiKey: resolved(apiKey), headers: Object.fromEntries(values) }));
    }
  return found;
}

/** What a log is told may be what a program or a service said. */
export function maskedLog(log: Log, secrets: TextMask): Log {
  const { mask } = secrets;
  const { trace } = log;
  return {
    warn: (text) => log.warn(mask(text)),
    error: (text, cause) => log.error(mask(text), secrets.isActive ? maskedCause(cause, mask) : cause),
    ...(trace ? { trace: (level, text) => trace.call(log, level, mask(text)) } : {}),
  };
}

/** As a text, unless it holds nothing: a log shows the stack, and an error may carry more. */
function maskedCause(cause: unknown, mask: TextMask["mask"]): unknown {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : cause;
  return typeof text === "string" && mask(text) !== text ? mask(text) : cause;
}

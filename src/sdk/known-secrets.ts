// The secrets that a session knows, as one mask for everything that leaves it: keys and secret headers as they come into
// use, and variables that are named like credentials. A secret that is learned later counts from then on. Without any
// the mask costs nothing.

import { createMask } from "../base/secret-mask.js";
import { type MaskStream, minSecretLength, noMask, type Secret, type TextMask } from "../base/text-mask.js";
import type { Environment } from "../provider/credentials.js";
import { knownProviders } from "../provider/provider-list.js";

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
  return /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!ORS?(?:_|$))/i.test(name) && !/_(?:PATH|FILE|DIR|SOCK|URL|HOST|USER)$/i.test(name);
}

/** Not a path, a number, a truth value, or a word that is found in other text. */
function mayBeSecret(value: string): boolean {
  if (value.length < minSecretLength) return false;
  const isPath = /^(?:~|\.{0,2})\/[^+=]*$|^[A-Za-z]:[\\/]/.test(value);
  const isNumber = /^[-+]?[\d.,_]+$/.test(value);
  const isWord = value.length < 16 && /^\p{L}+$/u.test(value); // true and false are shorter than a secret
  return !isPath && !isNumber && !isWord;
}

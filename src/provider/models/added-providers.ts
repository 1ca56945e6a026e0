// Providers that extensions bring, described as in the models file. Promise: none of them gets a key that the user gave for
// something else, and none takes the place of a provider that the user has set up.

import { GalleyError } from "../../base/errors.js";
import { type CredentialSources, type Finding, findKey, findValue } from "../credentials.js";
import type { ProviderModel, StreamFunction } from "../provider.js";
import { knownProvider, localProviders } from "../provider-list.js";
import type { ModelsFile, ProviderEntry } from "./models-file.js";

export interface AddedProvider {
  readonly entry: ProviderEntry;
  /** How it is asked, where not over one of our APIs. */
  readonly stream?: StreamFunction | undefined;
}

export interface AddedProvidersDeps {
  readonly file: ModelsFile;
  readonly sources: CredentialSources;
  /** The models of a provider are others now. */
  onChange(provider: string): void;
}

export class AddedProviders {
  readonly #deps: AddedProvidersDeps;
  readonly #added = new Map<string, AddedProvider>();

  constructor(deps: AddedProvidersDeps) {
    this.#deps = deps;
  }

  get ids(): readonly string[] {
    return [...this.#added.keys()];
  }

  /** Throws `invalid_argument` for a provider that the user has set up. The same again replaces what was said before. */
  add(added: AddedProvider): void {
    const { id } = added.entry;
    const where = this.#whereSetUp(id);
    if (where !== undefined)
      throw new GalleyError(
        "invalid_argument",
        `The provider ${id} is set up by the user (${where}), and that counts.`,
      );
    this.#added.set(id, added);
    this.#deps.onChange(id);
  }

  remove(id: string): void {
    if (this.#added.delete(id)) this.#deps.onChange(id);
  }

  entryOf(id: string): ProviderEntry | undefined {
    return this.#added.get(id)?.entry;
  }

  /** Its models come in place of those of our table. */
  replacesTable(id: string): boolean {
    return (this.entryOf(id)?.models.length ?? 0) > 0;
  }

  streamOf({ provider }: Pick<ProviderModel, "provider">): StreamFunction | undefined {
    return this.#added.get(provider)?.stream;
  }

  /** The key as the extension says it; undefined where keys that the user stores under this name are meant as well. */
  ownKey(id: string): Finding | undefined {
    const entry = this.entryOf(id);
    if (!entry || !isKnown(id)) return undefined;
    return entry.apiKey === undefined ? { kind: "missing" } : findValue(entry.apiKey, this.#deps.sources.env);
  }

  /** By a description in the models file, or by a key where galley knows the service. */
  #whereSetUp(id: string): string | undefined {
    const { file, sources } = this.#deps;
    const isDescribed = file.providers.has(id) || file.problems.some(({ about }) => isAbout(about, id));
    if (isDescribed) return file.path;
    const found = isKnown(id) ? findKey(sources, id, undefined) : undefined;
    return found && found.kind !== "missing" ? found.source : undefined;
  }
}

function isKnown(id: string): boolean {
  return knownProvider(id) !== undefined || localProviders.has(id);
}

function isAbout(about: ModelsFile["problems"][number]["about"], id: string): boolean {
  return about.kind === "provider" && about.provider === id;
}

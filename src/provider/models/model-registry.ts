// Every model galley knows, which of them can be used now, and what a request to one needs. Listing and selecting
// touch no network and run no command; only `apiKeyFor` and `headersFor` may.

import { GalleyError, messageOf } from "../../base/errors.js";
import { remember } from "../../base/remember.js";
import type { Model } from "../../protocol/model.js";
import {
  type CommandAnswers,
  type CredentialSources,
  type Finding,
  findKey,
  findValue,
  forgetRefused,
  rememberCommands,
  requiredVariable,
  resolveValue,
} from "../credentials.js";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel, StreamOptions } from "../provider.js";
import { knownProvider, knownProviders, localProviders, usualKeyName } from "../provider-list.js";
import { splitLevel } from "../thinking-levels.js";
import { AddedProviders } from "./added-providers.js";
import { isLoopbackUrl } from "./config-checks.js";
import { mergeHeaders } from "./model-fields.js";
import type { ModelProblem, ModelsFile, ProviderEntry } from "./models-file.js";
import { isMisspelt, nearestModels, type Selection, selectExactly, selectModel, selectModels } from "./select-model.js";
import { findAddress, joinService, type KnownModel, unlistedModel } from "./service-models.js";
import { unusedOverrides } from "./unused-overrides.js";

export interface RegistryDeps {
  readonly sources: CredentialSources;
  readonly file: ModelsFile;
  /** The table of one service that galley knows; asked once, when its models are needed. */
  readonly builtIns?: (provider: string) => readonly ProviderModel[];
  readonly disabledProviders?: readonly string[];
  /** Reads the credential file again: the user may have stored a key meanwhile. */
  readonly reloadKeys?: () => Promise<void>;
}

/** A model as the command line names it. */
export interface RequestedModel {
  readonly provider?: string;
  readonly model?: string;
}

/** Enough of a model to know it by. */
export type ModelKey = Pick<Model, "provider" | "id">;

export class ModelRegistry {
  readonly problems: readonly ModelProblem[];
  readonly warnings: readonly string[];
  readonly reloadKeys: () => Promise<void>;
  /** The models file names a service, with models or without. */
  readonly hasProviders: boolean;
  readonly added: AddedProviders;
  readonly #file: ModelsFile;
  readonly #builtIns: NonNullable<RegistryDeps["builtIns"]>;
  readonly #disabled: readonly string[];
  readonly #runtimeKeys: Map<string, string>;
  readonly #sources: CredentialSources;
  readonly #commands: CommandAnswers;
  readonly #discovered = new Map<string, ProviderModel>();
  /** By provider, once their models were needed. */
  readonly #services = new Map<string, ReadonlyMap<string, KnownModel>>();

  constructor({
    sources,
    file,
    builtIns = () => [],
    disabledProviders = [],
    reloadKeys = async () => {},
  }: RegistryDeps) {
    this.#runtimeKeys = new Map(sources.runtimeKeys);
    this.#commands = rememberCommands(sources.runCommand, sources.forgetAnswer);
    this.#sources = { ...sources, runtimeKeys: this.#runtimeKeys, runCommand: this.#commands.run };
    this.#file = file;
    this.#builtIns = remember(builtIns);
    this.#disabled = disabledProviders;
    this.added = new AddedProviders({ file, sources: this.#sources, onChange: (id) => this.#services.delete(id) });
    this.problems = file.problems;
    this.reloadKeys = reloadKeys;
    this.hasProviders = file.providers.size > 0;
    this.warnings = [...file.warnings, ...unusedOverrides(file, (provider) => this.#tableOf(provider))];
  }

  /**
   * What the user has or names: of services with a credential, of the models file, of servers that were found. In the
   * order of preference: known services, then as the file lists them, then what was found, the planner last.
   */
  all(): ProviderModel[] {
    return this.#modelsOf(this.providers().filter((provider) => this.#isListed(provider)));
  }

  /** `all`, and every model of the services without a key. */
  allKnown(): ProviderModel[] {
    return this.#modelsOf(this.providers());
  }

  /** Those with a credential; the planner only when there is no other. */
  available(): ProviderModel[] {
    const usable = this.all().filter((model) => this.hasCredential(model));
    const others = usable.filter((model) => model !== plannerModel);
    return others.length > 0 ? others : usable;
  }

  /**
   * For a session that names no model: the usual one of the first service that can be used, the planner when there is
   * none. Services whose models the user has listed come first: a key in the environment may be meant for other programs,
   * and prompts must not go past a gateway that was set up. A service whose description is broken does not count: its
   * requests might go to the wrong host.
   */
  usual(): ProviderModel | undefined {
    const all = this.providers();
    const own = all.filter((provider) => (this.#file.providers.get(provider)?.models.length ?? 0) > 0);
    for (const provider of new Set([...own, ...all])) {
      const model = this.#isListed(provider) ? this.#usualOf(provider) : undefined;
      if (!model || model === plannerModel || !this.hasCredential(model)) continue;
      if (!this.#isMisdescribed(provider)) return model;
    }
    return this.find(plannerModel.provider, plannerModel.id);
  }

  /** The model for small work beside the conversation, of the same service; undefined where none is known. */
  smallOf(provider: string): ProviderModel | undefined {
    const small = knownProvider(provider)?.small;
    return small === undefined ? undefined : this.#service(provider).get(small)?.model;
  }

  /** Every service that is known, with a key or without, in the order of preference. */
  providers(): string[] {
    const known = knownProviders.map(({ id }) => id);
    const found = [...this.#discovered.values()].map(({ provider }) => provider);
    const all = new Set([...known, ...this.#file.providers.keys(), ...this.added.ids, ...found, plannerModel.provider]);
    return [...all].filter((provider) => !this.#disabled.includes(provider));
  }

  find(provider: string, id: string): ProviderModel | undefined {
    return this.#known({ provider, id })?.model;
  }

  /** The model that a pattern means, among those of one provider if it is given. Reads no more tables than it needs. */
  select(pattern: string, provider?: string): Selection | undefined {
    const among = (models: ProviderModel[], name = pattern) =>
      selectModel(models, name, (model) => this.hasCredential(model));
    const newer = (service: string, name: string) => this.#unlisted(service, name, true);
    if (provider !== undefined) {
      const own = this.#modelsOf([provider]);
      return selectExactly(own, pattern) ?? this.#unlisted(provider, pattern) ?? among(own) ?? newer(provider, pattern);
    }
    const slash = pattern.indexOf("/");
    const [named, rest] = [pattern.slice(0, Math.max(slash, 0)), pattern.slice(slash + 1)];
    const own = this.providers().includes(named) ? this.#modelsOf([named]) : [];
    return (
      selectExactly(own, pattern) ??
      this.#unlisted(named, rest) ??
      this.#selectService(pattern) ??
      among(this.all()) ??
      among(own, rest) ??
      among(this.allKnown()) ??
      newer(named, rest)
    );
  }

  /** The name of a service means its usual model: routers have models whose names hold it. */
  #selectService(pattern: string): Selection | undefined {
    const { name, level } = splitLevel(pattern) ?? { name: pattern };
    const model = this.providers().includes(name) ? this.#usualOf(name) : undefined;
    return model && { model, ...(level === undefined ? {} : { thinkingLevel: level }) };
  }

  /** Every model that a pattern of a list means. */
  selectAll(pattern: string): Selection[] {
    if (/[*?]/.test(pattern)) return selectModels(this.all(), pattern, (model) => this.hasCredential(model));
    return [this.select(pattern)].filter((found) => found !== undefined);
  }

  /** Names like one that means nothing, the nearest first. */
  suggest(name: string): string[] {
    return nearestModels(this.allKnown(), name).map(keyOf);
  }

  /** What the command line asks for; a provider alone means its usual model. */
  selectRequested({ provider, model }: RequestedModel): Selection | undefined {
    if (model !== undefined) return this.select(model, provider);
    return provider === undefined ? undefined : this.#selectService(provider);
  }

  /** Models that servers report. They join what is described already, and replace what was found before. */
  addDiscovered(models: readonly ProviderModel[]): void {
    for (const model of models) {
      this.#discovered.set(keyOf(model), model);
      this.#services.delete(model.provider);
    }
  }

  /** What the models file says about the providers that may be used. */
  described(): ProviderEntry[] {
    return [...this.#file.providers.values()].filter(({ id }) => this.isEnabled(id));
  }

  isEnabled(provider: string): boolean {
    return !this.#disabled.includes(provider);
  }

  /** A command counts as a credential without being run. */
  hasCredential(model: ModelKey): boolean {
    return this.#isKeyless(model) || this.#hasKey(model.provider);
  }

  /** The variable that would hold its key; undefined where none is known. */
  keyVariable(model: ModelKey): string | undefined {
    const configured = this.#entryOf(model.provider)?.apiKey ?? "";
    return requiredVariable(configured) ?? usualKeyName(model.provider);
  }

  /** Where its key was found, for people; undefined where there is none, and where a request `used` another one. */
  keySource({ provider }: ModelKey, used?: string): string | undefined {
    const found = this.#findKey(provider);
    if (found.kind === "missing") return undefined;
    const isOurs =
      used === undefined || (found.kind === "value" ? found.value === used : this.#commands.gave(found.command, used));
    return isOurs ? found.source : undefined;
  }

  /**
   * What the API's own header carries: `undefined` for a keyless model, where there is no credential, and where the key
   * is in `headersFor`. Throws `no_credential` if a command fails.
   */
  async apiKeyFor(model: ModelKey): Promise<string | undefined> {
    return this.#keyHeader(model.provider) ? undefined : this.#key(model.provider);
  }

  /** The configured request headers, resolved. One whose variable is unset is left out. Throws as `apiKeyFor`. */
  async headersFor(model: ModelKey): Promise<Record<string, string>> {
    const { headers = {} } = this.#known(model) ?? {};
    const resolved: Record<string, string> = {};
    for (const [name, text] of Object.entries(headers)) {
      const problem = `No value found for the header ${name} of ${model.provider}.`;
      const value = await this.#value(findValue(text, this.#sources.env), problem);
      if (value !== undefined) resolved[name] = value;
    }
    const keyHeader = this.#keyHeader(model.provider);
    const key = keyHeader && (await this.#key(model.provider));
    if (keyHeader === undefined || key === undefined) return resolved;
    return { ...mergeHeaders({ [keyHeader.name]: keyHeader.isBearer ? `Bearer ${key}` : key }, resolved) };
  }

  /**
   * A service refused this request: forgets the answers of commands in it, so that the next request runs them again.
   * Another request may have done so already. False: nothing in it is the answer of a command.
   */
  forgetAnswers(model: ModelKey, request: Pick<StreamOptions, "apiKey" | "headers">): boolean {
    const texts = Object.values(this.#known(model)?.headers ?? {});
    const findings = [this.#findKey(model.provider), ...texts.map((text) => findValue(text, this.#sources.env))];
    return forgetRefused(this.#commands, findings, request);
  }

  /** A key for this run only; it wins over all others. */
  setRuntimeApiKey(provider: string, key: string): void {
    this.#runtimeKeys.set(provider, key);
  }

  /** The problems on which a requested model depends, or may depend: with any of these, starting would mislead. */
  problemsConcerning(requested: RequestedModel): ModelProblem[] {
    const found = this.selectRequested(requested)?.model;
    const isNamed = requested.provider !== undefined || requested.model !== undefined;
    if (!isNamed || found === plannerModel) return [];
    const provider = found?.provider ?? requested.provider;
    return this.problems.filter(({ about }) => {
      if (about.kind === "file") return true;
      if (provider !== undefined && about.provider !== provider) return false;
      return found === undefined || about.kind === "provider" || about.id === found.id;
    });
  }

  /** The others are looked at only when they are named. */
  #isListed(provider: string): boolean {
    return knownProvider(provider) === undefined || this.#entryOf(provider) !== undefined || this.#hasKey(provider);
  }

  #modelsOf(providers: readonly string[]): ProviderModel[] {
    return providers.flatMap((provider) => [...this.#service(provider).values()].map(({ model }) => model));
  }

  #service(provider: string): ReadonlyMap<string, KnownModel> {
    const before = this.#services.get(provider);
    if (before) return before;
    const service = this.#disabled.includes(provider) ? new Map() : this.#join(provider);
    this.#services.set(provider, service);
    return service;
  }

  #join(provider: string): ReadonlyMap<string, KnownModel> {
    if (provider === plannerModel.provider) return new Map([[plannerModel.id, { model: plannerModel, headers: {} }]]);
    const known = knownProvider(provider);
    const entry = this.#entryOf(provider);
    return joinService({
      builtIns: this.added.replacesTable(provider) ? [] : this.#tableOf(provider),
      entry,
      discovered: [...this.#discovered.values()].filter((model) => model.provider === provider),
      address: findAddress(known, entry, this.#sources.env),
    });
  }

  #tableOf(provider: string): readonly ProviderModel[] {
    return knownProvider(provider) ? this.#builtIns(provider) : [];
  }

  #known({ provider, id }: ModelKey): KnownModel | undefined {
    return this.#service(provider).get(id) ?? this.#unlistedModel(provider, id);
  }

  #unlistedModel(provider: string, id: string, isAsked = false): KnownModel | undefined {
    const known = this.#disabled.includes(provider) ? undefined : knownProvider(provider);
    if (known === undefined || this.added.replacesTable(provider)) return undefined;
    const entry = this.#entryOf(provider);
    return unlistedModel(known, id, { entry, address: findAddress(known, entry, this.#sources.env), isAsked });
  }

  /** Of a service that galley knows, and not in its table: it may be newer. */
  isUnlisted({ provider, id }: ModelKey): boolean {
    return this.#tableOf(provider).length > 0 && !this.#service(provider).has(id);
  }

  /** It is none of the service's models, and almost one. */
  isMisspelt({ provider, id }: ModelKey): boolean {
    return isMisspelt(id, [...this.#service(provider).keys()]);
  }

  /** What the table does not have is taken for newer, unless it looks like a misspelt name of the table. */
  #unlisted(provider: string, name: string, isAsked = false): Selection | undefined {
    const { name: id, level } = splitLevel(name) ?? { name };
    const model = this.#unlistedModel(provider, id, isAsked)?.model;
    if (model && this.isMisspelt({ provider, id })) return undefined;
    return model && { model, ...(level === undefined ? {} : { thinkingLevel: level }) };
  }

  #usualOf(provider: string): ProviderModel | undefined {
    const models = this.#service(provider);
    const usual = knownProvider(provider)?.defaults?.find((id) => models.has(id));
    const first = usual === undefined ? [...models.values()] : [models.get(usual)];
    return first.find((known) => known && this.hasCredential(known.model))?.model ?? first[0]?.model;
  }

  /** What the file says about a service cannot be read: where its requests are to go is not known. */
  #isMisdescribed(provider: string): boolean {
    return this.problems.some(
      ({ about }) => about.kind === "file" || (about.kind === "provider" && about.provider === provider),
    );
  }

  #isKeyless({ provider, id }: ModelKey): boolean {
    if (provider === plannerModel.provider) return !this.#disabled.includes(provider);
    const entry = this.#entryOf(provider);
    if (entry?.isKeyless) return true;
    const isLocal = localProviders.has(provider) || entry?.discovery !== undefined;
    return isLocal && isLoopbackUrl(this.#service(provider).get(id)?.model.baseUrl ?? "");
  }

  #hasKey(provider: string): boolean {
    return this.#findKey(provider).kind !== "missing";
  }

  /** Where the key goes if not into the API's own header: one header carries it, never two. */
  #keyHeader(provider: string): ProviderEntry["keyHeader"] {
    const { keyHeader } = this.#entryOf(provider) ?? {};
    if (keyHeader) return keyHeader;
    const found = this.#findKey(provider);
    const { bearerNames = [] } = knownProvider(provider) ?? {};
    const isBearer = found.kind === "value" && bearerNames.includes(found.source ?? "");
    return isBearer ? { name: "Authorization", isBearer } : undefined;
  }

  #key(provider: string): Promise<string | undefined> {
    return this.#value(this.#findKey(provider), `No API key found for ${provider}.`);
  }

  #findKey(provider: string): Finding {
    const entry = this.#entryOf(provider);
    if (provider === plannerModel.provider || entry?.isKeyless) return { kind: "missing" };
    return this.added.ownKey(provider) ?? findKey(this.#sources, provider, entry?.apiKey);
  }

  #entryOf(provider: string): ProviderEntry | undefined {
    return this.#file.providers.get(provider) ?? this.added.entryOf(provider);
  }

  async #value(finding: Finding, problem: string): Promise<string | undefined> {
    try {
      return await resolveValue(finding, this.#sources.runCommand);
    } catch (error) {
      throw new GalleyError("no_credential", `${problem} ${messageOf(error)}`, { cause: error });
    }
  }
}

/** A provider id holds no slash, so this is unique. */
function keyOf({ provider, id }: ModelKey): string {
  return `${provider}/${id}`;
}

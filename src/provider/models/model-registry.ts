// Every model galley knows, which of them can be used now, and what a request to one needs. Listing and selecting
// touch no network and run no command; only `apiKeyFor` and `headersFor` may.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { Model } from "../../protocol/model.js";
import {
  type CommandAnswers,
  type CredentialSources,
  type Finding,
  findKey,
  findValue,
  rememberCommands,
  requiredVariable,
  resolveValue,
  usualKeyName,
} from "../credentials.js";
import { plannerModel } from "../planner/planner-model.js";
import type { ProviderModel, StreamOptions } from "../provider.js";
import { localProviders } from "../provider-list.js";
import { isLoopbackUrl, step } from "./config-checks.js";
import { type Headers, mergeCompat, mergeHeaders } from "./model-fields.js";
import type { ModelProblem, ModelsFile, ProviderEntry } from "./models-file.js";
import { type Selection, selectModel, selectModels } from "./select-model.js";

export interface RegistryDeps {
  readonly sources: CredentialSources;
  readonly file: ModelsFile;
  readonly builtIns?: readonly ProviderModel[];
  readonly disabledProviders?: readonly string[];
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
  readonly #known: ReadonlyMap<string, KnownModel>;
  readonly #runtimeKeys: Map<string, string>;
  /** The models file names a service, with models or without. */
  readonly hasProviders: boolean;
  readonly #sources: CredentialSources;
  readonly #commands: CommandAnswers;

  constructor({ sources, file, builtIns = [], disabledProviders = [] }: RegistryDeps) {
    this.#runtimeKeys = new Map(sources.runtimeKeys);
    this.#commands = rememberCommands(sources.runCommand);
    this.#sources = { ...sources, runtimeKeys: this.#runtimeKeys, runCommand: this.#commands.run };
    this.problems = file.problems;
    this.hasProviders = file.providers.size > 0;
    this.warnings = [...file.warnings, ...unusedOverrides(builtIns, file)];
    this.#known = new Map(
      merge(builtIns, file)
        .filter(({ model }) => !disabledProviders.includes(model.provider))
        .map((known) => [keyOf(known.model), known]),
    );
  }

  /** In the order of preference: built-in, then as the file lists them, the planner last. */
  all(): ProviderModel[] {
    return [...this.#known.values()].map(({ model }) => model);
  }

  /** Those with a credential; the planner only when there is no other. */
  available(): ProviderModel[] {
    const usable = this.all().filter((model) => this.hasCredential(model));
    const others = usable.filter((model) => model !== plannerModel);
    return others.length > 0 ? others : usable;
  }

  find(provider: string, id: string): ProviderModel | undefined {
    return this.#known.get(keyOf({ provider, id }))?.model;
  }

  /** The model that a pattern means, among those of one provider if it is given. */
  select(pattern: string, provider?: string): Selection | undefined {
    return selectModel(this.#ofProvider(provider), pattern, (model) => this.hasCredential(model));
  }

  /** Every model that a pattern of a list means. */
  selectAll(pattern: string): Selection[] {
    return selectModels(this.all(), pattern, (model) => this.hasCredential(model));
  }

  /** What the command line asks for; a provider alone means its first model. */
  selectRequested({ provider, model }: RequestedModel): Selection | undefined {
    if (model !== undefined) return this.select(model, provider);
    const first = provider === undefined ? undefined : this.#ofProvider(provider)[0];
    return first && { model: first };
  }

  /** A command counts as a credential without being run. */
  hasCredential(model: ModelKey): boolean {
    return this.#isKeyless(model) || this.#findKey(model).kind !== "missing";
  }

  /** The variable that would hold its key; undefined where none is known. */
  keyVariable(model: ModelKey): string | undefined {
    const configured = this.#known.get(keyOf(model))?.entry?.apiKey ?? "";
    return requiredVariable(configured) ?? usualKeyName(model.provider);
  }

  /** `undefined` for a keyless model and where there is no credential. Throws `no_credential` if a command fails. */
  async apiKeyFor(model: ModelKey): Promise<string | undefined> {
    return this.#value(this.#findKey(model), `No API key found for ${model.provider}.`);
  }

  /** The configured request headers, resolved. One whose variable is unset is left out. Throws as `apiKeyFor`. */
  async headersFor(model: ModelKey): Promise<Record<string, string>> {
    const { headers = {}, entry } = this.#known.get(keyOf(model)) ?? {};
    const resolved: Record<string, string> = {};
    for (const [name, text] of Object.entries(headers)) {
      const problem = `No value found for the header ${name} of ${model.provider}.`;
      const value = await this.#value(findValue(text, this.#sources.env), problem);
      if (value !== undefined) resolved[name] = value;
    }
    const key = entry?.sendsBearer ? await this.apiKeyFor(model) : undefined;
    return key === undefined ? resolved : { ...mergeHeaders({ Authorization: `Bearer ${key}` }, resolved) };
  }

  /** Where the key of a request came from, for people; undefined if it is none of ours. */
  keySourceFor(model: ModelKey, used: string | undefined): string | undefined {
    const found = this.#findKey(model);
    if (found.kind === "missing") return undefined;
    const isOurs =
      used === undefined || (found.kind === "value" ? found.value === used : this.#commands.gave(found.command, used));
    return isOurs ? found.source : undefined;
  }

  /**
   * A service refused this request: forgets the answers of commands in it, so that the next request runs them again.
   * Another request may have done so already. False: nothing in it is the answer of a command.
   */
  forgetAnswers(model: ModelKey, { apiKey, headers = {} }: Pick<StreamOptions, "apiKey" | "headers">): boolean {
    const sent = [apiKey ?? "", ...Object.values(headers).flatMap((value) => [value, value.replace(/^bearer /i, "")])];
    const texts = Object.values(this.#known.get(keyOf(model))?.headers ?? {});
    const findings = [this.#findKey(model), ...texts.map((text) => findValue(text, this.#sources.env))];
    const refused = findings.flatMap((finding) =>
      finding.kind === "command" ? sent.map((answer) => ({ command: finding.command, answer })) : [],
    );
    const answers = refused.filter(({ command, answer }) => this.#commands.gave(command, answer));
    for (const { command, answer } of answers) {
      this.#commands.forget(command, answer);
      this.#sources.forgetAnswer?.(command, answer);
    }
    return answers.length > 0;
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

  #ofProvider(provider: string | undefined): ProviderModel[] {
    return this.all().filter((model) => provider === undefined || model.provider === provider);
  }

  #isKeyless(key: ModelKey): boolean {
    const { model, entry } = this.#known.get(keyOf(key)) ?? {};
    if (model === undefined) return false;
    if (model === plannerModel || entry?.isKeyless) return true;
    return localProviders.has(model.provider) && isLoopbackUrl(model.baseUrl);
  }

  #findKey(key: ModelKey): Finding {
    const { model, entry } = this.#known.get(keyOf(key)) ?? {};
    if (model === plannerModel || entry?.isKeyless) return { kind: "missing" };
    return findKey(this.#sources, key.provider, entry?.apiKey);
  }

  async #value(finding: Finding, problem: string): Promise<string | undefined> {
    try {
      return await resolveValue(finding, this.#sources.runCommand);
    } catch (error) {
      throw new GalleyError("no_credential", `${problem} ${messageOf(error)}`, { cause: error });
    }
  }
}

/** The model as a host may see it, copied field by field: headers and extra request bodies can hold secrets. */
export function toWireModel(model: ProviderModel): Model {
  const { thinking, premiumMultiplier, preferWebsockets, contextPromotionTarget, priority } = model;
  const { extraBody: _secret, ...compat } = model.compat ?? {};
  return {
    id: model.id,
    name: model.name,
    api: model.api,
    provider: model.provider,
    baseUrl: model.baseUrl,
    reasoning: model.reasoning,
    input: [...model.input],
    cost: wireCost(model.cost),
    contextWindow: model.contextWindow,
    maxTokens: model.maxTokens,
    ...(thinking && { thinking: wireThinking(thinking) }),
    ...(premiumMultiplier !== undefined && { premiumMultiplier }),
    ...(preferWebsockets !== undefined && { preferWebsockets }),
    ...(contextPromotionTarget !== undefined && { contextPromotionTarget }),
    ...(priority !== undefined && { priority }),
    ...(model.compat && { compat }),
  };
}

/** An unknown price is 0 here: the shape has no other word for it. */
function wireCost({ input, output, cacheRead, cacheWrite }: Model["cost"] = noCost): Model["cost"] {
  return { input, output, cacheRead, cacheWrite };
}

const noCost: Model["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function wireThinking({ minLevel, maxLevel, mode }: NonNullable<Model["thinking"]>): NonNullable<Model["thinking"]> {
  return { minLevel, maxLevel, mode };
}

interface KnownModel {
  readonly model: ProviderModel;
  /** Unresolved. */
  readonly headers: Headers;
  readonly entry?: ProviderEntry;
}

/** A provider id holds no slash, so this is unique. */
function keyOf({ provider, id }: ModelKey): string {
  return `${provider}/${id}`;
}

/** Built-ins, changed by provider and model overrides; then the file's own models, which replace; then the planner. */
function merge(builtIns: readonly ProviderModel[], file: ModelsFile): KnownModel[] {
  const known = new Map(builtIns.map((model) => [keyOf(model), override(model, file.providers.get(model.provider))]));
  for (const entry of file.providers.values())
    for (const { model, headers } of entry.models) known.set(keyOf(model), { model, headers, entry });
  return [...known.values(), { model: plannerModel, headers: {} }];
}

function override(model: ProviderModel, entry: ProviderEntry | undefined): KnownModel {
  if (entry === undefined) return { model, headers: {} };
  const patch = entry.modelOverrides.get(model.id);
  const compat = mergeCompat(mergeCompat(model.compat ?? {}, entry.compat), patch?.compat ?? {});
  return {
    model: {
      ...model,
      ...patch?.fields,
      baseUrl: entry.baseUrl ?? model.baseUrl,
      ...((model.cost || patch?.cost) && { cost: { ...noCost, ...model.cost, ...patch?.cost } }),
      ...(Object.keys(compat).length > 0 && { compat }),
    },
    headers: mergeHeaders(entry.headers, patch?.headers ?? {}),
    entry,
  };
}

function unusedOverrides(builtIns: readonly ProviderModel[], file: ModelsFile): string[] {
  const names = new Set(builtIns.map(keyOf));
  return [...file.providers.values()].flatMap((entry) =>
    [...entry.modelOverrides.keys()]
      .filter((id) => !names.has(keyOf({ provider: entry.id, id })))
      .map((id) => step(step(step("providers", entry.id), "modelOverrides"), id))
      .map((path) => `${file.path}: ${path}: names no built-in model and is not used`),
  );
}

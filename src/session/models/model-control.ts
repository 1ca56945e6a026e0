// Which model a session talks to and how hard it thinks. Changes are recorded, apply from the next run on, and belong
// to the session: no settings file is changed.

import { GalleyError } from "../../base/errors.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import {
  capabilitiesOf,
  levelNamed,
  type ProviderModel,
  type StreamOptions,
  splitLevel,
} from "../../provider/provider.js";
import type { SessionRecord } from "../../record/record.js";
import type { AgentSessionDeps } from "../agent-session-deps.js";
import type { Summarizer } from "../compaction/summarize.js";
import type { ModelSelection } from "../session-extensions.js";
import type { ModelChoice } from "./model-source.js";
import { availableLevels, clampLevel, nextLevel } from "./thinking.js";

export type { ModelChoice };

export interface ModelControlDeps
  extends Pick<AgentSessionDeps, "models" | "model" | "thinkingLevel" | "usualThinkingLevel" | "named"> {
  record(): SessionRecord;
  sessionId(): string;
  /** Why a model cannot be used although it is available. */
  problemWith(model: ProviderModel): GalleyError | undefined;
  /** Another model or level was chosen. */
  onSelected?(selected: ModelSelection): void;
}

export interface CycledModel extends ModelChoice {
  /** From the scope that was named, not from all that is available. */
  readonly isScoped: boolean;
}

export class ModelControl {
  readonly #deps: ModelControlDeps;
  #model: ProviderModel | undefined;
  /** What was asked for; each model is given the nearest that it has. */
  #requestedLevel: ThinkingLevel | undefined;
  #level: ThinkingLevel | undefined;
  #standIn: ModelChoice | undefined;
  #choices = 0;
  /** By the command line, the record or a command; else it is only what was there. */
  #isChosen: boolean;
  /** The record of the start, while it may not say what the session began with. */
  #untold: SessionRecord | undefined;

  constructor(deps: ModelControlDeps) {
    this.#deps = deps;
    this.#model = deps.model;
    this.#requestedLevel = deps.thinkingLevel;
    this.#level = deps.model && clampLevel(deps.model, this.#requestedLevel);
    this.#isChosen = deps.named?.model ?? false;
    const record = deps.record();
    if (deps.named?.model || deps.named?.level || record.context.path.length === 0) this.#untold = record;
  }

  get model(): ProviderModel | undefined {
    return this.#model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.#level;
  }

  /** The model that is asked: the session's own, or its stand-in. */
  get active(): ProviderModel | undefined {
    return this.#standIn?.model ?? this.#model;
  }

  get activeThinkingLevel(): ThinkingLevel | undefined {
    return this.active && clampLevel(this.active, this.#standIn?.thinkingLevel ?? this.#level);
  }

  /** Grows whenever the session's own model is chosen, be it the same one. */
  get choices(): number {
    return this.#choices;
  }

  /** For other work than the conversation. */
  get roles(): ReadonlyMap<string, ModelChoice> {
    return this.#deps.models.roles ?? new Map();
  }

  /** Until the next choice; undefined ends it. Its replies must not pass for the user's choice, so that is on record. */
  standIn(choice: ModelChoice | undefined): void {
    this.#standIn = choice;
    if (choice && !this.#deps.record().context.isModelChosen) this.record();
  }

  /** What `provider/id[:level]` means, if it can be used. */
  choiceOf(name: string): ModelChoice | undefined {
    const model = this.#find(name);
    if (model) return { model };
    const split = splitLevel(name);
    const stripped = split && this.#find(split.name);
    return stripped && { model: stripped, thinkingLevel: split.level };
  }

  available(): readonly ProviderModel[] {
    return this.#deps.models.available();
  }

  set(provider: string, modelId: string): ProviderModel {
    const model = this.#deps.models.find(provider, modelId);
    if (!model) throw new GalleyError("model_not_found", `Model not found: ${provider}/${modelId}`);
    if (!this.#deps.models.hasCredential(model))
      throw new GalleyError("no_credential", `No API key for ${provider}/${modelId}`);
    const problem = this.#deps.problemWith(model);
    if (problem) throw problem;
    this.#telling("set", () => this.#use(model));
    return model;
  }

  /** As if it had been there at the start. */
  adopt({ model, thinkingLevel }: ModelChoice): void {
    this.#model = model;
    this.#requestedLevel = thinkingLevel ?? this.#requestedLevel;
    this.#level = clampLevel(model, this.#requestedLevel);
  }

  /** For a model that is not known yet: its server may have it. */
  async learn(provider: string, modelId: string): Promise<void> {
    await this.#deps.models.learn?.(provider, modelId);
  }

  /** The user may have stored or removed a key. */
  async reloadKeys(): Promise<void> {
    await this.#deps.models.reloadKeys?.();
  }

  /** Before a prompt: a local server may have a model where none was chosen. Undefined where there is none to ask. */
  discover(signal: AbortSignal): Promise<void> | undefined {
    const model = this.#model;
    if (!model) return undefined;
    return this.#deps.models.discover?.(model, { isChosen: this.#isChosen, signal })?.then((found) => {
      if (!found || signal.aborted || this.#model !== model) return; // or the user chose meanwhile
      if (found.provider !== model.provider || found.id !== model.id) return this.#use(found);
      this.#model = found;
      this.#level = clampLevel(found, this.#requestedLevel);
    });
  }

  /** The next of the scope, or of all that is available; wraps. Null when there is no other. */
  cycle(): CycledModel | null {
    const { models } = this.#deps;
    const scope = models.scope ?? [];
    const isScoped = scope.length > 0;
    const named: readonly ModelChoice[] = isScoped
      ? scope.filter(({ model }) => models.hasCredential(model))
      : this.available().map((model) => ({ model }));
    const candidates = named.filter(({ model }) => !this.#deps.problemWith(model));
    const next = candidates[(Math.max(this.#indexIn(candidates), 0) + 1) % candidates.length];
    if (candidates.length < 2 || !next) return null;
    if (next.thinkingLevel !== undefined) this.#requestedLevel = next.thinkingLevel;
    this.#telling("cycle", () => this.#use(next.model));
    return { model: next.model, thinkingLevel: this.#level, isScoped };
  }

  /** A request: stored as the nearest level the model has. `undefined` takes an explicit one back. */
  setThinkingLevel(level: ThinkingLevel | undefined): void {
    this.#requestedLevel = level;
    this.#telling("set", () => this.#store(this.#model ? clampLevel(this.#model, level) : level));
  }

  cycleThinkingLevel(): ThinkingLevel | null {
    const next = this.#model ? nextLevel(this.#model, this.#level) : null;
    if (next !== null) this.setThinkingLevel(next);
    return next;
  }

  levels(): ThinkingLevel[] {
    return this.#model ? availableLevels(this.#model) : ["off"];
  }

  /** Records the model, so that opening the record later finds it. */
  record(): void {
    if (!this.#model) return;
    const { provider, id: modelId } = this.#model;
    const model = `${provider}/${modelId}`;
    this.#deps.record().append({ type: "model_change", provider, modelId, model, role: "default" });
  }

  /** The same for a new record, with the thinking level. */
  recordAll(): void {
    this.record();
    if (this.#model?.reasoning && (this.#level ?? this.#deps.thinkingLevel) !== undefined) this.#recordLevel();
    else this.#recordNewLevel();
  }

  /** Before a prompt: what the session began with. Not earlier: only looking at a record must not change it. */
  recordStart(): void {
    const record = this.#deps.record();
    if (record !== this.#untold) return;
    this.#untold = undefined;
    const { models, thinkingLevel } = record.context;
    const recorded = this.#find(models.get("default") ?? "");
    // Otherwise the model comes from the record, or only stands in for it.
    const isNews = this.#deps.named?.model || !models.has("default") || (recorded && !isLanguageModel(recorded));
    if (isNews) this.#recordNewModel();
    // What was named for this start is no default for opening the record later.
    if (thinkingLevel === undefined && this.#model?.reasoning && this.#level !== undefined) this.#recordLevel();
    else this.#recordNewLevel();
  }

  /** In a record that is made from a part of another: what opening it later would not find otherwise. */
  recordWhatIsNew(): void {
    this.#recordNewModel();
    this.#recordNewLevel();
  }

  /**
   * After another record was opened: uses what it says, where that is still available; else returns the sentence that
   * says so. `named`: a level that was requested now.
   */
  restore(named?: ThinkingLevel): string | undefined {
    return this.#telling("restore", () => this.#restore(named));
  }

  #restore(named: ThinkingLevel | undefined): string | undefined {
    const { models, thinkingLevel } = this.#deps.record().context;
    const saved = models.get("default");
    const found = saved === undefined ? undefined : this.#find(saved);
    // The planner may have answered because there was no model yet; now there is one.
    const isReplaced = found && !isLanguageModel(found) && this.#model !== undefined && isLanguageModel(this.#model);
    if (found && !isReplaced && found !== this.#model) this.#choose(found);
    if (found && !isReplaced) this.#isChosen = true;
    this.#requestedLevel = named ?? this.#recorded(thinkingLevel);
    if (this.#model) this.#level = clampLevel(this.#model, this.#requestedLevel);
    const { model } = this;
    const used = model ? `${model.provider}/${model.id}` : "none";
    this.#untold = isReplaced ? this.#deps.record() : this.#untold;
    if (isReplaced) return `${saved} answered until now, ${used} answers from here on. To keep it: --model ${saved}`;
    return saved === undefined || found ? undefined : `Could not restore model ${saved}. Using ${used}`;
  }

  /** The model for a prompt; says what to do when there is none. */
  usable(): ProviderModel {
    const model = this.#model;
    if (!model)
      throw new GalleyError(
        "no_model",
        "No model selected. Choose one with set_model or --model, or add a provider to models.yml in the agent directory.",
      );
    if (!this.#deps.models.hasCredential(model))
      throw new GalleyError("no_credential", this.#deps.models.noKeyText(model));
    return model;
  }

  levelFor(model: ProviderModel): ThinkingLevel | undefined {
    return model === this.active ? this.activeThinkingLevel : clampLevel(model, this.#level);
  }

  /** A run that has begun names the level it began with: what it thought is sent back as it was. */
  async streamOptions(
    model: ProviderModel,
    level: ThinkingLevel | undefined,
  ): Promise<Omit<StreamOptions, "signal" | "toolChoice">> {
    const { models } = this.#deps;
    const [apiKey, headers] = await Promise.all([models.apiKeyFor(model), models.headersFor(model)]);
    return {
      apiKey,
      headers,
      ...(level && level !== "off" ? { reasoning: level } : {}),
      sessionId: this.#deps.sessionId(),
      ...models.requestSettings,
    };
  }

  /**
   * Models that may write a summary: the active one, the session's own, those with a role, then the one with the largest
   * window, of the same service and no dearer: for a summary the conversation goes to no service that was not chosen.
   */
  summarizers(): Summarizer[] {
    const { models } = this.#deps;
    const named = [this.active, this.#model, ...[...(models.roles?.values() ?? [])].map(({ model }) => model)];
    const usable = named.filter((model) => model !== undefined).filter((model) => models.hasCredential(model));
    const others = this.available().filter((model) => mayReplace(this.active, model));
    const [widest] = others.toSorted((a, b) => b.contextWindow - a.contextWindow);
    const candidates = [...new Set([...usable, ...(widest ? [widest] : [])])];
    return candidates
      .filter((model) => !this.#deps.problemWith(model))
      .map((model) => ({ model, options: () => this.streamOptions(model, this.levelFor(model)) }));
  }

  #telling<Result>(source: "set" | "cycle" | "restore", work: () => Result): Result {
    const [previousModel, previousLevel] = [this.#model, this.#level];
    const result = work();
    const { onSelected } = this.#deps;
    if (this.#model && this.#model !== previousModel)
      onSelected?.({ type: "model_select", model: this.#model, previousModel, source });
    if (this.#level !== previousLevel)
      onSelected?.({
        type: "thinking_level_select",
        level: this.#level ?? "off",
        previousLevel: previousLevel ?? "off",
      });
    return result;
  }

  #choose(model: ProviderModel): void {
    this.#model = model;
    this.#isChosen = true;
    this.#standIn = undefined;
    this.#choices++;
  }

  #use(model: ProviderModel): void {
    this.#choose(model);
    this.#level = clampLevel(model, this.#requestedLevel);
    this.record();
    this.#recordNewLevel();
  }

  #recordNewModel(): void {
    const { model } = this;
    const { models } = this.#deps.record().context;
    if (model && models.get("default") !== `${model.provider}/${model.id}`) this.record();
  }

  #recordNewLevel(): void {
    const recorded = this.#recorded(this.#deps.record().context.thinkingLevel);
    if (this.#model && this.#level !== clampLevel(this.#model, recorded)) this.#recordLevel();
  }

  /** What a record says; the default where it says nothing. */
  #recorded(level: string | null | undefined): ThinkingLevel | undefined {
    const { thinkingLevel, usualThinkingLevel = thinkingLevel } = this.#deps;
    return level === undefined ? usualThinkingLevel : levelNamed(level);
  }

  /** A scope may hold one model at several levels: the level tells where in it we are. */
  #indexIn(choices: readonly ModelChoice[]): number {
    const isOurs = ({ model }: ModelChoice) => model.provider === this.#model?.provider && model.id === this.#model?.id;
    const exact = choices.findIndex((choice) => isOurs(choice) && choice.thinkingLevel === this.#level);
    return exact === -1 ? choices.findIndex(isOurs) : exact;
  }

  #store(level: ThinkingLevel | undefined): void {
    if (level === this.#level) return;
    this.#level = level;
    this.#recordLevel();
  }

  #recordLevel(): void {
    this.#deps.record().append({ type: "thinking_level_change", thinkingLevel: this.#level ?? null });
  }

  #find(name: string): ProviderModel | undefined {
    const slash = name.indexOf("/");
    const model = this.#deps.models.find(name.slice(0, slash), name.slice(slash + 1));
    const { models, problemWith } = this.#deps;
    return model && models.hasCredential(model) && !problemWith(model) ? model : undefined;
  }
}

function mayReplace(own: ProviderModel | undefined, other: ProviderModel): boolean {
  if (own?.provider !== other.provider) return false;
  if (own.cost === undefined) return true;
  return other.cost !== undefined && other.cost.input <= own.cost.input && other.cost.output <= own.cost.output;
}

function isLanguageModel(model: ProviderModel): boolean {
  return capabilitiesOf(model).isLanguageModel;
}

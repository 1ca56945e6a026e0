// How much a session may ask of models: dollars, model calls, tokens. Every call goes through `meter`, whoever makes it.
// Promises: what is used is never counted down; at a limit no request is sent; a reply that began is not cut.

import { GalleyError } from "../../base/errors.js";
import type { BudgetState } from "../../protocol/data.js";
import type { SessionEvent } from "../../protocol/events.js";
import type { Usage } from "../../protocol/messages.js";
import {
  capabilitiesOf,
  type ProviderModel,
  type StreamEvent,
  type StreamFunction,
  type StreamRequest,
} from "../../provider/provider.js";
import { readUsage } from "../../record/billing.js";
import { estimatePrompt, fitOutput, priceOf, wantedOutput } from "./fit-request.js";

export interface BudgetLimits {
  readonly maxCost?: number;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
}

/** Null removes a limit; what is absent stays. */
export type BudgetChange = { readonly [Name in keyof BudgetLimits]?: number | null | undefined };

export type BudgetExceeded = Extract<SessionEvent, { type: "budget_exceeded" }>;
export type LimitKind = BudgetExceeded["kind"];

/** A request that is not sent, as its stream would say it. */
export type RefusedRequest = Extract<StreamEvent, { type: "error" }>;

export interface BudgetSession {
  emit(event: BudgetExceeded): void;
  /** Of the moment: every session has its own count. */
  sessionId(): string;
}

interface Account {
  cost: number;
  turns: number;
  tokens: number;
  /** The limits that were told since they were last set. */
  readonly told: Set<LimitKind>;
}

const names = { cost: "maxCost", turns: "maxTurns", tokens: "maxTokens" } as const;
const kinds = Object.keys(names) as LimitKind[];

export class Budget {
  #limits: BudgetLimits;
  #session: BudgetSession = { emit: () => {}, sessionId: () => "" };
  readonly #accounts = new Map<string, Account>();
  /** By model: how many times the estimate of a prompt fell short of what its service counted. */
  readonly #ratios = new Map<string, number>();

  constructor(limits: BudgetLimits = {}) {
    this.#limits = limits;
  }

  attach(session: BudgetSession): void {
    this.#session = session;
  }

  /** The limits, and what this session used since this process opened it. */
  get state(): BudgetState {
    const { turns, tokens } = this.#account;
    return { ...this.#limits, used: { cost: this.#used("cost"), turns, tokens } };
  }

  /** Throws `unknown_price` where a limit in dollars could not hold for this model; then nothing has changed. */
  change(change: BudgetChange, model: ProviderModel | undefined): BudgetState {
    const given = kinds.filter((kind) => change[names[kind]] !== undefined);
    const merged = { ...this.#limits, ...Object.fromEntries(given.map((kind) => [names[kind], change[names[kind]]])) };
    const limits: BudgetLimits = Object.fromEntries(Object.entries(merged).filter(([, limit]) => limit !== null));
    checkPrice(limits, model);
    this.#limits = limits;
    for (const { told } of this.#accounts.values()) for (const kind of given) told.delete(kind);
    return this.state;
  }

  /** A copy of a session goes on with the count of its original. */
  share(sessionId: string, copyId: string): void {
    const account = this.#accounts.get(sessionId);
    if (account) this.#accounts.set(copyId, account);
  }

  /** A limit is reached: work that was not asked for does not begin. */
  get isUsedUp(): boolean {
    return this.#reached() !== undefined;
  }

  /** Asked before every model call. Tells of the limit that is reached, if it has not been told yet. */
  mayAsk(): RefusedRequest | undefined {
    const kind = this.#reached();
    return kind && this.#refuse(kind);
  }

  /** Why this model cannot be used; undefined where it can. */
  problemWith(model: ProviderModel): GalleyError | undefined {
    if (this.#limits.maxCost === undefined || model.cost !== undefined) return undefined;
    return unknownPrice(model);
  }

  /** The same function, within the limits and counted. */
  meter(stream: StreamFunction): StreamFunction {
    return (request) => {
      const { model, options } = request;
      const problem = this.problemWith(model);
      if (problem) return once({ ...failed(problem.message), failure: { kind: "invalid_request" } });
      const refused = this.mayAsk();
      if (refused) return once(refused);
      const account = this.#account;
      const promptTokens = this.#estimate(request);
      const fit = fitOutput(request, promptTokens ?? 0, promptTokens === undefined ? {} : this.#rest());
      if (!fit.isPossible) return once(this.#refuse(fit.kind));
      account.turns++;
      const outputLimit = fit.outputTokens;
      const maxTokens = Math.min(wantedOutput(request), outputLimit);
      const sent = outputLimit === Infinity ? request : { ...request, options: { ...options, maxTokens, outputLimit } };
      return new MeteredStream(stream(sent), {
        request,
        promptTokens,
        add(amount) {
          account.cost += amount.cost;
          account.tokens += amount.tokens;
        },
        ...(promptTokens === undefined ? {} : { counted: (tokens: number) => this.#learn(request, tokens) }),
      });
    };
  }

  get #account(): Account {
    const id = this.#session.sessionId();
    const account = this.#accounts.get(id) ?? { cost: 0, turns: 0, tokens: 0, told: new Set() };
    this.#accounts.set(id, account);
    return account;
  }

  #reached(): LimitKind | undefined {
    return kinds.find((kind) => this.#account[kind] >= (this.#limits[names[kind]] ?? Infinity));
  }

  /** Without the last digits of binary fractions. */
  #used(kind: LimitKind): number {
    return Math.round(this.#account[kind] * 1e9) / 1e9;
  }

  #refuse(kind: LimitKind): RefusedRequest {
    const limit = this.#limits[names[kind]] ?? 0;
    const used = this.#used(kind);
    const { told } = this.#account;
    if (!told.has(kind)) {
      told.add(kind);
      this.#session.emit({ type: "budget_exceeded", kind, limit, used });
    }
    return { ...failed(limitText({ kind, limit, used })), failure: { kind: "limit" } };
  }

  #rest() {
    const { maxCost, maxTokens } = this.#limits;
    const { cost, tokens } = this.#account;
    return {
      cost: maxCost === undefined ? undefined : maxCost - cost,
      tokens: maxTokens === undefined ? undefined : maxTokens - tokens,
    };
  }

  /** Undefined where no limit depends on it. The planner takes no tokens. */
  #estimate(request: Parameters<StreamFunction>[0]): number | undefined {
    const { maxCost, maxTokens } = this.#limits;
    const isNeeded = (maxCost ?? maxTokens) !== undefined && capabilitiesOf(request.model).isLanguageModel;
    return isNeeded ? Math.ceil(estimatePrompt(request) * (this.#ratios.get(nameOf(request.model)) ?? 1)) : undefined;
  }

  /** Above 4 it is no longer the language of the text, but something we cannot see. */
  #learn(request: Parameters<StreamFunction>[0], promptTokens: number): void {
    const ratio = promptTokens / Math.max(1, estimatePrompt(request));
    this.#ratios.set(nameOf(request.model), Math.min(Math.max(ratio, 1), 4));
  }
}

/** Throws `unknown_price` where a limit in dollars could not hold. */
export function checkPrice({ maxCost }: BudgetLimits, model: ProviderModel | undefined): void {
  if (maxCost !== undefined && model && model.cost === undefined) throw unknownPrice(model);
}

function unknownPrice(model: ProviderModel): GalleyError {
  return new GalleyError(
    "unknown_price",
    `The price of ${nameOf(model)} is not known, so --max-cost cannot hold. Use --max-tokens, or give its cost in models.yml.`,
  );
}

function limitText({ kind, limit, used }: Omit<BudgetExceeded, "type">): string {
  const numbers = { cost: [`$${limit}`, ` ($${used} spent)`], tokens: [`${limit} tokens`, ` (${used} used)`] };
  const [most = "", spent = ""] = kind === "turns" ? [`${limit} model call${limit === 1 ? "" : "s"}`] : numbers[kind];
  if (used < limit) return `Stopped: the next call would exceed the limit of ${most}${spent}.`;
  return `Stopped: the limit of ${most} is used up${spent}.`;
}

function failed(errorMessage: string): RefusedRequest {
  return { type: "error", reason: "error", errorMessage };
}

async function* once(event: StreamEvent): AsyncGenerator<StreamEvent> {
  yield event;
}

function nameOf({ provider, id }: ProviderModel): string {
  return `${provider}/${id}`;
}

// One reply on its way, with its tokens and dollars counted as they become known. Promises: what is counted only grows;
// a reply that is left early, or cut, is counted before the caller goes on.

interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

interface MeterOptions {
  readonly request: StreamRequest;
  /** An estimate for what the service does not report; absent where no limit depends on it. */
  readonly promptTokens: number | undefined;
  add(amount: Amount): void;
  /** A whole reply, as its service counted the prompt. */
  counted?(promptTokens: number): void;
}

class MeteredStream implements AsyncIterableIterator<StreamEvent> {
  readonly #inner: AsyncIterator<StreamEvent>;
  readonly #options: MeterOptions;
  #added: Amount = { tokens: 0, cost: 0 };
  #reported: Usage | undefined;
  #characters = 0;
  #hasEnded = false;

  /** Made once: a long reply has many steps. */
  readonly #onStep = (step: IteratorResult<StreamEvent>): IteratorResult<StreamEvent> => {
    if (step.done) this.#end(false);
    else this.#see(step.value);
    return step;
  };
  readonly #onFailure = (error: unknown): never => {
    this.#end(false);
    throw error;
  };

  constructor(inner: AsyncIterable<StreamEvent>, options: MeterOptions) {
    this.#inner = inner[Symbol.asyncIterator]();
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<StreamEvent>> {
    return this.#inner.next().then(this.#onStep, this.#onFailure);
  }

  /** Counted at once: an inner stream that hangs may never come to its own end. */
  return(): Promise<IteratorResult<StreamEvent>> {
    this.#end(false);
    return this.#inner.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  #see(event: StreamEvent): void {
    if ("delta" in event) this.#characters += event.delta.length;
    if ("usage" in event && event.usage) this.#take(event.usage);
    if (event.type === "done" || event.type === "error") this.#end(event.type === "done");
  }

  #take(usage: Usage): void {
    const known = readUsage(usage);
    if (!known) return;
    this.#reported = known;
    this.#grow(known);
  }

  #end(isWhole: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { promptTokens, counted } = this.#options;
    const reported = this.#reported;
    if (reported && isWhole) return counted?.(reported.input + reported.cacheRead + reported.cacheWrite);
    // What was received was made, and is paid for, whether or not the service came to say so.
    const isAnswered = isWhole || this.#characters > 0;
    if (promptTokens === undefined || !isAnswered) return;
    const { input, cacheRead, cacheWrite } = reported ?? { input: promptTokens, cacheRead: 0, cacheWrite: 0 };
    const output = Math.max(reported?.output ?? 0, Math.ceil(this.#characters / 4));
    this.#grow({ input, output, cacheRead, cacheWrite });
  }

  #grow({ cost, ...counts }: Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite"> & Partial<Usage>): void {
    const { input, output, cacheRead, cacheWrite } = counts;
    const before = this.#added;
    // A stream function of the caller's own may not know prices.
    const dollars = cost?.total || priceOf(this.#options.request.model.cost, counts);
    this.#added = {
      tokens: Math.max(before.tokens, input + output + cacheRead + cacheWrite),
      cost: Math.max(before.cost, dollars),
    };
    this.#options.add({ tokens: this.#added.tokens - before.tokens, cost: this.#added.cost - before.cost });
  }
}

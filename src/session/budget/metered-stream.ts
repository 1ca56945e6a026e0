// One reply on its way, with its tokens and dollars counted as they become known. Promises: what is counted only grows;
// a reply that is left early, or cut, is counted before the caller goes on.

import type { Usage } from "../../protocol/messages.js";
import type { StreamEvent, StreamRequest } from "../../provider/provider.js";
import { readUsage } from "../../record/billing.js";
import { priceOf } from "./fit-request.js";

export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

export interface MeterOptions {
  readonly request: StreamRequest;
  /** An estimate for what the service does not report; absent where no limit depends on it. */
  readonly promptTokens: number | undefined;
  add(amount: Amount): void;
  /** A whole reply, as its service counted the prompt. */
  counted?(promptTokens: number): void;
}

export class MeteredStream implements AsyncIterableIterator<StreamEvent> {
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

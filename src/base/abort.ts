// Small helpers around AbortSignal. Node 20's AbortSignal.any keeps long-lived sources alive, so linking is ours
// and is undone by the caller.

import { setMaxListeners } from "node:events";
import { GalleyError } from "./errors.js";

export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Forgets the sources. Call it when the work is done, or a long-lived source keeps the link for ever. */
  release(): void;
}

/** A signal that fires when any source fires, or when `abort` is called. */
export function linkAbort(...sources: (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController();
  const live = sources.filter((source) => source !== undefined);
  const onAbort = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const source of live) {
    setMaxListeners(0, source); // a run may have any number of calls, and each removes its listener
    if (source.aborted) controller.abort(source.reason);
    else source.addEventListener("abort", onAbort, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release() {
      for (const source of live) source.removeEventListener("abort", onAbort);
    },
  };
}

/**
 * Waits for one promise after another, or for the signal. One listener serves them all: a plain `Promise.race` per
 * step would pile up reactions on the abort promise for as long as it lives.
 */
export class AbortRace {
  readonly #signal: AbortSignal;
  #wake: (outcome: "aborted") => void = () => {};
  readonly #onAbort = () => this.#wake("aborted");

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** A promise that loses the race is forgotten, its rejection included. */
  next<T>(promise: Promise<T>): Promise<T | "aborted"> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      if (this.#signal.aborted) resolve("aborted");
      else this.#wake = resolve;
    });
  }

  release(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Resolves when the signal fires; never rejects. `release` forgets the listener. */
export function whenAborted(signal: AbortSignal): { promise: Promise<void>; release: () => void } {
  if (signal.aborted) return { promise: Promise.resolve(), release: () => {} };
  let onAbort = () => {};
  const promise = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener("abort", onAbort, { once: true });
  });
  return { promise, release: () => signal.removeEventListener("abort", onAbort) };
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new GalleyError("aborted", "Operation aborted");
}

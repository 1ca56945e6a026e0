// Stops a request in any phase: tunnel, TLS handshake or call. Between two phases nothing can be stopped, so the stop
// waits for the next one.

import type { GalleyError } from "../../base/errors.js";

/** A phase of the request that can be stopped. */
export interface Part {
  destroy(error: Error): unknown;
}

/** An AbortSignal would do the same, but takes longer to make and to listen to than all the rest here. */
export class RequestStop {
  #reason: GalleyError | undefined;
  #live: Part | undefined;

  /** The first there was. */
  get reason(): GalleyError | undefined {
    return this.#reason;
  }

  now(reason: GalleyError): void {
    this.#reason ??= reason;
    this.#live?.destroy(this.#reason);
  }

  /** This is what is under way from here on. */
  own(part: Part): void {
    this.#live = part;
    if (this.#reason) part.destroy(this.#reason);
  }
}

// Ends a request wherever it is: what is under way changes (a tunnel, its encryption, the call), the wish to stop does
// not. Between two parts nothing is under way, so the wish waits for the next one.

import type { GalleyError } from "../../base/errors.js";

/** Something under way that can be ended. */
export interface Part {
  destroy(error: Error): unknown;
}

/** A signal would do the same, but every one of them takes longer to make and to listen to than all the rest here. */
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

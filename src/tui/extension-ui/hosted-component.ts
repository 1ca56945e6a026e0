// A component of a module on our screen. Promises: what it draws is cleaned; what it throws, in drawing or at a key, closes
// it, is logged once and goes no further.

import type { Component } from "@earendil-works/pi-tui";
import { messageOf } from "../../base/errors.js";
import type { Dialog } from "../dialogs/question-queue.js";
import { cleanLines } from "./clean-lines.js";

export interface HostedDeps {
  /** For the log. */
  readonly what: string;
  readonly log: { warn(text: string): void };
  /** It is closed: it threw. Called once, after the frame. */
  onFailure(): void;
}

export class HostedComponent implements Dialog {
  readonly #component: Component & { dispose?(): void };
  readonly #deps: HostedDeps;
  #hasFailed = false;
  /** Gets the keys instead: the module moved the focus within itself. */
  focus: Component | undefined;

  constructor(component: unknown, deps: HostedDeps) {
    if (typeof (component as Component | undefined)?.render !== "function")
      throw new TypeError(`${deps.what} must make a component, and at once`);
    this.#component = component as Component;
    this.#deps = deps;
  }

  render(width: number): string[] {
    return this.#guarded(() => cleanLines(this.#component.render(width))) ?? [];
  }

  handleInput(data: string): void {
    this.#guarded(() => (this.focus ?? this.#component).handleInput?.(data));
  }

  invalidate(): void {
    this.#guarded(() => this.#component.invalidate?.());
  }

  dispose(): void {
    this.#guarded(() => this.#component.dispose?.());
  }

  #guarded<Result>(work: () => Result): Result | undefined {
    if (this.#hasFailed) return undefined;
    try {
      return work();
    } catch (error) {
      this.#hasFailed = true;
      this.#deps.log.warn(`${this.#deps.what} failed: ${messageOf(error)}`);
      setImmediate(() => this.#deps.onFailure()); // not while the frame is made
      return undefined;
    }
  }
}

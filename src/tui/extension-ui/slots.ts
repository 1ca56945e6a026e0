// The places around the editor that extensions may fill: widgets above and below it, status texts, a footer, a header, the
// word of the working line. What fails leaves its place empty.

import type { Component } from "@earendil-works/pi-tui";
import { oneLine } from "../../base/sanitize.js";
import type { Theme } from "../../sdk/index.js";
import { cutTo } from "../cut-to.js";
import { cleanLine } from "./clean-lines.js";
import { HostedComponent } from "./hosted-component.js";

export interface SlotsDeps {
  readonly log: { warn(text: string): void };
  draw(): void;
  /** What a module's factory is called with. */
  factoryArguments(): readonly unknown[];
}

/** A question has to fit above it. */
const maxFooterLines = 2;

type Factory = (...args: readonly unknown[]) => unknown;

export class Slots {
  readonly #deps: SlotsDeps;
  readonly #statuses = new Map<string, string>();
  readonly #widgets = new Map<string, { component: Component; isBelow: boolean }>();
  #footer: HostedComponent | undefined;
  workingMessage: string | undefined;

  constructor(deps: SlotsDeps) {
    this.#deps = deps;
  }

  setStatus(key: string, text: string | undefined): void {
    if (text === undefined) this.#statuses.delete(key);
    else this.#statuses.set(key, cleanLine(text).trim());
    this.#deps.draw();
  }

  setWidget(key: string, content: unknown, isBelow: boolean): void {
    this.#widgets.delete(key);
    const component = this.#componentOf(content, `the widget ${oneLine(key, 60)}`, () => this.#widgets.delete(key));
    if (component) this.#widgets.set(key, { component, isBelow });
    this.#deps.draw();
  }

  setFooter(factory: unknown): void {
    this.#footer?.dispose();
    const drop = () => {
      this.#footer = undefined;
    };
    drop();
    this.#footer = this.#componentOf(factory, "the footer of an extension", drop);
    this.#deps.draw();
  }

  setWorkingMessage(message: string | undefined): void {
    this.workingMessage = message === undefined ? undefined : oneLine(message, 200);
    this.#deps.draw();
  }

  /** Lines of a component made by a module; undefined: there is none, or it could not be made. */
  #componentOf(content: unknown, what: string, drop: () => void): HostedComponent | undefined {
    if (content === undefined || content === null) return undefined;
    const { log, draw, factoryArguments } = this.#deps;
    const onFailure = () => {
      drop();
      draw();
    };
    try {
      const made = Array.isArray(content) ? { render: () => content } : this.#make(content, factoryArguments());
      return new HostedComponent(made, { what, log, onFailure });
    } catch (error) {
      log.warn(`${what} failed: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  #make(content: unknown, args: readonly unknown[]): unknown {
    return typeof content === "function" ? (content as Factory)(...args) : content;
  }

  widgets(where: "above" | "below", width: number): string[] {
    return [...this.#widgets.values()]
      .filter(({ isBelow }) => isBelow === (where === "below"))
      .flatMap(({ component }) => component.render(width).map((line) => cutTo(line, width)));
  }

  /** Undefined: ours is drawn. */
  footer(width: number): string[] | undefined {
    return this.#footer
      ?.render(width)
      .slice(0, maxFooterLines)
      .map((line) => cutTo(line, width));
  }

  statusLine(theme: Theme, width: number): string[] {
    if (this.#statuses.size === 0) return [];
    const texts = [...this.#statuses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    return [cutTo(` ${theme.fg("muted", texts.join("  "))}`, width)];
  }
}

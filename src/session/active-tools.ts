// Which tools a session has, and which of them the model is offered. Hidden tools are nobody's choice: they are neither
// listed nor switched, and whoever needs one adds it.

import type { AnyTool } from "../tools/tool.js";

export class ActiveTools {
  /** All but the hidden ones, in their order. */
  readonly all: readonly AnyTool[];
  readonly #hidden: readonly AnyTool[];
  #active: readonly AnyTool[];

  constructor(tools: readonly AnyTool[]) {
    this.all = tools.filter((tool) => !tool.hidden);
    this.#hidden = tools.filter((tool) => tool.hidden);
    this.#active = this.all;
  }

  hidden(name: string): AnyTool | undefined {
    return this.#hidden.find((tool) => tool.name === name);
  }

  get active(): readonly AnyTool[] {
    return this.#active;
  }

  /** Exactly these, from the next model call on. A name that no tool has is passed over. */
  choose(names: readonly string[]): void {
    this.#active = this.all.filter(({ name }) => names.includes(name));
  }
}

export function namesOf(tools: readonly AnyTool[]): string[] {
  return tools.map(({ name }) => name);
}

// Which tools a session has, and which of them the model is offered. Hidden tools are nobody's choice: they are neither
// listed nor switched, and whoever needs one adds it.

import type { AnyTool } from "../tools/tool.js";

export interface AddedTool {
  readonly tool: AnyTool;
  /** Offered until somebody chooses otherwise; default: yes. */
  readonly startsActive?: boolean;
}

export class ActiveTools {
  #all: readonly AnyTool[];
  #hidden: readonly AnyTool[];
  #active: readonly AnyTool[];

  constructor(tools: readonly AnyTool[]) {
    this.#all = tools.filter((tool) => !tool.hidden);
    this.#hidden = tools.filter((tool) => tool.hidden);
    this.#active = this.#all;
  }

  /** All but the hidden ones, in their order. */
  get all(): readonly AnyTool[] {
    return this.#all;
  }

  hidden(name: string): AnyTool | undefined {
    return this.#hidden.find((tool) => tool.name === name);
  }

  get active(): readonly AnyTool[] {
    return this.#active;
  }

  /** Exactly these, from the next model call on. A name that no tool has is passed over. */
  choose(names: readonly string[]): void {
    this.#active = this.#all.filter(({ name }) => names.includes(name));
  }

  /** From the next model call on. One with the name of another takes its place, switched as that one was. */
  add(added: readonly AddedTool[]): void {
    for (const { tool, startsActive = true } of added) {
      const isKnown = this.#all.some(({ name }) => name === tool.name);
      const put = (tools: readonly AnyTool[], isWanted: boolean) => {
        if (isKnown) return tools.map((old) => (old.name === tool.name ? tool : old));
        return isWanted ? [...tools, tool] : tools;
      };
      if (tool.hidden) this.#hidden = [...this.#hidden.filter(({ name }) => name !== tool.name), tool];
      else {
        this.#all = put(this.#all, true);
        this.#active = put(this.#active, startsActive);
      }
    }
  }
}

export function namesOf(tools: readonly AnyTool[]): string[] {
  return tools.map(({ name }) => name);
}

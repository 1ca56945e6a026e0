// Which tools a session has, and which of them the model is offered. Hidden tools cannot be chosen: they are neither
// listed nor switched, and the code that needs one adds it.

import { GalleyError } from "../base/errors.js";
import type { AnyTool } from "../tools/tool.js";

export interface AddedTool {
  readonly tool: AnyTool;
  /** Offered until the user, the host or an extension chooses otherwise; default: yes. */
  readonly startsActive?: boolean;
}

export class ActiveTools {
  #all: readonly AnyTool[];
  #hidden: readonly AnyTool[];
  #active: readonly AnyTool[];
  #lent: readonly AnyTool[] = [];
  readonly #first: readonly AnyTool[];

  constructor(tools: readonly AnyTool[]) {
    this.#first = tools;
    this.#all = tools.filter((tool) => !tool.hidden);
    this.#hidden = tools.filter((tool) => tool.hidden);
    this.#active = this.#all;
  }

  /** All but the hidden ones, in their order. */
  get all(): readonly AnyTool[] {
    return this.#all;
  }

  /** The active ones, and those of the hidden ones that are named. */
  offered(names: readonly string[]): readonly AnyTool[] {
    const isActive = (wanted: string) => this.#active.some(({ name }) => name === wanted);
    const more = names
      .filter((name) => !isActive(name))
      .map((wanted) => this.#hidden.find(({ name }) => name === wanted))
      .filter((tool) => tool !== undefined);
    return more.length === 0 ? this.#active : [...this.#active, ...more];
  }

  get active(): readonly AnyTool[] {
    return this.#active;
  }

  /** Exactly these, from the next model call on. A name that no tool has is skipped. */
  choose(names: readonly string[]): void {
    const wanted = new Set(names);
    this.#active = this.#all.filter(({ name }) => wanted.has(name));
  }

  /** From the next model call on. One with the name of another replaces it, and keeps its switch. */
  add(added: readonly AddedTool[]): void {
    // By name, and in one pass: a host may lend thousands. An existing name keeps its position.
    const all = byName(this.#all);
    const active = byName(this.#active);
    const hidden = byName(this.#hidden);
    for (const { tool, startsActive = true } of added) {
      const { name } = tool;
      if (tool.hidden) {
        hidden.delete(name);
        hidden.set(name, tool);
        continue;
      }
      if (all.has(name) ? active.has(name) : startsActive) active.set(name, tool);
      all.set(name, tool);
    }
    this.#all = [...all.values()];
    this.#active = [...active.values()];
    this.#hidden = [...hidden.values()];
  }

  /** Removes some and adds others, in one step: a tool that was there before keeps its switch. */
  replace(old: readonly AnyTool[], added: readonly AddedTool[]): void {
    const known = new Set(namesOf(this.#all));
    const chosen = new Set(namesOf(this.#active));
    const gone = new Set(old);
    const before = ({ name, hidden = false }: AnyTool) =>
      this.#first.find((tool) => tool.name === name && (tool.hidden ?? false) === hidden) ?? [];
    const without = (tools: readonly AnyTool[]) => tools.flatMap((tool) => (gone.has(tool) ? before(tool) : tool));
    this.#all = without(this.#all);
    this.#hidden = without(this.#hidden);
    this.#active = without(this.#active);
    this.add(
      added.map(({ tool, startsActive = true }) => ({
        tool,
        startsActive: known.has(tool.name) ? chosen.has(tool.name) : startsActive,
      })),
    );
  }

  /** The tools that a host lends; they replace the ones it lent before. Throws before anything has changed. */
  lend(lent: readonly AddedTool[]): void {
    const tools = lent.map(({ tool }) => tool);
    const names = namesOf(tools);
    if (new Set(names).size < names.length)
      throw new GalleyError("invalid_argument", "RPC host tool names must be unique");
    // A tool of the session may have replaced a lent one by now: that one no longer belongs to the host.
    const own = new Set(this.#lent);
    const taken = new Set(namesOf([...this.#all, ...this.#hidden].filter((tool) => !own.has(tool))));
    const conflict = names.find((name) => taken.has(name));
    if (conflict !== undefined)
      throw new GalleyError("invalid_argument", `RPC host tool "${conflict}" conflicts with an existing tool`);
    this.replace(this.#lent, lent);
    this.#lent = tools;
  }
}

function byName(tools: readonly AnyTool[]): Map<string, AnyTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

export function namesOf(tools: readonly AnyTool[]): string[] {
  return tools.map(({ name }) => name);
}

// The system prompt of a session: the standard one, or what an extension chose for the run under way.

export class SystemPrompt {
  readonly #standard: () => string;
  #forRun: string | undefined;

  /** `standard` is asked every time: it changes with the active tools. */
  constructor(standard: () => string) {
    this.#standard = standard;
  }

  get text(): string {
    return this.#forRun ?? this.#standard();
  }

  /** Returns a function that ends it. The choice of a later run stays then. */
  useForRun(text: string): () => void {
    this.#forRun = text;
    return () => {
      if (this.#forRun === text) this.#forRun = undefined;
    };
  }
}

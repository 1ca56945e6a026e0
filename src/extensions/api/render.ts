// A tool's own drawing of its calls and results. Published tools expect three different signatures; one object that is
// theme, options and context at once satisfies them all. A renderer that fails is reported once and then not used.

import { Text, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { isObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { ToolResult } from "../../protocol/events.js";
import type { Theme } from "../compat/theme.js";
import { runGuarded } from "../load/load-guard.js";
import type { Component } from "./component.js";
import { complaint, failureOf, type ToolFailure } from "./custom-tool-failure.js";
import { logFailure } from "./log-failure.js";

export interface RenderHooks {
  /** Called `(args, theme)`, `(args, options, theme)` or `(args, theme, context)`, as the tool was written. */
  // biome-ignore lint/suspicious/noExplicitAny: each argument depends on the program the tool was written for
  renderCall?(args: any, ...rest: any[]): Component | string | null | undefined;
  renderResult?(
    // biome-ignore lint/suspicious/noExplicitAny: a tool knows its own details
    result: any,
    options: RenderOptions,
    theme: Theme,
    // biome-ignore lint/suspicious/noExplicitAny: a tool knows its own arguments
    args?: any,
  ): Component | string | null | undefined;
  /** The call line goes once there is a result. */
  mergeCallAndResult?: boolean;
  renderShell?: "self" | "default";
  inline?: boolean;
}

export interface RenderOptions {
  readonly expanded: boolean;
  readonly isPartial: boolean;
  /** 0 to 9, only while partial. */
  readonly spinnerFrame?: number;
}

/** Where and when it is drawn. */
export interface RenderView extends RenderOptions {
  readonly theme: Theme;
  readonly toolCallId: string;
  readonly cwd: string;
  /** The tool's own, for as long as the call is shown. */
  readonly state: Record<string, unknown>;
  readonly executionStarted: boolean;
  readonly argsComplete: boolean;
  readonly showImages: boolean;
  readonly isError: boolean;
  /** Asks for another drawing. */
  invalidate(): void;
}

export interface RendererDeps {
  readonly tool: RenderHooks & { readonly name: string; readonly label?: string };
  readonly path: string;
  readonly log: Log;
  /** The hooks of the tool that failed in an earlier call; default: none did. */
  readonly failed?: Set<string>;
  /** For hosts: what is also logged. */
  onError?(failure: ToolFailure): void;
}

type Hook = "renderCall" | "renderResult";

/** One for each call that is shown. */
export class ToolRenderer {
  readonly #deps: RendererDeps;
  readonly #failed: Set<string>;
  readonly #last = new Map<Hook, Component>();
  #hasToldWidth = false;

  constructor(deps: RendererDeps) {
    this.#deps = deps;
    this.#failed = deps.failed ?? new Set();
  }

  /** No background: the tool draws its own. */
  get hasOwnShell(): boolean {
    const { renderShell, inline } = this.#deps.tool;
    return renderShell === "self" || inline === true;
  }

  /** The call line goes once there is a result. */
  get mergesCallAndResult(): boolean {
    return this.#deps.tool.mergeCallAndResult === true;
  }

  /** `args` may still be incomplete. */
  call(args: unknown, view: RenderView, width: number): string[] {
    const { tool } = this.#deps;
    const { theme } = view;
    const drawn = this.#draw("renderCall", width, () => {
      const hybrid = this.#hybrid("renderCall", args, view);
      return tool.renderCall?.(args, hybrid, hybrid);
    });
    return drawn ?? new Text(theme.fg("toolTitle", theme.bold(tool.label ?? tool.name)), 0, 0).render(width);
  }

  result(result: ToolResult, args: unknown, view: RenderView, width: number): string[] {
    const { tool } = this.#deps;
    const { theme } = view;
    const { content, details, isError = false } = result;
    const drawn = this.#draw("renderResult", width, () => {
      const hybrid = this.#hybrid("renderResult", args, view);
      return tool.renderResult?.({ content, details, isError }, hybrid, theme, withContext(args, hybrid));
    });
    if (drawn) return drawn;
    const text = content.map((block) => (block.type === "text" ? block.text : `[${block.mimeType}]`)).join("\n");
    return new Text(theme.fg("toolOutput", text), 0, 0).render(width);
  }

  /** Undefined: draw it the usual way. */
  #draw(hook: Hook, width: number, make: () => unknown): string[] | undefined {
    if (!this.#deps.tool[hook] || this.#failed.has(hook)) return undefined;
    try {
      const { path, log } = this.#deps;
      const lines = runGuarded({ path, log }, () => {
        const made = make();
        if (made === undefined || made === null) return undefined;
        const component = typeof made === "string" ? new Text(made, 0, 0) : made;
        if (!isComponent(component)) throw complaint("it must return a component, and at once");
        this.#last.set(hook, component);
        return component.render(width);
      });
      return lines === undefined ? undefined : this.#fitted(lines, width);
    } catch (error) {
      this.#fail(hook, error);
      return undefined;
    }
  }

  #fitted(lines: unknown, width: number): string[] {
    if (!Array.isArray(lines) || !lines.every((line) => typeof line === "string"))
      throw complaint("render must return an array of strings");
    if (lines.every((line) => visibleWidth(line) <= width)) return lines;
    const { tool, log } = this.#deps;
    if (!this.#hasToldWidth) log.warn(`tool ${tool.name} draws lines wider than ${width} columns; they are cut`);
    this.#hasToldWidth = true;
    return lines.map((line) => truncateToWidth(line, width, "…"));
  }

  #fail(hook: Hook, thrown: unknown): void {
    this.#failed.add(hook);
    const { tool, path, log, onError } = this.#deps;
    const failure = failureOf(thrown);
    const { error } = failure;
    const line = `Tool renderer failed ${JSON.stringify({ tool: tool.name, error })}`;
    logFailure(log, `${printable(path)}: ${line}`, failure);
    onError?.({ extensionPath: path, event: hook, error });
  }

  /** The theme, with the options and the context on top. */
  #hybrid(hook: Hook, args: unknown, { theme, ...view }: RenderView): Theme & RenderOptions {
    return Object.assign(Object.create(theme), { ...view, args, lastComponent: this.#last.get(hook) });
  }
}

function isComponent(value: unknown): value is Component {
  return isObject(value) && typeof value.render === "function";
}

/** The arguments, and the context for tools that look for it there; a copy of them shows the arguments alone. */
function withContext(args: unknown, context: object): unknown {
  if (!isObject(args)) return args;
  const copy = { ...args };
  for (const [name, value] of Object.entries(context))
    if (!Object.hasOwn(copy, name)) Object.defineProperty(copy, name, { value });
  return copy;
}

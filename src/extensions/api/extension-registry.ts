// Everything that the loaded extensions registered, in one order. The project's extensions come before the user's: how
// they change a tool call is still seen by the guards that the user keeps for all projects.

import { resolveToolName } from "../../pending/resolve-force.js";
import { cameFrom } from "./custom-tool-failure.js";
import type { FlagDefinition } from "./extension.js";
import type { RegisteredCommand } from "./extension-commands.js";
import type {
  ExtensionRegistrations,
  RegisteredHandler,
  RegisteredShortcut,
  RegisteredTool,
} from "./extension-registrations.js";

export type Owned<Thing> = Thing & { readonly extension: ExtensionRegistrations };

export class ExtensionRegistry {
  #extensions: readonly ExtensionRegistrations[] = [];
  /** Each command that lost its name to another is reported once. */
  readonly #replaced = new Set<RegisteredCommand>();
  /** Each tool that lost its name to another is reported once. */
  readonly #conflicts = new Set<RegisteredTool>();

  get extensions(): readonly ExtensionRegistrations[] {
    return this.#extensions;
  }

  add(extensions: readonly ExtensionRegistrations[]): void {
    const all = [...this.#extensions, ...extensions];
    this.#extensions = [
      ...all.filter(({ origin }) => origin.needsTrust),
      ...all.filter(({ origin }) => !origin.needsTrust),
    ];
  }

  /** A project does not decide whether it is trusted. */
  handlersOf(type: string): Owned<RegisteredHandler>[] {
    return this.#extensions
      .filter(({ origin }) => !(type === "project_trust" && origin.needsTrust))
      .flatMap((extension) => (extension.handlers.get(type) ?? []).map((handler) => ({ ...handler, extension })));
  }

  /** The last registration wins. */
  commands(): Map<string, Owned<RegisteredCommand>> {
    return this.#byName((extension) => extension.commands);
  }

  /** A sentence for each command that another extension's replaces, once. */
  replacedCommands(): string[] {
    const chosen = this.commands();
    return this.#extensions.flatMap((extension) =>
      [...extension.commands].flatMap(([name, command]) => {
        const winner = chosen.get(name)?.extension.origin.path;
        if (chosen.get(name)?.extension === extension || this.#replaced.has(command)) return [];
        this.#replaced.add(command);
        return [`${extension.origin.path}: the command "${name}" of ${winner} replaces this one`];
      }),
    );
  }

  shortcuts(): Map<string, Owned<RegisteredShortcut>> {
    return this.#byName((extension) => extension.shortcuts);
  }

  flags(): Map<string, Owned<FlagDefinition>> {
    return this.#byName((extension) => extension.flags);
  }

  messageRenderer(customType: string): unknown {
    return this.#extensions
      .findLast((extension) => extension.messageRenderers.has(customType))
      ?.messageRenderers.get(customType);
  }

  /** The last one that was registered. */
  get thinkingRenderer(): unknown {
    return this.#extensions.findLast(({ thinkingRenderer }) => thinkingRenderer !== undefined)?.thinkingRenderer;
  }

  /**
   * The first registration of a name stays; `onConflict` is told of each other one once. `resolve` cannot be replaced:
   * a replacement could write without a decision.
   */
  tools(onConflict: (extension: ExtensionRegistrations, sentence: string) => void): Owned<RegisteredTool>[] {
    const chosen = new Map<string, Owned<RegisteredTool>>();
    for (const extension of this.#extensions)
      for (const [name, tool] of extension.tools) {
        if (name !== resolveToolName && !chosen.has(name)) chosen.set(name, { ...tool, extension });
        else if (!this.#conflicts.has(tool)) {
          this.#conflicts.add(tool);
          onConflict(extension, `Tool name "${name}" conflicts with existing tool`);
        }
      }
    return [...chosen.values()];
  }

  /** The extension in whose files an error was thrown, if it can be told. */
  blame(error: unknown): string | undefined {
    return this.#extensions.find(({ origin }) => cameFrom(error, origin.realPath))?.origin.path;
  }

  #byName<Thing extends object>(things: (extension: ExtensionRegistrations) => ReadonlyMap<string, Thing>) {
    const byName = new Map<string, Owned<Thing>>();
    for (const extension of this.#extensions)
      for (const [name, thing] of things(extension)) byName.set(name, { ...thing, extension });
    return byName;
  }
}

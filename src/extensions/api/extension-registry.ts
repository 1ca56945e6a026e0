// Everything that the loaded extensions registered, in one order. The project's extensions come before the user's: how
// they change a tool call is still seen by the guards that the user keeps for all projects.

import { resolveToolName } from "../../pending/resolve-force.js";
import type { RegisteredCommand } from "./commands.js";
import { cameFrom } from "./custom-tool-failure.js";
import type { FlagDefinition } from "./extension.js";
import type { ExtensionRecord, RegisteredHandler, RegisteredShortcut, RegisteredTool } from "./extension-record.js";

export type Owned<Thing> = Thing & { readonly record: ExtensionRecord };

export class ExtensionRegistry {
  #records: readonly ExtensionRecord[] = [];
  /** Each tool that lost its name to another is reported once. */
  readonly #conflicts = new Set<RegisteredTool>();

  get records(): readonly ExtensionRecord[] {
    return this.#records;
  }

  add(records: readonly ExtensionRecord[]): void {
    const all = [...this.#records, ...records];
    this.#records = [
      ...all.filter(({ origin }) => origin.needsTrust),
      ...all.filter(({ origin }) => !origin.needsTrust),
    ];
  }

  /** A project does not decide whether it is trusted. */
  handlersOf(type: string): Owned<RegisteredHandler>[] {
    return this.#records
      .filter(({ origin }) => !(type === "project_trust" && origin.needsTrust))
      .flatMap((record) => (record.handlers.get(type) ?? []).map((handler) => ({ ...handler, record })));
  }

  /** The last registration wins. */
  commands(): Map<string, Owned<RegisteredCommand>> {
    return this.#byName((record) => record.commands);
  }

  shortcuts(): Map<string, Owned<RegisteredShortcut>> {
    return this.#byName((record) => record.shortcuts);
  }

  flags(): Map<string, Owned<FlagDefinition>> {
    return this.#byName((record) => record.flags);
  }

  messageRenderer(customType: string): unknown {
    return this.#records
      .findLast((record) => record.messageRenderers.has(customType))
      ?.messageRenderers.get(customType);
  }

  /**
   * The first registration of a name stays; `onConflict` is told of each other one once. `resolve` cannot be replaced:
   * a replacement could write without a decision.
   */
  tools(onConflict: (record: ExtensionRecord, sentence: string) => void): Owned<RegisteredTool>[] {
    const chosen = new Map<string, Owned<RegisteredTool>>();
    for (const record of this.#records)
      for (const [name, tool] of record.tools) {
        if (name !== resolveToolName && !chosen.has(name)) chosen.set(name, { ...tool, record });
        else if (!this.#conflicts.has(tool)) {
          this.#conflicts.add(tool);
          onConflict(record, `Tool name "${name}" conflicts with existing tool`);
        }
      }
    return [...chosen.values()];
  }

  /** The extension in whose files an error was thrown, if it can be told. */
  blame(error: unknown): string | undefined {
    return this.#records.find(({ origin }) => cameFrom(error, origin.realPath))?.origin.path;
  }

  #byName<Thing extends object>(things: (record: ExtensionRecord) => ReadonlyMap<string, Thing>) {
    const byName = new Map<string, Owned<Thing>>();
    for (const record of this.#records)
      for (const [name, thing] of things(record)) byName.set(name, { ...thing, record });
    return byName;
  }
}

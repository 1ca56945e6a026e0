// The tools that extensions registered, as the loop sees any tool.

import type { JsonObject } from "../base/json.js";
import type { Log } from "../base/log.js";
import type { AnyTool } from "../tools/tool.js";
import type { CustomTool } from "./custom-tool.js";
import { adaptCustomTool } from "./custom-tool-adapter.js";
import type { ToolDefinition } from "./extension.js";
import { type ContextParts, createExtensionContext } from "./extension-context.js";
import type { RegisteredTool } from "./extension-record.js";
import type { Owned } from "./extension-registry.js";
import { runAsGuest } from "./load-guard.js";

export interface ExtensionTool {
  readonly tool: AnyTool;
  /** What it says of itself beyond what the loop needs: how it is drawn, what the system prompt may say of it. */
  readonly definition: ToolDefinition;
  readonly path: string;
  readonly startsActive: boolean;
}

export function adaptExtensionTool(
  { definition, schema, record }: Owned<RegisteredTool>,
  parts: ContextParts & { readonly log: Log },
): ExtensionTool {
  const { log } = parts;
  const { path, realPath } = record.origin;
  const { prepareArguments, hidden, defaultInactive } = definition;
  const tool = adaptCustomTool(
    // By `isDefinition` the adapter knows in which order this one takes its arguments.
    { tool: definition as unknown as CustomTool, resolvedPath: realPath, schema, isDefinition: true },
    { log, createContext: (call) => createExtensionContext(parts, call) },
  );
  return {
    tool: prepareArguments
      ? {
          ...tool,
          prepareArguments: (args: JsonObject) =>
            runAsGuest({ path: realPath, log }, () => prepareArguments.call(definition, args)),
        }
      : tool,
    definition,
    path,
    startsActive: !hidden && !defaultInactive,
  };
}

/** A tool of an extension takes the place of a built-in one of the same name. */
export function withExtensionTools(
  builtIn: readonly AnyTool[],
  extensions: readonly ExtensionTool[],
  log: Log,
): AnyTool[] {
  const byName = new Map(extensions.map((one) => [one.tool.name, one]));
  for (const { name } of builtIn) {
    const other = byName.get(name);
    if (other) log.warn(`${other.path} replaces the built-in tool "${name}"`);
  }
  const kept = builtIn.map((tool) => byName.get(tool.name)?.tool ?? tool);
  const names = new Set(builtIn.map(({ name }) => name));
  return [...kept, ...extensions.filter(({ tool }) => !names.has(tool.name)).map(({ tool }) => tool)];
}

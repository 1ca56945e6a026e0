// The tools that extensions registered, as the loop sees any tool.

import type { JsonObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { AnyTool } from "../../tools/tool.js";
import { runGuarded } from "../load/load-guard.js";
import type { CustomTool } from "./custom-tool.js";
import { adaptCustomTool, logThrown } from "./custom-tool-adapter.js";
import type { ToolDefinition } from "./extension.js";
import { type ContextDeps, createExtensionContext } from "./extension-context.js";
import type { RegisteredTool } from "./extension-registrations.js";
import type { Owned } from "./extension-registry.js";

export interface ExtensionTool {
  readonly tool: AnyTool;
  /** What it says about itself beyond what the loop needs: how it is drawn, what the system prompt may say about it. */
  readonly definition: ToolDefinition;
  readonly path: string;
  readonly startsActive: boolean;
}

export function adaptExtensionTool(
  { definition, schema, extension }: Owned<RegisteredTool>,
  deps: ContextDeps & { readonly log: Log },
): ExtensionTool {
  const { log } = deps;
  const { path, realPath } = extension.origin;
  const { prepareArguments, hidden, defaultInactive } = definition;
  const tool = adaptCustomTool(
    // `isDefinition` tells the adapter in which order this one takes its arguments.
    { tool: definition as unknown as CustomTool, resolvedPath: realPath, schema, isDefinition: true },
    { log, createContext: (call) => createExtensionContext(deps, call) },
  );
  const prepare = prepareArguments && {
    prepareArguments(args: JsonObject) {
      try {
        return runGuarded({ path: realPath, log }, () => prepareArguments.call(definition, args));
      } catch (thrown) {
        logThrown({ tool: definition, resolvedPath: realPath }, { what: "prepareArguments of", thrown, log });
        throw thrown; // the model reads the message
      }
    },
  };
  return {
    tool: { ...tool, ...promptTexts(definition), ...prepare },
    definition,
    path,
    startsActive: !hidden && !defaultInactive,
  };
}

function promptTexts({ promptSnippet, promptGuidelines }: ToolDefinition) {
  const rules = Array.isArray(promptGuidelines) ? promptGuidelines.filter((rule) => typeof rule === "string") : [];
  return {
    ...(typeof promptSnippet === "string" ? { promptSnippet } : {}),
    ...(rules.length > 0 ? { promptGuidelines: rules } : {}),
  };
}

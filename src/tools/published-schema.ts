// A schema as models see it: bounds that only protect us from absurd arguments are left out, because every byte is sent
// with every request.

import { isObject, type JsonObject, type JsonSchema } from "../base/json.js";
import type { AnyTool } from "./tool.js";

const guards = new Set(["maxLength", "maxItems", "minItems", "minimum", "maximum", "pattern"]);

/** Made when it is first asked for, which is with the first request. */
export function published(tool: AnyTool, more: Partial<AnyTool> = {}): AnyTool {
  let made: JsonSchema | undefined;
  return {
    ...tool,
    ...more,
    /** It may depend on the working mode. */
    get description() {
      return tool.description;
    },
    get published() {
      made ??= withoutGuards(tool.published ?? tool.parameters) as JsonSchema;
      return made;
    },
  };
}

function withoutGuards(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(schema))
    if (!guards.has(key)) kept[key] = key === "properties" ? eachProperty(value) : withoutGuards(value);
  return kept;
}

/** Here the keys are names of arguments: one may well be called `pattern`. */
function eachProperty(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  const kept: JsonObject = {};
  for (const [name, schema] of Object.entries(properties)) kept[name] = withoutGuards(schema);
  return kept;
}

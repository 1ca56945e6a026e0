// A schema as models see it: bounds that only protect us from absurd arguments are left out, because every byte is sent
// with every request.

import type { JsonSchema } from "../base/json.js";
import { isObject } from "../base/json.js";
import type { AnyTool } from "./tool.js";

const guards = new Set(["maxLength", "maxItems", "minItems", "minimum", "maximum", "pattern"]);

export function published(tool: AnyTool): AnyTool {
  return { ...tool, published: withoutGuards(tool.published ?? tool.parameters) as JsonSchema };
}

function withoutGuards(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => !guards.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "properties" ? eachProperty(value) : withoutGuards(value)]),
  );
}

/** Here the keys are names of arguments: one may well be called `pattern`. */
function eachProperty(properties: unknown): unknown {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, withoutGuards(schema)]));
}

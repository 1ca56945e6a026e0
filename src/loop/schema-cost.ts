// Which schemas may take too long to check: those with regular expressions, which may backtrack without end, and those
// whose references may double the work with every step.

import type { JsonSchema } from "../base/json.js";

const known = new WeakMap<JsonSchema, boolean>();
const references = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** Computed once for each schema. */
export function isCostlySchema(schema: JsonSchema): boolean {
  if (typeof schema !== "object" || schema === null) return false; // a host may pass anything as a schema
  const answer = known.get(schema) ?? findCost(schema);
  known.set(schema, answer);
  return answer;
}

function findCost(schema: JsonSchema): boolean {
  const parts = new Set<object>([schema]); // a walk over a set reaches what joins it meanwhile, and nothing twice
  for (const part of parts)
    for (const [key, value] of Object.entries(part)) {
      if (key === "pattern" && isCostlyExpression(value)) return true;
      if (references.has(key) && typeof value === "string") return true;
      if (typeof value !== "object" || value === null) continue;
      if (key === "patternProperties" && Object.keys(value).some(isCostlyExpression)) return true;
      parts.add(value);
    }
  return false;
}

/** Without repetition, options and alternatives there is only one way to match, so no backtracking. */
function isCostlyExpression(pattern: unknown): boolean {
  const source = pattern instanceof RegExp ? pattern.source : pattern;
  return typeof source === "string" && /[*+?{|]/.test(source);
}

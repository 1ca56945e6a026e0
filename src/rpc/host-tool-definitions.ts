// The definitions of the tools that a host lends, checked and trimmed. The session decides which names are allowed.

import { GalleyError } from "../base/errors.js";
import { isObject, type JsonSchema } from "../base/json.js";
import { toolSchemaOf } from "../sdk/extensions/tool-schema.js";

export interface HostToolDefinition {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly hidden: boolean;
  readonly timeoutMs: number | undefined;
}

/** Throws `invalid_argument` with the sentence for the host. */
export function readHostTools(values: readonly unknown[]): HostToolDefinition[] {
  return values.map(readHostTool);
}

function readHostTool(value: unknown, index: number): HostToolDefinition {
  const given = isObject(value) ? value : {};
  const name = trimmed(given.name);
  if (name === "") refuse(`Host tool at index ${index} must provide a non-empty name`);
  const description = trimmed(given.description);
  if (description === "") refuse(`Host tool "${name}" must provide a non-empty description`);
  if (!isObject(given.parameters)) refuse(`Host tool "${name}" must provide a JSON Schema object`);
  const timeoutMs = given.timeoutMs ?? undefined;
  // A limit that is not understood must not become no limit.
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0))
    refuse(`Host tool "${name}" must provide a positive number as timeoutMs`);
  return {
    name,
    description,
    label: trimmed(given.label) || name,
    parameters: toolSchemaOf({ name, parameters: given.parameters }).json,
    hidden: given.hidden === true,
    timeoutMs,
  };
}

function trimmed(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function refuse(sentence: string): never {
  throw new GalleyError("invalid_argument", sentence);
}

// Checks a model's arguments against a tool's JSON Schema, forgiving what models commonly get wrong: null for an
// optional member, a number or an object written as a string, a default left out.

import { Compile, type Validator } from "typebox/compile";
import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject, type JsonSchema } from "../base/json.js";

export type ValidationResult = { ok: true; args: JsonObject } | { ok: false; text: string };

const maxPasses = 5;
const compiled = new WeakMap<JsonSchema, Validator>();

export function validateArguments(toolName: string, schema: JsonSchema, received: unknown): ValidationResult {
  let validator: Validator;
  try {
    validator = validatorFor(schema);
  } catch (error) {
    return { ok: false, text: `Tool "${toolName}" has an unusable parameter schema: ${messageOf(error)}` };
  }
  const value: unknown = tidy(schema, structuredClone(received));
  for (let pass = 0; !validator.Check(value); pass++) {
    const errors = [...validator.Errors(value)];
    const repaired = pass < maxPasses && errors.some((error) => repair(value, error));
    if (!repaired) return { ok: false, text: failureText(toolName, errors, received) };
  }
  if (!isObject(value)) return { ok: false, text: failureText(toolName, [mustBeObject], received) };
  return { ok: true, args: value };
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  message: string;
  params: unknown;
}

const mustBeObject: SchemaError = { keyword: "type", instancePath: "", message: "must be object", params: {} };

function validatorFor(schema: JsonSchema): Validator {
  const known = compiled.get(schema);
  if (known) return known;
  const made = Compile(schema) as Validator;
  compiled.set(schema, made);
  return made;
}

/** Drops nulls of optional members and fills in defaults, along the schema's own `properties`. */
function tidy(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = tidy(schema.items, item);
    return value;
  }
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, property] of Object.entries(schema.properties)) {
    const isAbsent = !Object.hasOwn(value, name);
    if (!isAbsent && !required.includes(name) && (value[name] === null || value[name] === "null")) {
      if (!allowsNull(property)) delete value[name];
    }
    if (!Object.hasOwn(value, name)) {
      if (isObject(property) && property.default !== undefined) value[name] = structuredClone(property.default);
      continue;
    }
    value[name] = tidy(property, value[name]);
  }
  return value;
}

function allowsNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (schema.type === "null" || (Array.isArray(schema.type) && schema.type.includes("null"))) return true;
  return [schema.anyOf, schema.oneOf].some((branches) => Array.isArray(branches) && branches.some(allowsNull));
}

/** A string that holds JSON of the expected type becomes that value. True if something changed. */
function repair(root: unknown, error: SchemaError): boolean {
  if (error.keyword !== "type" || error.instancePath === "") return false;
  const path = error.instancePath.slice(1).split("/").map(unescapePointer);
  const last = path.pop() as string;
  let holder = root;
  for (const step of path) holder = (holder as JsonObject | undefined)?.[step];
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, last)) return false;
  const text = (holder as JsonObject)[last];
  if (typeof text !== "string") return false;
  const expected = isObject(error.params) ? [error.params.type].flat() : [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return false; // ordinary text, and the error stands
  }
  if (!expected.some((type) => isOfType(parsed, type))) return false;
  (holder as JsonObject)[last] = parsed;
  return true;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function unescapePointer(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function failureText(toolName: string, errors: readonly SchemaError[], received: unknown): string {
  const lines = errors
    .filter((error) => error.keyword !== "boolean") // repeats "must not have additional properties" per member
    .map((error) => `  - ${error.instancePath.slice(1).replaceAll("/", ".") || "root"}: ${describe(error)}`);
  const unique = [...new Set(lines)];
  return `Validation failed for tool "${toolName}":\n${unique.join("\n")}\n\nReceived arguments:\n${JSON.stringify(received, null, 2)}`;
}

/** Names what the plain sentence leaves out. */
function describe({ keyword, message, params }: SchemaError): string {
  if (!isObject(params)) return message;
  if (keyword === "additionalProperties" && Array.isArray(params.additionalProperties))
    return `${message}: ${params.additionalProperties.join(", ")}`;
  if (keyword === "enum" && Array.isArray(params.allowedValues))
    return `${message}: ${params.allowedValues.map((value) => JSON.stringify(value)).join(", ")}`;
  return message;
}

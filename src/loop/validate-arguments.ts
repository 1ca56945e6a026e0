// Checks a model's arguments against a tool's JSON Schema, forgiving what models commonly get wrong: null for an
// optional member, a number or an object written as a string, a default left out. Never throws, and never holds the
// process longer than its limit.

import { Compile, type Validator } from "typebox/compile";
import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject, type JsonSchema } from "../base/json.js";
import { runWithin } from "../base/time-limit.js";
import { isCostlySchema } from "./schema-cost.js";

export type ValidationResult = { ok: true; args: JsonObject } | { ok: false; text: string };

const maxPasses = 5;
/** For one call. The event loop is blocked for that time. */
const maxCheckMs = 500;
const compiled = new WeakMap<JsonSchema, Validator>();

export function validateArguments(toolName: string, schema: JsonSchema, received: unknown): ValidationResult {
  try {
    const { value, errors } = isCostlySchema(schema) ? mendInTime(schema, received) : mend(schema, received);
    if (errors.length === 0 && isObject(value)) return { ok: true, args: value };
    return { ok: false, text: failureText(toolName, errors.length > 0 ? errors : [mustBeObject], received) };
  } catch (error) {
    // A schema with a broken pattern or an endless reference, or arguments deeper than the stack.
    return { ok: false, text: `The arguments of tool "${toolName}" could not be checked: ${messageOf(error)}` };
  }
}

interface Mended {
  value: unknown;
  errors: readonly SchemaError[];
}

function mendInTime(schema: JsonSchema, received: unknown): Mended {
  let mended: Mended = { value: received, errors: [tookTooLong] };
  runWithin(maxCheckMs, () => {
    mended = mend(schema, received);
  });
  return mended;
}

/** A copy made to fit as far as possible, and what still does not. */
function mend(schema: JsonSchema, received: unknown): Mended {
  const validator = validatorFor(schema);
  const root = { value: tidy(schema, structuredClone(received)) };
  for (let pass = 0; !validator.Check(root.value); pass++) {
    const errors: SchemaError[] = validator.Errors(root.value);
    const repaired = pass < maxPasses ? errors.filter((error) => repair(root, error)) : [];
    if (repaired.length === 0) return { value: root.value, errors: errors.length > 0 ? errors : [mismatch] };
    root.value = tidy(schema, root.value); // what came out of a string has not been tidied yet
  }
  return { value: root.value, errors: [] };
}

interface SchemaError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  message: string;
  params: unknown;
}

const mustBeObject: SchemaError = {
  keyword: "type",
  schemaPath: "",
  instancePath: "",
  message: "must be object",
  params: {},
};
/** Some schemas, such as a reference to nowhere, refuse without saying why. */
const mismatch: SchemaError = { ...mustBeObject, keyword: "schema", message: "must match the schema" };
const tookTooLong: SchemaError = {
  ...mismatch,
  message: `could not be checked within ${maxCheckMs} ms; use shorter or simpler values`,
};

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
  if (!isObject(schema)) return schema === true;
  if (schema.type !== undefined) return [schema.type].flat().includes("null");
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  if (schema.const !== undefined) return schema.const === null;
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) return branches.some(allowsNull);
  return schema.allOf === undefined && schema.$ref === undefined; // says nothing about types
}

/** A string that holds JSON of the expected type becomes that value. True if something changed. */
function repair(root: { value: unknown }, error: SchemaError): boolean {
  if (error.keyword !== "type") return false;
  const path = `value${error.instancePath}`.split("/").map(unescapePointer);
  const last = path.pop() as string;
  let holder: unknown = root;
  for (const step of path) holder = (holder as JsonObject | undefined)?.[step];
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, last)) return false;
  const expected = isObject(error.params) ? [error.params.type].flat() : [];
  if (!unwrap(holder as JsonObject, last, expected)) return false;
  // The validator reports only the first few errors: a model that writes one item of a list wrongly often writes all so.
  if (Array.isArray(holder) && error.schemaPath.endsWith("/items"))
    for (let index = Number(last) + 1; index < holder.length; index++) unwrap(holder, index, expected);
  return true;
}

function unwrap(holder: JsonObject | unknown[], key: string | number, expected: readonly unknown[]): boolean {
  const place = holder as JsonObject;
  const text = place[key];
  if (typeof text !== "string") return false;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return false; // ordinary text, and the error stands
  }
  if (!expected.some((type) => isOfType(parsed, type))) return false;
  place[key] = parsed;
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
  const telling = errors.filter((error) => error.keyword !== "boolean"); // it repeats "additional properties" per member
  const lines = (telling.length > 0 ? telling : errors).map(
    (error) => `  - ${error.instancePath.slice(1).replaceAll("/", ".") || "root"}: ${describe(error)}`,
  );
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

// A tool's parameters, whichever library described them, as the JSON Schema that models and our own check understand.
// Done once, when the tool is loaded.

import { GalleyError, messageOf } from "../../base/errors.js";
import { isObject, type JsonObject, type JsonSchema } from "../../base/json.js";

export interface ToolSchema {
  readonly json: JsonSchema;
  /** The library's own check, after ours: it applies what JSON Schema cannot say. Throws a sentence for the model. */
  validate?(params: unknown): Promise<unknown>;
}

const maxSchemaBytes = 256 * 1024;
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** Throws `invalid_argument`, naming the tool. */
export function toToolSchema(toolName: string, parameters: unknown): ToolSchema {
  try {
    const standard = standardOf(parameters);
    const json = asObjectSchema(plainCopy(standard ? standard.toJson() : parameters));
    return { json, ...(standard?.validate ? { validate: standard.validate } : {}) };
  } catch (error) {
    throw new GalleyError(
      "invalid_argument",
      `Tool "${toolName}" has parameters that cannot be turned into JSON Schema: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

interface Standard {
  toJson(): unknown;
  validate?(params: unknown): Promise<unknown>;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Libraries that follow the Standard Schema convention: zod, arktype and others. */
function standardOf(schema: unknown): Standard | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  const own = schema as { "~standard"?: unknown; toJsonSchema?: unknown; toJSONSchema?: unknown };
  const standard = own["~standard"];
  if (!isObject(standard)) return undefined;
  const converter = isObject(standard.jsonSchema) ? standard.jsonSchema.input : undefined;
  const method = own.toJsonSchema ?? own.toJSONSchema;
  return {
    toJson() {
      if (typeof converter === "function")
        return (converter as AnyFunction).call(standard.jsonSchema, { target: "draft-2020-12" });
      if (typeof method === "function") return (method as AnyFunction).call(schema);
      throw new Error(`this version of ${String(standard.vendor)} cannot describe its schemas as JSON Schema`);
    },
    ...(typeof standard.validate === "function"
      ? { validate: async (params) => validated(await (standard.validate as AnyFunction)(params)) }
      : {}),
  };
}

function validated(outcome: unknown): unknown {
  if (!isObject(outcome) || !Array.isArray(outcome.issues)) return isObject(outcome) ? outcome.value : outcome;
  const lines = outcome.issues.map((issue: unknown) => {
    const { path, message }: JsonObject = isObject(issue) ? issue : {};
    const steps = Array.isArray(path) ? path.map((step) => String(isObject(step) ? step.key : step)) : [];
    return `  - ${steps.join(".") || "root"}: ${String(message)}`;
  });
  throw new GalleyError("tool_failed", `Validation failed:\n${lines.join("\n")}`);
}

/** Only what JSON can say: TypeBox keeps its own marks in symbols and in members that begin with `~`. */
function plainCopy(schema: unknown): unknown {
  if (!isObject(schema)) throw new Error("they are neither a schema nor an object");
  const text = JSON.stringify(schema, (key, value) => {
    if (typeof value === "function" || typeof value === "bigint")
      throw new Error(`"${key}" is a ${typeof value}, which JSON cannot hold`);
    return key.startsWith("~") ? undefined : value;
  });
  if (text.length > maxSchemaBytes) throw new Error(`they are longer than ${maxSchemaBytes / 1024} KiB`);
  return JSON.parse(text);
}

/** Arguments are always an object, so saying so changes nothing; model APIs insist on it. */
function asObjectSchema(schema: unknown): JsonSchema {
  if (!isObject(schema)) throw new Error("they are not an object");
  const { type = "object", $schema: _, ...rest } = schema;
  if (type !== "object") throw new Error(`they describe ${JSON.stringify(type)} instead of an object`);
  checkTypes(rest, "");
  return { type, ...rest };
}

const listsOfSchemas = ["anyOf", "oneOf", "allOf", "prefixItems"];
const schemas = ["items", "additionalProperties", "not"];
const tablesOfSchemas = ["properties", "patternProperties", "$defs", "definitions"];

/** Some libraries have types of their own (`Date`, `bigint`, `Function`), which no model and no check understands. */
function checkTypes(schema: unknown, place: string): void {
  if (!isObject(schema)) return;
  for (const type of [schema.type].flat())
    if (type !== undefined && !types.includes(type as string))
      throw new Error(`${place || "root"} has the type ${JSON.stringify(type)}`);
  for (const keyword of listsOfSchemas)
    if (Array.isArray(schema[keyword])) for (const part of schema[keyword]) checkTypes(part, place);
  for (const keyword of schemas) checkTypes(schema[keyword], place ? `${place}.${keyword}` : keyword);
  for (const keyword of tablesOfSchemas)
    if (isObject(schema[keyword]))
      for (const [name, part] of Object.entries(schema[keyword])) checkTypes(part, place ? `${place}.${name}` : name);
}

// The run-time check of a command: an interpreter for the few JSON Schema keywords that the command schemas use, over
// plain data, so that the server starts without a schema library. What it returns is a fresh object that holds the
// known members only.

import { isObject, type JsonObject } from "../base/json.js";
import schemas from "./command-schemas.json" with { type: "json" };
import type { RpcCommand, RpcCommandType } from "./commands.js";

export type CheckedCommand =
  | { ok: true; command: RpcCommand }
  | { ok: false; kind: "unknown"; type: string }
  /** `problem` is the whole sentence for the host. */
  | { ok: false; kind: "invalid"; type: RpcCommandType; problem: string };

/**
 * Never throws for what JSON.parse returned. Members sent as `null` count as absent where they may be absent and null has
 * no meaning of its own. `id` is not part of the result. The frame reader has bounded the nesting, so recursion here is
 * bounded too.
 */
export function checkCommand(frame: JsonObject): CheckedCommand {
  const type = typeof frame.type === "string" ? frame.type : "";
  const schema = schemaOf(type);
  if (schema === undefined) return { ok: false, kind: "unknown", type };
  const command = copyAs(schema, frame);
  if (!(command instanceof Misfit)) return { ok: true, command: command as RpcCommand };
  const problem = `Invalid ${type}: ${command.path.slice(1)} must be ${command.expectation}`;
  return { ok: false, kind: "invalid", type: type as RpcCommandType, problem };
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly expectation?: string;
}

/** Those that were asked for. A Map, because a host may well send the type "constructor". */
const schemaByType = new Map<string, Schema>();

function schemaOf(type: string): Schema | undefined {
  const known = schemaByType.get(type);
  if (known || !Object.hasOwn(schemas, type)) return known;
  const schema: Schema = schemas[type as RpcCommandType];
  schemaByType.set(type, schema);
  return schema;
}

const neverCopied: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Where a value does not fit its schema. The path is built while returning, so a valid frame costs nothing. */
class Misfit {
  constructor(
    readonly path: string,
    readonly expectation: string | undefined,
  ) {}
}

/** A copy of the value, or the misfit to report. */
function copyAs(schema: Schema, value: unknown): unknown {
  if (schema.anyOf) return copyAsAny(schema, schema.anyOf, value);
  if ("const" in schema) return value === schema.const ? value : ownMisfit(schema);
  if (schema.type === undefined) return copyOpen(value);
  if (schema.type === "array") return Array.isArray(value) ? copyItems(schema, value) : ownMisfit(schema);
  if (schema.type === "object") return isObject(value) ? copyMembers(schema, value) : ownMisfit(schema);
  return fitsScalar(schema, value) ? value : ownMisfit(schema);
}

function copyAsAny(schema: Schema, choices: readonly Schema[], value: unknown): unknown {
  for (const choice of choices) {
    const copy = copyAs(choice, value);
    if (!(copy instanceof Misfit)) return copy;
  }
  return ownMisfit(schema);
}

function copyItems(schema: Schema, values: readonly unknown[]): unknown {
  const copies: unknown[] = [];
  for (const [index, value] of values.entries()) {
    const copy = copyAs(schema.items ?? {}, value);
    if (copy instanceof Misfit) return misfitBelow(schema, `[${index}]`, copy);
    copies.push(copy);
  }
  return copies;
}

function copyMembers(schema: Schema, value: JsonObject): unknown {
  const copy: JsonObject = {};
  for (const [key, memberSchema] of memberSchemas(schema, value)) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined;
    const hasMeaning = schema.patternProperties !== undefined || takesNull(memberSchema);
    const isAbsent = member === undefined || (member === null && !hasMeaning);
    if (isAbsent && !schema.required?.includes(key)) continue;
    const memberCopy = copyAs(memberSchema, member);
    if (memberCopy instanceof Misfit) return misfitBelow(schema, `.${key}`, memberCopy);
    copy[key] = memberCopy;
  }
  return copy;
}

function takesNull({ anyOf = [] }: Schema): boolean {
  return anyOf.some(({ type }) => type === "null");
}

/** A record has one schema for whatever keys it holds; any other object has the members it names. */
function memberSchemas(schema: Schema, value: JsonObject): [string, Schema][] {
  const forAll = schema.patternProperties?.["^.*$"];
  if (forAll === undefined) return Object.entries(schema.properties ?? {});
  return Object.keys(value)
    .filter((key) => !neverCopied.has(key))
    .map((key) => [key, forAll]);
}

function fitsScalar(schema: Schema, value: unknown): boolean {
  const isAtLeastMinimum = (number: number) => schema.minimum === undefined || number >= schema.minimum;
  switch (schema.type) {
    case "string":
      return typeof value === "string" && (schema.pattern === undefined || new RegExp(schema.pattern).test(value));
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number" && Number.isFinite(value) && isAtLeastMinimum(value);
    case "integer":
      return typeof value === "number" && Number.isInteger(value) && isAtLeastMinimum(value);
    default:
      return value === null;
  }
}

function ownMisfit(schema: Schema): Misfit {
  return new Misfit("", schema.expectation);
}

/** The deepest schema with an expectation words the failure. */
function misfitBelow(schema: Schema, step: string, below: Misfit): Misfit {
  return below.expectation === undefined ? ownMisfit(schema) : new Misfit(step + below.path, below.expectation);
}

/** A copy of a value that is checked elsewhere, without the keys that reach a prototype. */
export function copyOpen(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOpen);
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) if (!neverCopied.has(key)) copy[key] = copyOpen(member);
  return copy;
}

// The wire shapes as plain JSON: one JSON Schema document for other languages, and the command schemas that the
// server checks frames against. Only the build and the tests load this file; it needs the schema library.

import type { TSchema } from "typebox";
import { isObject, type JsonObject, type JsonSchema } from "../base/json.js";
import * as commands from "./commands.js";
import * as content from "./content.js";
import * as data from "./data.js";
import * as entries from "./entries.js";
import * as events from "./events.js";
import * as frames from "./frames.js";
import * as messages from "./messages.js";
import * as model from "./model.js";
import * as pending from "./pending.js";
import * as todos from "./todos.js";

const { commandSchemaByType, ...commandShapes } = commands;
const { RpcData: _dataByCommand, ...dataShapes } = data;
const shapes: Record<string, TSchema> = {
  ...content,
  ...messages,
  ...model,
  ...todos,
  ...pending,
  ...events,
  ...entries,
  ...commandShapes,
  ...dataShapes,
  ...frames,
  ...Object.fromEntries(Object.entries(commandSchemaByType).map(([type, schema]) => [commandName(type), schema])),
};

/**
 * Every exported shape under its name, each written once and referred to everywhere else. Sorted: the order in which a
 * module lists its exports depends on who loads it.
 */
export function protocolSchema(version: string): JsonSchema {
  const names = Object.keys(shapes).sort();
  const plain = names.map((name) => [name, plainSchema(shapes[name] as TSchema)] as const);
  const nameByShape = new Map(plain.map(([name, schema]) => [JSON.stringify(schema), name]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:galley:protocol:${version}`,
    title: "galley RPC frames and session entries",
    anyOf: [reference("InboundFrame"), reference("OutboundFrame")],
    $defs: Object.fromEntries(
      plain.map(([name, schema]) => [name, mapValues(schema, (value) => refer(value, nameByShape))]),
    ),
  };
}

/** By command type, without `id`: the dispatcher reads that one before anything is checked. */
export function commandSchemas(): Record<string, JsonSchema> {
  return mapValues(commandSchemaByType, (schema) => {
    const { id: _, ...properties } = schema.properties;
    return plainSchema({ ...schema, properties });
  });
}

/** JSON leaves the library's hidden marks behind. A shape that contains itself loses its private frame here. */
function plainSchema(schema: TSchema): JsonObject {
  const plain: JsonObject = JSON.parse(JSON.stringify(schema));
  if (!isObject(plain.$defs) || typeof plain.$ref !== "string") return plain;
  const { $id: _, ...inner } = plain.$defs[plain.$ref] as JsonObject;
  return inner;
}

function refer(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => refer(item, names));
  if (!isObject(value)) return value;
  if (typeof value.$ref === "string") return reference(value.$ref);
  const name = names.get(JSON.stringify(value));
  return name === undefined ? mapValues(value, (member) => refer(member, names)) : reference(name);
}

function reference(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}

function mapValues<Value, Result>(record: Record<string, Value>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)])) as Record<
    string,
    Result
  >;
}

function commandName(type: string): string {
  return `${type.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Command`;
}

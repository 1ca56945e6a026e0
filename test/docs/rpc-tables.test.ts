// The tables of docs/rpc.md are the schemas', and the check that says so can fail.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
// @ts-expect-error: a plain script without types
import { fillTables as untypedFill, currentSchema as untypedSchema } from "../../scripts/rpc-tables.mjs";
import type { JsonSchema } from "../../src/base/json.js";
import { protocolSchema } from "../../src/protocol/schema.js";

const fillTables = untypedFill as (page: string, schema: JsonSchema) => string;
const currentSchema = untypedSchema as () => Promise<JsonSchema>;
const page = readFileSync(new URL("../../docs/rpc.md", import.meta.url), "utf8");
const schema = protocolSchema("0.0.0");

it("the page is up to date", () => {
  expect(fillTables(page, schema) === page, "docs/rpc.md is old: npm run docs").toBe(true);
});

it("the schema document is the same however the sources are loaded, with definitions in order", async () => {
  const bundled = await currentSchema();
  expect(JSON.stringify(bundled)).toBe(JSON.stringify(schema));
  const names = Object.keys(schema.$defs as object);
  expect(names).toEqual([...names].sort());
});

it("a changed cell, a changed schema, a lost region and an unknown one are noticed", () => {
  const altered = page.replace(
    "| `get_session_stats` | none | SessionStats |",
    "| `get_session_stats` | none | none |",
  );
  expect(altered).not.toBe(page);
  expect(fillTables(altered, schema)).toBe(page);
  const shapes = schema.$defs as Record<string, JsonSchema>;
  const { Usage: usage } = shapes as { Usage: JsonSchema };
  const more = { ...usage, properties: { ...(usage.properties as object), mood: { type: "string" } } };
  expect(fillTables(page, { ...schema, $defs: { ...shapes, Usage: more } })).toContain("`mood?` string");
  expect(() => fillTables(page.replace("generated: shapes", "written: shapes"), schema)).toThrow(
    "no region for: shapes",
  );
  expect(() => fillTables(page.replace("generated: shapes", "generated: spells"), schema)).toThrow("called spells");
});

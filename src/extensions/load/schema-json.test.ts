import { Type as Old } from "@sinclair/typebox";
import Type from "typebox";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toToolSchema } from "./schema-json.js";

const expected = {
  type: "object",
  properties: { path: { type: "string" }, limit: { type: "number", default: 5 } },
  required: ["path"],
};

describe("the same parameters, from every library", () => {
  it("plain JSON Schema", () => {
    expect(toToolSchema("t", expected).json).toEqual(expected);
  });

  it("TypeBox 1", () => {
    const schema = Type.Object({ path: Type.String(), limit: Type.Optional(Type.Number({ default: 5 })) });
    expect(toToolSchema("t", schema)).toEqual({ json: expected });
  });

  it("TypeBox 0.34", () => {
    const schema = Old.Object({ path: Old.String(), limit: Old.Optional(Old.Number({ default: 5 })) });
    expect(toToolSchema("t", schema)).toEqual({ json: expected });
  });

  it("zod 4, whose own check runs as well", async () => {
    const schema = z.object({ path: z.string().refine((path) => path !== "x", "no x"), limit: z.number().default(5) });
    const { json, validate } = toToolSchema("t", schema);
    expect(json).toEqual(expected);
    expect(await validate?.({ path: "a" })).toEqual({ path: "a", limit: 5 });
    await expect(validate?.({ path: "x", limit: "y" })).rejects.toThrow(
      "Validation failed:\n  - path: no x\n  - limit: Invalid input: expected number, received string",
    );
  });

  it("arktype, and any library that follows the same convention", async () => {
    const ark = Object.assign(() => {}, {
      "~standard": { version: 1, vendor: "arktype", validate: (value: unknown) => ({ value }) },
      toJsonSchema: () => ({ $schema: "https://json-schema.org/draft/2020-12/schema", ...expected }),
    });
    const { json, validate } = toToolSchema("t", ark);
    expect(json).toEqual(expected);
    expect(await validate?.({ a: 1 })).toEqual({ a: 1 });
  });
});

it("says that arguments are an object where the schema does not", () => {
  expect(toToolSchema("t", {}).json).toEqual({ type: "object" });
  const union = Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]);
  expect(toToolSchema("t", union).json).toMatchObject({ type: "object", anyOf: [{}, {}] });
});

it.each([
  ["an array", [], "they are neither a schema nor an object"],
  ["another type", { type: "string" }, 'they describe "string" instead of an object'],
  ["a TypeBox type that JSON does not have", Old.Object({ at: Old.Date() }), 'at has the type "Date"'],
  [
    "one deeper",
    Old.Object({ list: Old.Array(Old.Object({ n: Old.BigInt() })) }),
    'list.items.n has the type "bigint"',
  ],
  ["a zod type that JSON does not have", z.object({ at: z.date() }), "Date cannot be represented in JSON Schema"],
  [
    "a library that cannot describe itself",
    { "~standard": { vendor: "old", validate() {} } },
    "this version of old cannot describe its schemas as JSON Schema",
  ],
  ["too much", { description: "x".repeat(300_000) }, "they are longer than 256 KiB"],
])("names the tool when it cannot be done: %s", (_title, parameters, reason) => {
  expect(() => toToolSchema("my_tool", parameters)).toThrow(
    `Tool "my_tool" has parameters that cannot be turned into JSON Schema: ${reason}`,
  );
});

it("a cycle is an error too", () => {
  const schema: Record<string, unknown> = {};
  schema.properties = { self: schema };
  expect(() => toToolSchema("my_tool", schema)).toThrow(/Tool "my_tool" has parameters/);
});

// Checking a model's arguments: what is right passes as it is, common slips are mended, and nothing makes it throw.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import type { JsonSchema } from "../base/json.js";
import { validateArguments } from "./validate-arguments.js";

const object = (properties: Record<string, unknown>, ...required: string[]): JsonSchema => ({
  type: "object",
  properties,
  required,
});

/** Each definition asks twice for the next one. */
function doubling(steps: number): JsonSchema {
  const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
  const $defs = Object.fromEntries(Array.from({ length: steps }, (_, step) => [`a${step}`, twice(`a${step + 1}`)]));
  return { ...object({ m: { $ref: "#/$defs/a0" } }), $defs: { ...$defs, [`a${steps}`]: { type: "string" } } };
}

const tooLong = "could not be checked within 500 ms; use shorter or simpler values";

function argsOf(schema: JsonSchema, received: unknown): unknown {
  const result = validateArguments("work", schema, received);
  return result.ok ? result.args : result.text;
}

describe("validateArguments", () => {
  it("says what is wrong, where, and what came", () => {
    const schema = {
      ...object({ path: { type: "string" }, mode: { enum: ["a", "b"] }, at: object({ line: { minimum: 1 } }) }, "path"),
      additionalProperties: false,
    };
    expect(argsOf(schema, { mode: "c", at: { line: 0 }, extra: true })).toBe(
      [
        'Validation failed for tool "work":',
        "  - root: must have required properties path",
        "  - root: must not have additional properties: extra",
        '  - mode: must be equal to one of the allowed values: "a", "b"',
        "  - at.line: must be >= 1",
        "",
        "Received arguments:",
        JSON.stringify({ mode: "c", at: { line: 0 }, extra: true }, null, 2),
      ].join("\n"),
    );
  });

  it.each([[[1]], [null], [7], ["text"], [undefined]])("refuses %j: arguments are an object", (received) => {
    expect(argsOf({}, received)).toContain("  - root: must be object");
  });

  it("names at least one problem whatever the schema", () => {
    expect(argsOf(object({ a: false }), { a: 1 })).toMatch(/^Validation failed for tool "work":\n {2}- \S/);
    expect(argsOf(object({ a: { $ref: "#/nowhere" } }), { a: 1 })).toMatch(/":\n {2}- \S/);
  });

  describe("mends", () => {
    it.each<[string, JsonSchema, unknown, unknown]>([
      ["numbers", object({ n: { type: "number" } }), { n: "5.5" }, { n: 5.5 }],
      ["integers", object({ n: { type: "integer" } }), { n: "5" }, { n: 5 }],
      ["booleans", object({ b: { type: "boolean" } }), { b: "true" }, { b: true }],
      ["lists", object({ l: { type: "array" } }), { l: "[1]" }, { l: [1] }],
      ["one of several types", object({ v: { type: ["number", "null"] } }, "v"), { v: "null" }, { v: null }],
      ["a branch", object({ v: { anyOf: [{ type: "number" }, { type: "array" }] } }), { v: "[1]" }, { v: [1] }],
      ["the whole object", object({ a: { type: "string" } }), '{"a":"x"}', { a: "x" }],
      ["members with a slash", object({ "a/b~c": { type: "number" } }), { "a/b~c": "1" }, { "a/b~c": 1 }],
      [
        "strings inside strings, nulls included",
        object({ o: object({ n: { type: "number" }, s: { type: "string" } }) }),
        { o: '{"n":"1","s":null}' },
        { o: { n: 1 } },
      ],
    ])("%s written as strings", (_name, schema, received, expected) => {
      expect(argsOf(schema, received)).toEqual(expected);
    });

    it("as many slips as there are in one go", () => {
      const names = [..."abcdefgh"];
      const schema = object(Object.fromEntries(names.map((name) => [name, { type: "number" }])));
      const received = Object.fromEntries(names.map((name) => [name, "1"]));
      expect(argsOf(schema, received)).toEqual(Object.fromEntries(names.map((name) => [name, 1])));
    });

    it("a long list whose items are all written as strings", () => {
      const schema = object({ list: { type: "array", items: { type: "integer" } } });
      const list = Array.from({ length: 900 }, (_, index) => index);
      expect(argsOf(schema, { list: list.map(String) })).toEqual({ list });
    });

    it("but no item of a list that has a shape of its own", () => {
      const schema = object({ list: { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }] } });
      expect(argsOf(schema, { list: ["1", "2"] })).toEqual({ list: [1, "2"] });
    });

    it("but not text that only looks similar", () => {
      expect(argsOf(object({ n: { type: "integer" } }), { n: "5.5" })).toContain("n: must be integer");
      expect(argsOf(object({ n: { type: "number" } }), { n: "five" })).toContain("n: must be number");
      expect(argsOf(object({ s: { type: "string" } }), { s: 5 })).toContain("s: must be string");
    });
  });

  it("fills in defaults, each call its own copy", () => {
    const schema = object({ list: { type: "array", default: [] }, at: object({ line: { default: 1 } }) });
    const first = argsOf(schema, { at: {} }) as { list: unknown[] };
    first.list.push("mine");
    expect(argsOf(schema, { at: {} })).toEqual({ list: [], at: { line: 1 } });
  });

  it("drops null for an optional member, in lists of objects too", () => {
    const item = object({ a: { type: "string" }, b: { type: "string" } }, "b");
    expect(argsOf(object({ list: { type: "array", items: item } }), { list: [{ a: null, b: "x" }] })).toEqual({
      list: [{ b: "x" }],
    });
    expect(argsOf(object({ a: { type: "string" } }), { a: "null" })).toEqual({});
    expect(argsOf(item, { b: null })).toContain("b: must be string");
  });

  it.each([
    [{ type: "null" }],
    [{ type: ["string", "null"] }],
    [{ enum: ["x", null] }],
    [{ const: null }],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }],
    [{}],
    [true],
  ])("keeps null where %j allows it", (property) => {
    expect(argsOf(object({ a: property }), { a: null })).toEqual({ a: null });
  });

  it("leaves what it was given alone", () => {
    const received = { n: "1", gone: null, at: {} };
    argsOf(object({ n: { type: "number" }, gone: { type: "string" }, at: object({ line: { default: 1 } }) }), received);
    expect(received).toEqual({ n: "1", gone: null, at: {} });
  });

  it("reports a schema that cannot be used", () => {
    expect(argsOf(object({ a: { type: "string", pattern: "(" } }), { a: "x" })).toMatch(
      /^The arguments of tool "work" could not be checked: .*regular expression/,
    );
    expect(argsOf({ $ref: "#" }, {})).toMatch(/^The arguments of tool "work" could not be checked: /);
  });

  it.each<[string, JsonSchema, unknown]>([
    ["a pattern", object({ m: { type: "string", pattern: "^([a-z]+)+$" } }), `${"a".repeat(40)}!`],
    ["the pattern of a name", object({ m: { patternProperties: { "^(a+)+$": true } } }), { [`${"a".repeat(40)}!`]: 1 }],
    ["references that double", doubling(40), 1],
  ])("gives up %s that takes too long, and is there for the next call", (_name, schema, m) => {
    expect(argsOf(schema, { m })).toBe(
      `Validation failed for tool "work":\n  - root: ${tooLong}\n\nReceived arguments:\n${JSON.stringify({ m }, null, 2)}`,
    );
    expect(argsOf(schema, {})).toEqual({});
  });

  it("reports arguments that are nested too deep", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    expect(argsOf({ type: "object" }, { deep })).toMatch(/could not be checked/);
  });

  it("never throws, whatever is called a schema", () => {
    const json = fc.jsonValue({ maxDepth: 1 });
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof({ maxDepth: 3 }, json, tie("keywords")),
      keywords: fc.record(
        {
          type: fc.oneof(fc.constantFrom("object", "string", "number", "array", "null", "nonsense"), json),
          properties: fc.oneof(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("schema")), json),
          required: fc.oneof(fc.subarray(["a", "b"]), json),
          items: tie("schema"),
          anyOf: fc.oneof(fc.array(tie("schema"), { maxLength: 2 }), json),
          additionalProperties: tie("schema"),
          enum: json,
          default: json,
          pattern: fc.constantFrom("(", "^a*$"),
          $ref: fc.constantFrom("#/properties/a", "nowhere"),
        },
        { requiredKeys: [] },
      ),
    }));
    const received = fc.oneof(json, fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.oneof(json, fc.json())));
    fc.assert(
      fc.property(schema, received, (any, args) => {
        const result = validateArguments("work", any as JsonSchema, args);
        if (!result.ok) expect(result.text).toContain("work");
      }),
      { numRuns: runs(100) },
    );
  });

  it("passes valid arguments unchanged", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 4 }), valueWithSchema(3), { maxKeys: 4 }), (members) => {
        const properties = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
        const args = Object.fromEntries(Object.entries(members).map(([name, { value }]) => [name, value]));
        expect(validateArguments("work", object(properties), args)).toEqual({ ok: true, args });
      }),
      { numRuns: runs(150) },
    );
  });
});

interface Example {
  schema: unknown;
  value: unknown;
}

/** A value together with a schema that it satisfies. Text "null" stands for nothing, so it is not among them. */
function valueWithSchema(depth: number): fc.Arbitrary<Example> {
  const plain = fc.oneof(
    fc.string().map((value) => ({ schema: { type: "string" }, value: value === "null" ? "" : value })),
    fc.integer().map((value) => ({ schema: { type: "integer" }, value })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ schema: { type: "number" }, value })),
    fc.boolean().map((value) => ({ schema: { type: "boolean" }, value })),
    fc.constant({ schema: { type: ["string", "null"] }, value: null }),
    fc.constantFrom("1", "true", "[]").map((value) => ({ schema: { enum: [value, 1, true] }, value })),
  );
  if (depth === 0) return plain;
  const inner = valueWithSchema(depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: plain },
    {
      weight: 1,
      arbitrary: inner.map(({ schema, value }) => ({
        schema: { type: "array", items: schema },
        value: [value, value],
      })),
    },
    {
      weight: 1,
      arbitrary: inner.map(({ schema, value }) => ({ schema: object({ a: schema }, "a"), value: { a: value } })),
    },
    {
      weight: 1,
      arbitrary: inner.map(({ schema, value }) => ({ schema: { anyOf: [{ type: "null" }, schema] }, value })),
    },
  );
}

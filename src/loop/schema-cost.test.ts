import { expect, it } from "vitest";
import { isCostlySchema } from "./schema-cost.js";

const withMember = (member: unknown) => ({ type: "object", properties: { list: { type: "array", items: member } } });

it.each([
  [{ type: "string", pattern: "^([a-z]+)+$" }],
  [{ type: "string", pattern: "(a|a)(a|a)b" }],
  [{ type: "string", pattern: /a?a/ }],
  [{ type: "object", patternProperties: { "^(x+)+$": true } }],
  [{ type: "object", propertyNames: { pattern: "x{2,}" } }],
  [{ anyOf: [true, { not: { pattern: "a*" } }] }],
  [{ $ref: "#/$defs/a" }],
  [{ $dynamicRef: "#a" }],
])("%j may take long", (member) => {
  expect(isCostlySchema(withMember(member))).toBe(true);
});

it.each([
  [{ type: "string", pattern: "\\S", maxLength: 10 }],
  [{ type: "object", properties: { pattern: { type: "string" }, $ref: { type: "string" } } }],
  [{ type: "object", patternProperties: { "^x-": { type: "string" } } }],
  [{ enum: ["a*", null, 1] }],
  [true],
])("%j does not", (member) => {
  expect(isCostlySchema(withMember(member))).toBe(false);
});

it("is not confused by circles, nor by what is no schema", () => {
  const circle: Record<string, unknown> = { type: "object" };
  circle.properties = { again: circle };
  expect(isCostlySchema(circle)).toBe(false);
  for (const other of [null, undefined, 1, "pattern"]) expect(isCostlySchema(other as never)).toBe(false);
});

import { expect, it } from "vitest";
import { encodeTools, type ToolWriter } from "./encoded-tools.js";
import type { ToolSpec } from "./provider.js";

const spec = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: "Does.",
  parameters: { type: "object" },
  ...more,
});

it("tells what writing everything would tell, however often it is asked", () => {
  const tools = [spec("read"), spec("grep", { strict: true })];
  for (let request = 0; request < 3; request++) expect(encodeTools(tools, plain).toJSON()).toEqual(tools);
  expect(encodeTools([], plain).toJSON()).toEqual([]);
  expect(encodeTools(tools.slice(1), plain).toJSON()).toEqual(tools.slice(1));
});

it("writes a tool once", () => {
  let written = 0;
  const count: ToolWriter = (tool) => {
    written++;
    return tool;
  };
  const { parameters } = spec("read");
  for (let request = 0; request < 3; request++) encodeTools([spec("read", { parameters })], count);
  expect(written).toBe(1);
});

it.each<[string, Partial<ToolSpec>]>([
  ["name", { name: "look" }],
  ["description", { description: "Does more." }],
  ["strictness", { strict: true }],
  ["schema", { parameters: { type: "object", required: ["path"] } }],
])("hears of another %s", (_what, change) => {
  const before = spec("read");
  encodeTools([before], plain);
  const after = { ...before, ...change };
  expect(encodeTools([after], plain).toJSON()).toEqual([after]);
});

it("keeps what different dialects write apart", () => {
  const tool = spec("read");
  expect(encodeTools([tool], plain).toJSON()).toEqual([tool]);
  expect(encodeTools([tool], ({ name }) => ({ function: name })).toJSON()).toEqual([{ function: "read" }]);
});

it("adds to the last one only, and anew each time", () => {
  const tools = [spec("read"), spec("grep")];
  expect(encodeTools(tools, plain, { ttl: "1h" }).toJSON()).toEqual([tools[0], { ...tools[1], ttl: "1h" }]);
  expect(encodeTools(tools, plain, { ttl: "5m" }).toJSON()).toEqual([tools[0], { ...tools[1], ttl: "5m" }]);
  expect(encodeTools(tools, plain).toJSON()).toEqual(tools);
});

function plain(tool: ToolSpec): object {
  return tool;
}

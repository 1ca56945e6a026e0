import Schema from "typebox/schema";
import { describe, expect, test } from "vitest";
import { isObject, type JsonSchema } from "../base/json.js";
import committed from "./command-schemas.json" with { type: "json" };
import { commandSchemaByType } from "./commands.js";
import { RpcData } from "./data.js";
import { commandSchemas, protocolSchema } from "./schema.js";

const document = protocolSchema("1.2.3");
const definitions = document.$defs as Record<string, JsonSchema>;

describe("the JSON Schema document", () => {
  test("is plain JSON and names its dialect and version", () => {
    expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document);
    expect(document.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(document.$id).toBe("urn:galley:protocol:1.2.3");
  });

  test("holds every shape by name, and every reference leads to one", () => {
    const names = ["OutboundFrame", "InboundFrame", "PromptCommand", "GetMessagesPageCommand", "SessionEntry"];
    expect(Object.keys(definitions)).toEqual(expect.arrayContaining([...names, "AgentSessionEvent", "SessionState"]));
    expect(Object.keys(definitions)).not.toContain("commandSchemaByType");
    const references = valuesOf("$ref", document);
    expect(references.length).toBeGreaterThan(100);
    for (const reference of references)
      expect(definitions).toHaveProperty([String(reference).replace(/^#\/\$defs\//, "")]);
  });

  test("accepts good frames, also a shape that contains itself, and refuses bad ones", () => {
    const validator = Schema.Compile(document);
    const entry = { type: "label", id: "e2", parentId: "e1", timestamp: "2026-01-01T00:00:00.000Z" };
    const tree = (leaf: unknown) => ({
      type: "response",
      command: "get_tree",
      success: true,
      data: { tree: [{ entry, children: [{ entry, children: leaf }] }], leafId: null },
    });
    expect(validator.Check(tree([]))).toBe(true);
    expect(validator.Check(tree([{ entry: 1, children: [] }]))).toBe(false);
    expect(validator.Check({ type: "prompt", message: "Hi", somethingNew: 1 })).toBe(true);
    expect(validator.Check({ type: "prompt" })).toBe(false);
    expect(validator.Check({ type: "agent_end", messages: [{ role: "nobody" }], isTerminal: true })).toBe(false);
  });
});

describe("the command schemas", () => {
  test("on disk are the ones the source describes; `npm run build` writes them", () => {
    expect(committed).toStrictEqual(commandSchemas());
  });

  test("stand under their own type, without the id and without references", () => {
    for (const [type, schema] of Object.entries(commandSchemas())) {
      const properties = schema.properties as Record<string, JsonSchema>;
      expect(properties.type?.const).toBe(type);
      expect(properties).not.toHaveProperty("id");
    }
    expect(valuesOf("$ref", commandSchemas())).toEqual([]);
  });

  test("have words for every field", () => {
    for (const [type, schema] of Object.entries(commandSchemas()))
      for (const [field, property] of Object.entries(schema.properties as Record<string, JsonSchema>))
        if (field !== "type") expect(property, `${type}.${field}`).toHaveProperty("expectation");
  });

  test("use only keywords that the run-time check reads", () => {
    const known = ["type", "const", "anyOf", "items", "properties", "required", "patternProperties", "pattern"];
    const keywords = new Set<string>();
    for (const schema of Object.values(commandSchemas())) collectKeywords(schema, keywords);
    expect([...keywords].filter((keyword) => ![...known, "minimum", "expectation"].includes(keyword))).toEqual([]);
    expect(valuesOf("patternProperties", commandSchemas()).map((value) => Object.keys(value as object))).toEqual([
      ["^.*$"],
      ["^.*$"],
    ]);
  });

  test("cover the 31 base commands, and their data is listed in the same order", () => {
    const base = [
      "prompt steer follow_up abort abort_and_prompt new_session get_state set_todos set_host_tools set_model",
      "cycle_model get_available_models set_thinking_level cycle_thinking_level set_steering_mode set_follow_up_mode",
      "set_interrupt_mode compact set_auto_compaction set_auto_retry abort_retry bash abort_bash get_session_stats",
      "export_html switch_session branch get_branch_messages get_last_assistant_text set_session_name get_messages",
    ].flatMap((line) => line.split(" "));
    expect(base).toHaveLength(31);
    expect(Object.keys(commandSchemaByType)).toEqual(expect.arrayContaining(base));
    expect(Object.keys(RpcData)).toEqual(Object.keys(commandSchemaByType));
  });
});

/** Every value that stands under this key, at any depth. */
function valuesOf(key: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(key, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === key ? [member] : []),
    ...valuesOf(key, member),
  ]);
}

/** Member names are not keywords, so `properties` and `patternProperties` are stepped over. */
function collectKeywords(schema: JsonSchema, into: Set<string>): void {
  for (const [keyword, value] of Object.entries(schema)) {
    into.add(keyword);
    const below =
      keyword === "properties" || keyword === "patternProperties" ? Object.values(value as object) : [value].flat();
    for (const item of below) if (isObject(item)) collectKeywords(item, into);
  }
}

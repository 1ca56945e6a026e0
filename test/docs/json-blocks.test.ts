// The pages may promise only what the schemas allow: every line of every ```json block is a frame, a session entry, a
// message or a content block, and docs/rpc.md leaves no command, event or dialog out.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TSchema } from "typebox";
import { Check, Errors } from "typebox/value";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject, type JsonSchema } from "../../src/base/json.js";
import * as protocol from "../../src/protocol/index.js";
import { commandSchemas } from "../../src/protocol/schema.js";

interface Example {
  place: string;
  text: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const shapesByTag = tagged([
  protocol.InboundFrame,
  protocol.OutboundFrame,
  protocol.AssistantMessageEvent,
  protocol.SessionHeader,
  protocol.SessionEntry,
  protocol.AssistantContent,
  protocol.InputContent,
  protocol.AgentMessage,
]);
const examples = pages().flatMap((page) => examplesOf(page, readFileSync(`${root}/${page}`, "utf8")));
/** What was written by hand; the tables that are made from the schemas cannot say anything else. */
const rpcPage = readFileSync(`${root}/docs/rpc.md`, "utf8").replace(/<!-- generated[\s\S]*?<!-- end -->/g, "");

describe("the examples", () => {
  test("are found", () => {
    expect(examples.length).toBeGreaterThan(100);
  });

  test("all fit a schema", () => {
    const problems = examples.map(({ place, text }) => [place, problemOf(text)]).filter(([, problem]) => problem);
    expect(problems).toEqual([]);
  });

  test("no longer fit when a required member goes or the tag is unknown", () => {
    for (const { place, text } of examples) {
      const value = JSON.parse(text) as JsonObject;
      for (const key of requiredKeys(value)) {
        const { [key]: _, ...rest } = value;
        expect(problemOf(JSON.stringify(rest)), `${place} without ${key}`).toBeDefined();
      }
      const tag = "type" in value ? "type" : "role";
      expect(problemOf(JSON.stringify({ ...value, [tag]: "nonsense" })), place).toBeDefined();
    }
  });

  test("are refused when they are not JSON, not an object, or wrong deep inside", () => {
    expect(problemOf('{"type":"abort"')).toMatch(/JSON/);
    expect(problemOf('["abort"]')).toBe("not an object");
    expect(
      problemOf('{"type":"message_start","message":{"role":"user","content":[{"type":"text"}],"timestamp":1}}'),
    ).toMatch(/text/);
    expect(problemOf('{"type":"set_steering_mode","mode":"some"}')).toMatch(/mode/);
  });

  test("are taken from json blocks only, wherever the block is indented", () => {
    const page =
      '```json\n{"type":"a"}\n\n{"type":"b"}\n```\n```text\n{"type":"c"}\n```\n  ```json\n  {"type":"d"}\n  ```\n';
    expect(examplesOf("x.md", page)).toEqual([
      { place: "x.md:2", text: '{"type":"a"}' },
      { place: "x.md:4", text: '{"type":"b"}' },
      { place: "x.md:10", text: '{"type":"d"}' },
    ]);
  });
});

describe("docs/rpc.md", () => {
  test("has one row per command, with every field and the words its failure ends with", () => {
    for (const [type, schema] of Object.entries(commandSchemas())) {
      const rows = rpcPage.split("\n").filter((line) => line.startsWith(`| \`${type}\` `));
      expect(rows, type).toHaveLength(1);
      const required = schema.required as string[];
      for (const [field, property] of Object.entries(schema.properties as Record<string, JsonSchema>))
        if (field !== "type")
          expect(rows[0]).toContain(`\`${field}${required.includes(field) ? "" : "?"}\` (${property.expectation})`);
    }
  });

  test("shows every command with its success, every other frame, and every message and content block", () => {
    const shown = new Set(examplesOf("rpc.md", rpcPage).map(({ text }) => tagOf(JSON.parse(text))));
    const expected = tagged([
      protocol.InboundFrame,
      protocol.OutboundFrame,
      protocol.AssistantContent,
      protocol.InputContent,
      protocol.AgentMessage,
    ]);
    expect([...expected.keys()].filter((tag) => !shown.has(tag))).toEqual([]);
  });
});

function pages(): string[] {
  const docs = readdirSync(`${root}/docs`)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", "ARCHITECTURE.md", ...docs].filter((page) => existsSync(`${root}/${page}`));
}

function examplesOf(page: string, text: string): Example[] {
  const found: Example[] = [];
  let language: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = line.match(/^\s*```(\S*)/);
    if (fence) language = language === undefined ? fence[1] : undefined;
    else if (language === "json" && line.trim()) found.push({ place: `${page}:${index + 1}`, text: line.trim() });
  }
  return found;
}

/** What is wrong with one line of a json block. */
function problemOf(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${String(error)}`;
  }
  if (!isObject(value)) return "not an object";
  const tag = tagOf(value);
  const shapes = shapesByTag.get(tag);
  if (!shapes) return `nothing is called ${tag}`;
  if (shapes.some((shape) => Check(shape, value))) return undefined;
  return `is no ${tag}: ${JSON.stringify(shapes.flatMap((shape) => Errors(shape, value)))}`;
}

/** Every alternative of the unions, by the words that tell one kind of line from another. */
function tagged(schemas: readonly TSchema[]): Map<string, TSchema[]> {
  const byTag = new Map<string, TSchema[]>();
  for (const shape of schemas.flatMap(alternatives)) {
    const constants = Object.entries(propertiesOf(shape)).map(([key, property]) => [key, property.const]);
    const tag = tagOf(Object.fromEntries(constants));
    byTag.set(tag, [...(byTag.get(tag) ?? []), shape]);
  }
  return byTag;
}

function alternatives(schema: TSchema): TSchema[] {
  return "anyOf" in schema ? (schema.anyOf as TSchema[]).flatMap(alternatives) : [schema];
}

function propertiesOf(shape: TSchema): Record<string, JsonSchema> {
  return (shape as { properties: Record<string, JsonSchema> }).properties;
}

function tagOf(value: JsonObject): string {
  if (value.type === undefined) return `message of role ${value.role}`;
  if (value.type === "response") return value.success === true ? `success of ${value.command}` : "failure";
  return value.type === "extension_ui_request" ? `dialog ${value.method}` : `frame of type ${value.type}`;
}

/** The members that every alternative with this tag asks for. */
function requiredKeys(value: JsonObject): string[] {
  const required = (shapesByTag.get(tagOf(value)) ?? []).map(
    (shape) => (shape as { required?: string[] }).required ?? [],
  );
  return (required[0] ?? []).filter((key) => required.every((keys) => keys.includes(key)));
}

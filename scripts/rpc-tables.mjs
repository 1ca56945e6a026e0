// Fills the marked regions of docs/rpc.md with tables made from the protocol's schemas. `node scripts/rpc-tables.mjs`
// fails when the page is old; with `--write` it brings the page up to date.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const pagePath = join(root, "docs/rpc.md");
const region = /(<!-- generated: ([a-z]+) -->\n)[\s\S]*?(<!-- end -->)/g;

/** The page with fresh tables. Throws when a region is missing or named after no table. */
export function fillTables(page, schema) {
  const tables = tablesOf(schema);
  const filled = new Set();
  const fresh = page.replace(region, (_, open, name, close) => {
    if (!Object.hasOwn(tables, name)) throw new Error(`docs/rpc.md: no table is called ${name}`);
    filled.add(name);
    return `${open}\n${tables[name]}\n${close}`;
  });
  const missing = Object.keys(tables).filter((name) => !filled.has(name));
  if (missing.length > 0) throw new Error(`docs/rpc.md has no region for: ${missing.join(", ")}`);
  return fresh;
}

/** The schema of the sources as they are, not of what was built last. */
export async function currentSchema() {
  const { build } = await import("esbuild");
  const directory = mkdtempSync(join(tmpdir(), "galley-schema-"));
  try {
    const outfile = join(directory, "schema.mjs");
    const entryPoints = [join(root, "src/protocol/schema.ts")];
    await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node", logLevel: "warning" });
    const { protocolSchema } = await import(pathToFileURL(outfile).href);
    return protocolSchema("0.0.0");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function tablesOf({ $defs: shapes }) {
  const named = new Set();
  const words = new Words(shapes, named);
  const alternatives = (name) => flatten(shapes[name], shapes);
  const dataOf = new Map(alternatives("RpcSuccess").map((shape) => [shape.properties.command.const, dataIn(shape)]));

  function dataIn({ properties: { data }, required }) {
    if (!data) return "none";
    return `${words.of(data)}${required.includes("data") ? "" : ", or none"}`;
  }
  const commands = alternatives("RpcCommand").map((shape) => {
    const { id: _, ...fields } = shape.properties;
    const type = fields.type.const;
    return [code(type), words.members({ ...shape, properties: fields }), dataOf.get(type)];
  });
  const outbound = alternatives("OutboundFrame").filter(({ properties }) => properties.command === undefined);
  const inbound = alternatives("InboundFrame").filter(({ properties }) => !dataOf.has(properties.type.const));
  const row = (shape) => [tagOf(shape), words.members(shape)];
  const frames = outbound.map(row);
  const answers = inbound.map(row);
  const streaming = alternatives("AssistantMessageEvent").map(row);
  const failure = [["`response` with `success: false`", words.members(shapes.RpcFailure)]];
  return {
    commands: table(["Command", "Fields", "Data of the response"], commands),
    frames: table(["Frame", "Members"], [...frames, ...failure]),
    answers: table(["Frame", "Members"], answers),
    streaming: table(["`assistantMessageEvent.type`", "Members"], streaming),
    shapes: table(["Shape", "What it is"], words.named()),
  };
}

/** Schemas in the words of the tables. Remembers which shapes it was asked to name. */
class Words {
  #shapes;
  #names;

  constructor(shapes, names) {
    this.#shapes = shapes;
    this.#names = names;
  }

  /** Of an object, without its tags: they stand in the first column. */
  members({ properties = {}, required = [] }) {
    const tags = ["type", "method", "role"];
    const rows = Object.entries(properties).filter(([key, shape]) => !(tags.includes(key) && "const" in shape));
    return rows.map(([key, shape]) => this.#member(key, shape, required)).join(", ") || "none";
  }

  of(shape) {
    if (shape.$ref) {
      const name = shape.$ref.replace("#/$defs/", "");
      this.#names.add(name);
      return name;
    }
    if ("const" in shape) return code(JSON.stringify(shape.const));
    if (shape.anyOf) return shape.anyOf.map((one) => this.of(one)).join(" or ");
    if (shape.type === "array")
      return `list of ${shape.items.anyOf ? `(${this.of(shape.items)})` : this.of(shape.items)}`;
    if (shape.type !== "object") return shape.type ?? "anything";
    if (!shape.properties) return `object of ${this.of(Object.values(shape.patternProperties)[0])}`;
    return `{ ${this.members(shape)} }`;
  }

  /** Every shape that was named, and those that they name, in alphabetical order. */
  named() {
    const rows = new Map();
    for (let before = -1; before !== rows.size; ) {
      before = rows.size;
      for (const name of [...this.#names]) if (!rows.has(name)) rows.set(name, this.#meaning(this.#shapes[name]));
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #meaning(shape) {
    if (shape === this.#shapes.AssistantMessageEvent) return "one of the table on streaming";
    if (shape.type === "object" && shape.properties) {
      const { role, type } = shape.properties;
      const tag = role?.const ?? type?.const;
      return `${tag === undefined ? "" : `${role ? "role" : "type"} ${code(JSON.stringify(tag))}; `}${this.members(shape)}`;
    }
    return this.of(shape);
  }

  #member(key, shape, required) {
    return `${code(required.includes(key) ? key : `${key}?`)} ${this.of(shape)}`;
  }
}

function flatten(shape, shapes) {
  if (shape.$ref) return flatten(shapes[shape.$ref.replace("#/$defs/", "")], shapes);
  return shape.anyOf ? shape.anyOf.flatMap((one) => flatten(one, shapes)) : [shape];
}

function tagOf({ properties: { type, method } }) {
  return method ? `${code(type.const)}, ${code(method.const)}` : code(type.const);
}

function table(head, rows) {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`).join("");
}

function code(text) {
  return `\`${text}\``;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const page = readFileSync(pagePath, "utf8");
  const fresh = fillTables(page, await currentSchema());
  if (argv.includes("--write")) writeFileSync(pagePath, fresh);
  else if (page !== fresh) {
    console.log("docs/rpc.md is old: its tables are not what the schemas say. Run: npm run docs");
    exit(1);
  }
}

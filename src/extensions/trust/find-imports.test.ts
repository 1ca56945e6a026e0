import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Lang, parse } from "@ast-grep/napi";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { findImports } from "./find-imports.js";

const specifiers = (source: string) => findImports(source).specifiers;

describe("findImports", () => {
  it.each([
    ['import "./a"', "./a"],
    ["import a from './a.js'", "./a.js"],
    ['import type { A } from "./a.js";', "./a.js"],
    ['import a, { b as c } from "./a"', "./a"],
    ['import * as a from "./a"', "./a"],
    ['import {\n  a,\n  b,\n} from\n  "./a"', "./a"],
    ['import data from "./a.json" with { type: "json" }', "./a.json"],
    ['export * from "./a"', "./a"],
    ['export * as a from "./a"', "./a"],
    ['export type { A } from "./a"', "./a"],
    ['import a = require("./a")', "./a"],
    ['const a = require("./a")', "./a"],
    ["const a = require(`./a`)", "./a"],
    ['require?.("./a")', "./a"],
    ['require . resolve ( "./a" )', "./a"],
    ['import.meta.resolve("./a")', "./a"],
    ['await import("./a")', "./a"],
    ['await import(/* webpackIgnore: true */ "./a")', "./a"],
    ['await import(\n  // the one\n  "./a",\n)', "./a"],
    ['await import(("./a"))', "./a"],
    ['await import("./a" as string)', "./a"],
    ['await import(slow ? "./b" : "./a")', "./a"],
    ['import(["x", "./a"][1])', "./a"],
    ['type A = import("./a").A', "./a"],
    ['import /* { x } from "./b" */ "./a"', "./a"],
    ['import x from // see "./b"\n"./a"', "./a"],
    ['import"./a"', "./a"],
    ['export{x}from"./a"', "./a"],
    ['import "\\x2e/a"', "./a"],
    ['import "\\u002e\\u{2f}a"', "./a"],
    ['import "\\56/a"', "./a"],
    ['import "./\\\na"', "./a"],
    ['import "./it\\\'s"', "./it's"],
    ['const load = createRequire(import.meta.url); load("./a")', "./a"],
    ['const $r: NodeRequire = module.createRequire(here); $r("./a")', "./a"],
    ['createRequire(import.meta.url)("./a")', "./a"],
    ['import { x } from "pkg/deep"', "pkg/deep"],
    ['import x from "#inside"', "#inside"],
  ])("finds what %j asks for", (source, specifier) => {
    expect(specifiers(source)).toContain(specifier);
  });

  it.each([
    ["a string", 'const s = "it\'s";'],
    ["a comment", "// don't\n/* `${ */"],
    ["a regular expression", "const r = /[\"'`]/g, q = /\\/*'/;"],
    ["a division", "const n = a / b / c;"],
    ["a template", "const t = `a ${b ? `\"${c}` : '}'} d`;"],
    ["an escaped quote", "const s = 'a\\'';"],
    ["markup", "const m = <div title=\"it's\">don't</div>;"],
    ["an open comment in a string", 'const s = "/*";'],
    ["an open template in a comment", "// `\n"],
    ["a private name", "class A { #import = 1; 'from' = 2 }"],
  ])("does not lose its place behind %s", (_, before) => {
    const source = `${before}\nimport a from "./a"; const b = await import('./b'), c = require(\`./c\`);`;
    expect(specifiers(source)).toEqual(expect.arrayContaining(["./a", "./b", "./c"]));
  });

  it("finds every import whatever stands around it", () => {
    const noise = fc.constantFrom(
      '"',
      "'",
      "`",
      "${",
      "}",
      "/*",
      "*/",
      "//",
      "/",
      "\\",
      "(",
      ")",
      "from",
      "import",
      "\n",
    );
    const clause = fc.constantFrom('import "./x"', 'export * from "./x"', 'import("./x")', "require('./x')");
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 30 }), clause, (before, statement) => {
        // The statement is code only when it begins on its own; whatever the text before made of it, it is found.
        expect(specifiers(`${before.join("")}\n;${statement}`)).toContain("./x");
      }),
      { numRuns: runs(500) },
    );
  });

  it("names paths of module files that stand elsewhere, and no other text", () => {
    const source = `
      new Worker(new URL("./worker.mjs?v=1", import.meta.url));
      fork('../lib/child.ts'); read("./notes.md"); z.string().default("./src"); x = "a/b.js"; y = "https://a/b.js";`;
    expect(findImports(source).paths).toEqual(["./worker.mjs?v=1", "../lib/child.ts"]);
    expect(specifiers(source)).toEqual([]);
  });

  it("tells the lines where a name is computed", () => {
    const source = ["import(name)", 'import("./a")', "require(`./${x}`)", 'import("./a" + b)', "import(/* c */)"].join(
      "\n",
    );
    expect(findImports(source).computedLines).toEqual([1, 3, 4, 5]);
  });

  it("finds what a parser finds, in our own files", () => {
    const root = fileURLToPath(new URL("..", import.meta.url));
    const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    for (const name of names.sort().filter((_, index) => index % 4 === 0)) {
      const source = readFileSync(join(root, name), "utf8");
      const found = specifiers(source);
      const missing = parsedImports(source).filter((specifier) => !found.includes(specifier));
      expect({ name, missing }).toEqual({ name, missing: [] });
    }
  });

  it.each([
    ["comments in a row", "//import\n"],
    ["open calls", "import("],
    ["open comments", "import/*"],
    ["escaped quotes", "'\\"],
    ["quotes", "'\"`"],
    ["white space", "from "],
    ["long words", "a"],
    ["spaces", " "],
    ["own requires", "x = createRequire"],
    ["paths", "'./.js?"],
  ])("is not held up by %s", (_, piece) => {
    const started = performance.now();
    try {
      findImports(piece.repeat(250_000 / piece.length));
    } catch (error) {
      expect(error).toMatchObject({ code: "file_refused", message: "is too tangled to tell which files it loads" });
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

function parsedImports(source: string): string[] {
  const tree = parse(Lang.TypeScript, source).root();
  const statements = ["import_statement", "export_statement"].flatMap((kind) => tree.findAll({ rule: { kind } }));
  const calls = tree.findAll({ rule: { pattern: "import($SOURCE)" } });
  return [...statements.map((node) => node.field("source")), ...calls.map((node) => node.getMatch("SOURCE"))]
    .filter((node) => node?.kind() === "string")
    .map((node) => node!.text().slice(1, -1))
    .filter((text) => !text.includes("\\"));
}

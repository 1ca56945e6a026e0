// Patterns, captures and rewrites in every language whose grammar comes with galley, also where `$` is no letter.

import { describe, expect, it } from "vitest";
import { createMemoryWorkspace } from "../../testing/memory-workspace.js";
import { findFiles } from "./files.js";
import { languageNamed, languageOf, languages } from "./languages.js";
import { sharedParsers } from "./parsers.js";
import { planRewrite } from "./rewrite.js";
import { parseTemplate } from "./rewrite-template.js";

interface Case {
  source: string;
  pat: string;
  out: string;
  sel?: string;
}

async function rewrite(file: string, { source, pat, out, sel }: Case): Promise<string> {
  const workspace = createMemoryWorkspace({ [file]: source });
  const { files } = await findFiles(workspace, sharedParsers(), { paths: [file] });
  const plan = await planRewrite(workspace, sharedParsers(), {
    files,
    ops: [{ pat, template: parseTemplate(out, { pat, where: "out" }), where: "out" }],
    sel,
    maxReplacements: 100,
    maxFiles: 10,
    onProgress: () => {},
  });
  expect(plan.issues).toEqual([]);
  return Buffer.from(plan.files[0]?.after ?? Buffer.from(source)).toString();
}

it("is known by name, alias and ending", () => {
  expect(languageNamed(" PY ")?.grammar).toBe("python");
  expect(languageNamed("klingon")).toBeUndefined();
  expect(languageOf("a/b.MTS")?.grammar).toBe("TypeScript");
  for (const path of ["Makefile", "ts", "a.ts/b", "a.", "a.b/ts"]) expect(languageOf(path)).toBeUndefined();
  const names = languages.flatMap((language) => language.names);
  expect(new Set(names).size).toBe(names.length);
});

it("has every optional grammar here", async () => {
  const { expandos, broken } = await sharedParsers().grammars();
  expect(Object.keys(expandos)).toEqual(["c", "go", "java", "json", "python", "rust", "yaml"]);
  expect(broken).toEqual({});
});

describe.each<[string, string, Case, string]>([
  [
    "c",
    "call with a list",
    { source: "int f(void) { return old(a, b + 1); }\n", pat: "old($A, $$$REST)", out: "fresh($$$REST, $A)" },
    "int f(void) { return fresh(b + 1, a); }\n",
  ],
  [
    "c",
    "same text twice, also with a name like the stand-in for $",
    { source: "void f() { x(_A, _A); x(_A, b); }", pat: "x($A, $A)", out: "y($A)" },
    "void f() { y(_A); x(_A, b); }",
  ],
  [
    "go",
    "call",
    { source: "package a\n\nvar x = f(1, g(2))\n", pat: "f($A, $B)", out: "f($B, $A)" },
    "package a\n\nvar x = f(g(2), 1)\n",
  ],
  [
    "go",
    "same text twice",
    { source: "package a\n\nvar x = f(a.b, a.b) + f(a, b)\n", pat: "f($A, $A)", out: "g($A)" },
    "package a\n\nvar x = g(a.b) + f(a, b)\n",
  ],
  [
    "go",
    "raw strings keep their lines",
    {
      source: "package a\n\nvar x = f(\n\t\tg(1,\n\t\t\t`\n\t\ttext`))\n",
      pat: "f($A)",
      out: "$A",
    },
    "package a\n\nvar x = g(1,\n\t`\n\t\ttext`)\n",
  ],
  [
    "java",
    "text in a string is no variable",
    { source: 'class A { int x = p("of $A", 1, 1); }', pat: 'p("of $A", $A, $A)', out: "q($A)" },
    "class A { int x = q(1); }",
  ],
  [
    "java",
    "statement",
    {
      source: 'class A { void m() { System.out.println("x", y); } }',
      pat: "System.out.println($$$ARGS)",
      out: "log($$$ARGS)",
    },
    'class A { void m() { log("x", y); } }',
  ],
  [
    "java",
    "same text twice",
    { source: "class A { int x = f(a, a) + f(a, b); }", pat: "f($A, $A)", out: "g($A)" },
    "class A { int x = g(a) + f(a, b); }",
  ],
  [
    "json",
    "a pair by its kind",
    { source: '{ "name": "old", "x": { "name": "y" } }', pat: '{ "name": "$V" }', out: '"title": "$V"', sel: "pair" },
    '{ "title": "old", "x": { "title": "y" } }',
  ],
  [
    "json",
    "same text twice",
    { source: '[["a", "a"], ["a", "b"]]', pat: '["$A", "$A"]', out: '["$A"]' },
    '[["a"], ["a", "b"]]',
  ],
  [
    "py",
    "call with keywords",
    { source: "print(a, sep='')\n", pat: "print($A, $$$REST)", out: "log($$$REST, value=$A)" },
    "log(sep='', value=a)\n",
  ],
  ["py", "same text twice", { source: "f(x.y, x.y)\nf(x, y)\n", pat: "f($A, $A)", out: "g($A)" }, "g(x.y)\nf(x, y)\n"],
  [
    "py",
    "a block moves with its indentation, a string keeps its own",
    {
      source: 'def f():\n    if True:\n        a()\n        b("""\n        text\n        """)\n',
      pat: "if True:\n    $$$BODY",
      out: "$$$BODY",
    },
    'def f():\n    a()\n    b("""\n        text\n        """)\n',
  ],
  [
    "rs",
    "macro-like and method call",
    { source: "fn f() { let x = y.unwrap(); }", pat: "$A.unwrap()", out: '$A.expect("is set")' },
    'fn f() { let x = y.expect("is set"); }',
  ],
  [
    "rs",
    "same text twice",
    { source: "fn f() { max(a, a); max(a, b); }", pat: "max($A, $A)", out: "$A" },
    "fn f() { a; max(a, b); }",
  ],
  [
    "yaml",
    "a pair",
    { source: "image: node:18\nother: 1\n", pat: "image: $A", out: "image: fresh/$A" },
    "image: fresh/node:18\nother: 1\n",
  ],
  ["yaml", "same text twice", { source: "- [a, a]\n- [a, b]\n", pat: "[$A, $A]", out: "[$A]" }, "- [a]\n- [a, b]\n"],
])("%s", (extension, what, given, expected) => {
  it(what, async () => {
    expect(await rewrite(`file.${extension}`, given)).toBe(expected);
  });
});

// What the engine makes of a file, byte for byte.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { createMemoryWorkspace } from "../../testing/memory-workspace.js";
import { type Language, languageOf } from "./languages.js";
import { containsLiteral, literalsIn } from "./literals.js";
import { sharedParsers } from "./parsers.js";
import { fileDiff, prepareDiff } from "./preview.js";
import { type PlannedFile, planRewrite, type RewritePlan } from "./rewrite.js";
import { parseTemplate } from "./rewrite-template.js";

type Op = [pat: string, out: string];

async function plan(
  source: string | Uint8Array,
  ops: Op[],
  options: { file?: string; sel?: string } = {},
): Promise<RewritePlan> {
  const file = options.file ?? "a.ts";
  const workspace = createMemoryWorkspace({ [file]: source });
  return planRewrite(workspace, sharedParsers(), {
    files: [{ target: await workspace.resolve(file, "read"), language: languageOf(file) as Language }],
    ops: ops.map(([pat, out]) => ({ pat, template: parseTemplate(out, { pat, where: "out" }), where: "out" })),
    sel: options.sel,
    maxReplacements: Number.POSITIVE_INFINITY,
    maxFiles: 10,
    onProgress: () => {},
  });
}

/** The file afterwards; `undefined` when nothing is to be changed. */
async function rewrite(source: string, pat: string, out: string, options?: { file?: string; sel?: string }) {
  const { files } = await plan(source, [[pat, out]], options);
  return files[0] && Buffer.from(files[0].after).toString();
}

describe("bytes outside the replaced spans", () => {
  it.each([
    ["CRLF", "a();\r\nf(1);\r\nb();\r\n", "a();\r\ng(1);\r\nb();\r\n"],
    ["byte order mark", "\ufefff(1);\n", "\ufeffg(1);\n"],
    ["no final newline", "a();\nf(1)", "a();\ng(1)"],
    ["characters of many bytes", "'é😀'; f('日本'); '\u2028'", "'é😀'; g('日本'); '\u2028'"],
    ["mixed line ends", "a()\n\r\n\rf(1)\r\n\n", "a()\n\r\n\rg(1)\r\n\n"],
    ["several on one line", "f(1); f(2); f(3)", "g(1); g(2); g(3)"],
  ])("%s", async (_case, before, after) => {
    expect(await rewrite(before, "f($A)", "g($A)")).toBe(after);
  });

  it("are named in bytes, and places in lines and columns of the old file", async () => {
    const { files } = await plan("\ufefff('é'); f(2);\n  f(3)", [["f($A)", "g($A)"]]);
    expect(files[0]?.replacements).toEqual([
      { byteStart: 3, byteEnd: 10, startLine: 1, startColumn: 1, before: "f('é')", after: "g('é')" },
      { byteStart: 12, byteEnd: 16, startLine: 1, startColumn: 9, before: "f(2)", after: "g(2)" },
      { byteStart: 20, byteEnd: 24, startLine: 2, startColumn: 3, before: "f(3)", after: "g(3)" },
    ]);
  });

  it("survive any surroundings", async () => {
    const filler = fc.array(fc.constantFrom("/* é */", "\n", "\r\n", " ", "'😀';", "x;", "\t"), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(filler, filler, async (head, tail) => {
        const [before, after] = [head.join(""), tail.join("")];
        expect(await rewrite(`${before}f(1);${after}`, "f($A)", "g($A)")).toBe(`${before}g(1);${after}`);
      }),
      { numRuns: runs(50) },
    );
  });
});

describe("patterns", () => {
  it.each<[string, string, string, string, string | undefined]>([
    ["deletes with an empty replacement", "a(); console.log(1, 2);", "console.log($$$A)", "", "a(); ;"],
    ["same name, same text", "f(a, a); f(a, b); f(a.b, a.b)", "f($A, $A)", "one($A)", "one(a); f(a, b); one(a.b)"],
    ["same name, other spacing is other text", "f(a+b, a + b)", "f($A, $A)", "x", undefined],
    ["same list twice", "f([a, b], [a, b]); f([a], [b])", "f([$$$A], [$$$A])", "g($$$A)", "g(a, b); f([a], [b])"],
    ["the list keeps its commas and comments", "f(a, /* x */ b)", "f($$$A)", "g($$$A)", "g(a, /* x */ b)"],
    ["an empty list", "f()", "f($$$A)", "g(1, $$$A)", "g(1, )"],
    ["unbound", "f(1); f(a())", "f($_)", "g()", "g(); g()"],
    ["a name inside a longer string is text", "f('a $A', 1); f('a $A', 2)", "f('a $A', $A)", "g($A)", "g(1); g(2)"],
    ["a name as a whole string", "f('x', 'x'); f('x', 'y')", "f('$A', '$A')", "g('$A')", "g('x'); f('x', 'y')"],
    ["glued to other text", "f(Name)", "f($A)", "get$A$As", "getNameNames"],
    ["identifiers that only look alike", "f(1)", "f($A)", "$Event($A, $x, $)", "$Event(1, $x, $)"],
    ["keeps white space of pattern and replacement", "f(1)", " f($A) ", " g($A) ", " g(1) "],
  ])("%s", async (_case, source, pat, out, expected) => {
    expect(await rewrite(source, pat, out)).toBe(expected);
  });

  it("match by node kind with a selector", async () => {
    const source = "class A { x = 1; y = 2 }";
    expect(await rewrite(source, "class _ { $K = 1 }", "$K = 9", { sel: "public_field_definition" })).toBe(
      "class A { x = 9; y = 2 }",
    );
    const css = ".a { color: red; margin: 0 }";
    expect(await rewrite(css, "a { color: $C }", "color: blue;", { file: "a.css", sel: "declaration" })).toBe(
      ".a { color: blue; margin: 0 }",
    );
  });

  it("refuses a name that the selected node does not bind", async () => {
    const call = rewrite("class A { x = 1 }", "class $C { $K = 1 }", "$C", { sel: "public_field_definition" });
    await expect(call).rejects.toThrow("Unknown metavariable $C in out; the pattern does not bind it.");
  });

  it("work in TSX and HTML", async () => {
    expect(await rewrite("const x = <a>hi</a>", "<$T>$$$C</$T>", "<b>$$$C</b>", { file: "a.tsx" })).toBe(
      "const x = <b>hi</b>",
    );
    expect(await rewrite("<i>x</i><p>y</p>", "<$T>$$$C</$T>", "<b>$$$C</b>", { file: "a.html" })).toBe(
      "<b>x</b><b>y</b>",
    );
  });

  it("all match the file as it was, in one pass", async () => {
    const { files } = await plan("a(); b()", [
      ["b()", "a()"],
      ["a()", "b()"],
    ]);
    expect(Buffer.from(files[0]?.after ?? []).toString()).toBe("b(); a()");
  });

  it("do not end the process on deep nesting", async () => {
    const deep = `${"1+".repeat(30_000)}1`;
    expect(await rewrite(`f(${deep},${deep})`, "f($A, $A)", "same")).toBe("same");
    expect(await rewrite(`f(${deep},${deep}2)`, "f($A, $A)", "same")).toBe(undefined);
  });
});

describe("indentation", () => {
  it("of lines that come along is kept relative to their new place", async () => {
    const source = "function f() {\n    run(() => {\n      a();\n\n      b();\n    });\n}\n";
    expect(await rewrite(source, "run(() => { $$$BODY })", "{\n  $$$BODY\n}")).toBe(
      "function f() {\n    {\n      a();\n\n      b();\n    };\n}\n",
    );
  });

  it("is left alone where nothing moves", async () => {
    const source = "  old(\n    a,\n  b,\n  );\n";
    expect(await rewrite(source, "old($$$A)", "fresh($$$A)")).toBe("  fresh(a,\n  b,);\n");
  });

  it("of a template's own lines follows the match, in the file's line ends", async () => {
    expect(await rewrite("{\r\n  f(1);\r\n}", "f($A)", "try {\n  g($A)\n\n} catch {}")).toBe(
      "{\r\n  try {\r\n    g(1)\r\n\r\n  } catch {};\r\n}",
    );
    expect(await rewrite("  f(1)", "f($A)", "(\n$A\n)")).toBe("  (\n  1\n  )");
  });

  it("inside a template string is content and stays", async () => {
    const source = "  f(\n    g(`\n    text\n    `),\n  )";
    expect(await rewrite(source, "f($A,)", "$A")).toBe("  g(`\n    text\n    `)");
    expect(await rewrite("  f(\n    g(\n      1,\n    ),\n  )", "f($A,)", "$A")).toBe("  g(\n    1,\n  )");
  });
});

describe("looking for words first", () => {
  it.each([
    ["console.log($$$A)", ["console", "log"]],
    ["$A.then($B).then($C)", ["then"]],
    ["$A + $B", []],
    ["x => $A", []],
    ["$Abc", ["bc"]],
  ])("%s: %j", (pat, literals) => {
    expect(literalsIn({ pat }).map(({ word }) => word)).toEqual(literals);
    expect(literalsIn({ pat, sel: "identifier" })).toEqual([]);
  });

  it("never hides a match: the words are part of every one", async () => {
    const patterns = [
      "f($A)",
      "await $A",
      "const $A = $B",
      "import $A from '$B'",
      "class $A { $$$B }",
      "if ($A) { $$$B }",
    ];
    const sources = [
      "f(1); async () => { await f(2) }",
      'import x from "y"; const a = `f(${1})`',
      "export class A extends B { m() { if (a) { f() } else {} } }",
      "async function g() { for await (const x of y) await x }",
      "const {a} = b, c = d; let e: typeof f = f",
    ];
    const parser = await import("@ast-grep/napi");
    for (const pat of patterns)
      for (const source of sources)
        for (const node of parser.parse("TypeScript", source).root().findAll(pat))
          for (const literal of literalsIn({ pat }))
            expect(containsLiteral(Buffer.from(node.text()), literal)).toBe(true);
  });
});

describe("the diff", () => {
  it("shows context, shares hunks, and marks a missing newline", async () => {
    const source = `${Array.from({ length: 20 }, (_, index) => (index % 17 === 1 ? `f(${index})` : `x${index}`)).join("\n")}`;
    const { files } = await plan(source, [["f($A)", "g(\n  $A)"]]);
    const [file] = files;
    expect(file && fileDiff(file, 1e6)).toBe(
      [
        "--- a/a.ts",
        "+++ b/a.ts",
        "@@ -1,5 +1,6 @@",
        " x0",
        "-f(1)",
        "+g(",
        "+  1)",
        " x2",
        " x3",
        " x4",
        "@@ -16,5 +17,6 @@",
        " x15",
        " x16",
        " x17",
        "-f(18)",
        "+g(",
        "+  18)",
        " x19",
        "\\ No newline at end of file",
        "",
      ].join("\n"),
    );
  });

  it("is the same when it was made ahead, however long it may be", async () => {
    for (const source of ["f(1);\n".repeat(20), `f(1); // ${"x".repeat(60_000)}\n`]) {
      const { files } = await plan(source, [["f($A)", "g($A)"]]);
      const [file] = files as [PlannedFile];
      const limits = [10, 100, 51_200, 1e6];
      const late = limits.map((limit) => fileDiff(file, limit));
      prepareDiff(file);
      expect(limits.map((limit) => fileDiff(file, limit))).toEqual(late);
    }
  });

  it("turns the old bytes into the new ones", async () => {
    const line = fc.constantFrom("f(1);", "f(\n2);", "x;", "", "f(3); f(4);", "f(`\n`);");
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 25 }),
        fc.constantFrom("", "g()", "g(\n$A\n)", "\n", "$A\n"),
        fc.boolean(),
        async (lines, out, hasFinalNewline) => {
          const source = lines.join("\n") + (hasFinalNewline ? "\n" : "");
          const { files } = await plan(source, [["f($A)", out]]);
          for (const file of files)
            expect(patched(source, fileDiff(file, 1e6))).toBe(Buffer.from(file.after).toString());
        },
      ),
    );
  });
});

/** A small `patch`: takes the new lines of each hunk and checks the old ones. */
function patched(source: string, diff: string): string {
  const old = source.match(/[^\n]*\n|[^\n]+/g) ?? [];
  const result: string[] = [];
  let position = 0;
  const lines = diff.split("\n").slice(2, -1);
  for (const [index, line] of lines.entries()) {
    const header = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
    if (header) {
      const start = Number(header[1]) - (header[2] === "0" ? 0 : 1);
      result.push(...old.slice(position, start));
      position = start;
      expect(result.length).toBe(Number(header[3]) - (header[4] === "0" ? 0 : 1));
      continue;
    }
    if (line.startsWith("\\")) continue;
    const content = line.slice(1) + (lines[index + 1]?.startsWith("\\") ? "" : "\n");
    if (!line.startsWith("+")) expect(old[position++]).toBe(content);
    if (!line.startsWith("-")) result.push(content);
  }
  return [...result, ...old.slice(position)].join("");
}

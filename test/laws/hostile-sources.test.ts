// Files made to hurt: each gives a result or an issue, in little time, and the next file is searched as ever.

import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../../src/testing/memory-workspace.js";
import type { AstEditDetails } from "../../src/tools/ast/preview.js";
import { parseTemplate } from "../../src/tools/ast/rewrite-template.js";
import { createAstEdit } from "../../src/tools/ast-edit.js";
import { toolDeps } from "../../src/tools/tools.test-kit.js";

const depth = 100_000;
const nested = (open: string, inner: string, close: string) => open.repeat(depth) + inner + close.repeat(depth);
const innocent = { "z.ts": "f(1)", "z.py": "f(1)\n" };

async function edit(name: string, source: string | Uint8Array, pat = "f($A)"): Promise<AstEditDetails> {
  const workspace = createMemoryWorkspace({ ...innocent, [name]: source });
  const tool = createAstEdit(toolDeps(workspace));
  const ops = [{ pat, out: "g($A)" }];
  const { details } = await tool.execute("1", { ops }, undefined, () => {}, { cwd: workspace.cwd });
  return details as AstEditDetails;
}

it.each<[string, string, string]>([
  ["parentheses", "a.ts", `x = ${nested("(", "1", ")")}; f(2)`],
  ["arrays", "a.ts", `x = ${nested("[", "1", "]")}; f(2)`],
  ["functions", "a.js", `x = ${nested("()=>{", "1", "}")}; f(2)`],
  ["sums", "a.ts", `x = ${"1+".repeat(depth)}1; f(2)`],
  ["a chain of calls", "a.ts", `x${".y()".repeat(depth)}; f(2)`],
  ["a parenthesis in Python", "a.py", `x = ${nested("(", "1", ")")}\nf(2)\n`],
])("finds what stands beside 100,000 nested %s", async (_what, name, source) => {
  const { files, parseErrors } = await edit(name, source);
  expect(files).toEqual([name, "z.py", "z.ts"]);
  expect(parseErrors).toBeUndefined();
});

it.each<[string, string, string | Uint8Array, string]>([
  ["parentheses that never close", "a.ts", `f(${"(".repeat(depth)}`, "syntax tree contains error nodes"],
  ["NULs", "a.ts", "f(1);\u0000f(2)", "it holds NUL characters"],
  ["bytes that are no text", "a.ts", Buffer.concat([Buffer.from("f(1) //"), Buffer.of(0xff, 0xfe)]), "not valid UTF-8"],
  ["too many matches", "a.ts", "f(1);".repeat(100_001), "more than 100000 matches"],
])("makes an issue of %s", async (_what, name, source, issue) => {
  const { files, parseErrors } = await edit(name, source);
  expect(files).toEqual(["z.py", "z.ts"]);
  expect(parseErrors).toEqual([`${name}: parse error (${issue})`]);
});

it("finds the last call of one line of 4 MB, and rewrites tens of thousands on one", async () => {
  const line = `${`var a="${"x".repeat(70)}";`.repeat(52_000)}f(2)`;
  expect(line.length).toBeGreaterThan(4_000_000);
  expect((await edit("a.js", line)).fileReplacements[0]).toEqual({ path: "a.js", count: 1 });
  const calls = await edit("a.js", `${" ".repeat(2_000_000)}${"f(1);".repeat(20_000)}`);
  expect(calls.fileReplacements[0]).toEqual({ path: "a.js", count: 20_000 });
});

it("compares deep captures that must be equal", async () => {
  const deep = nested("(", "1", ")");
  const { files } = await edit("a.ts", `f(${deep},${deep}); f(1, 2)`, "f($A, $A)");
  expect(files).toEqual(["a.ts"]);
});

it("refuses a pattern and a replacement of nothing but dollars at once", async () => {
  const dollars = "$".repeat(200_000);
  await expect(edit("a.ts", "f(1)", `f(${dollars})`)).rejects.toThrow();
  expect(() => parseTemplate(dollars, { pat: "f($A)", where: "out" })).not.toThrow();
});

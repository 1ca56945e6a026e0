import { link, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import type { Workspace } from "../files/workspace.js";
import type { ToolResult } from "../protocol/events.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import type { AstEditOptions } from "./ast/plan-rewrite.js";
import type { AstEditDetails } from "./ast/preview.js";
import { createAstEdit } from "./ast-edit.js";
import { toolDeps } from "./tools.test-kit.js";

type Files = Parameters<typeof createMemoryWorkspace>[0];
interface Call {
  args: Record<string, unknown>;
  options?: AstEditOptions;
  signal?: AbortSignal;
  onUpdate?: (partial: ToolResult) => void;
}

function run(source: Files | Workspace, call: Call): Promise<ToolResult> {
  const workspace = "walk" in source ? (source as Workspace) : createMemoryWorkspace(source as Files);
  const tool = createAstEdit({ ...toolDeps(workspace), ...call.options });
  const prepared = tool.prepareArguments?.(call.args) as { ops: { pat: string; out: string }[] };
  return tool.execute("call_1", prepared, call.signal, call.onUpdate ?? (() => {}), { cwd: workspace.cwd });
}

const edit = (source: Files, pat: string, out: string, more: Record<string, unknown> = {}) =>
  run(source, { args: { ops: [{ pat, out }], ...more } });
const textOf = (result: ToolResult) => result.content.map((block) => ("text" in block ? block.text : "")).join("");
const detailsOf = (result: ToolResult) => result.details as AstEditDetails;

describe("a file without a grammar", () => {
  const missing = "Grammar for 'kotlin' is not installed (@ast-grep/lang-kotlin).";

  it("is left out and named, and the others are rewritten", async () => {
    const sources = { "a.ts": "f(1)\n", "b.kt": "f(1)\n", "c.ts": "f(2)\n" };
    const result = await edit(sources, "f($A)", "g($A)", { paths: ["a.ts", "b.kt", "c.ts"] });
    expect(detailsOf(result)).toMatchObject({ totalReplacements: 2, filesTouched: 2 });
    expect(textOf(result)).toContain(`Parse issues:\n- b.kt: left out (${missing})`);
  });

  it("fails the call where it is every file", async () => {
    const paths = ["b.kt", "d.kt"];
    await expect(edit({ "b.kt": "", "d.kt": "", "a.ts": "" }, "f($A)", "", { paths })).rejects.toThrow(missing);
  });
});

describe("the preview", () => {
  const files = {
    "root.ts": "oldApi()",
    "src/api.ts": "// api\noldApi(a, b);\n  oldApi(\n    c,\n  );\n",
    "src/util/log.ts": "oldApi(x)\n",
    "src/z.ts": "oldApi(1)\n",
    "src/other.ts": "nothing()\n",
    "src/style.css": ".oldApi { color: red }\n",
  };

  it("groups by directory and shows place, old and new", async () => {
    const result = await edit(files, "oldApi($$$A)", "newApi($$$A)");
    expect(textOf(result)).toBe(
      [
        "Staged as pa_1 – files NOT modified. Call resolve to apply or discard.",
        "",
        "# root.ts (1 replacement)",
        "-1:1 oldApi()",
        "+1:1 newApi()",
        "# src",
        "## └─ api.ts (2 replacements)",
        "-2:1 oldApi(a, b)",
        "+2:1 newApi(a, b)",
        "-3:3 oldApi( … (+2 lines)",
        "+3:3 newApi(c,)",
        "## └─ z.ts (1 replacement)",
        "-1:1 oldApi(1)",
        "+1:1 newApi(1)",
        "# src/util",
        "## └─ log.ts (1 replacement)",
        "-1:1 oldApi(x)",
        "+1:1 newApi(x)",
      ].join("\n"),
    );
    expect(result.isWarning).toBeUndefined();
    expect(detailsOf(result)).toMatchObject({
      totalReplacements: 5,
      filesTouched: 4,
      filesSearched: 6,
      applied: false,
      limitReached: false,
      scopePath: ".",
      files: ["root.ts", "src/api.ts", "src/util/log.ts", "src/z.ts"],
      fileReplacements: [
        { path: "root.ts", count: 1 },
        { path: "src/api.ts", count: 2 },
        { path: "src/util/log.ts", count: 1 },
        { path: "src/z.ts", count: 1 },
      ],
    });
    expect(detailsOf(result)).not.toHaveProperty("parseErrors");
  });

  it("needs no headings for a single file, and carries a diff", async () => {
    const result = await edit(files, "oldApi($A)", "newApi($A)", { path: "src/util/log.ts" });
    expect(textOf(result)).toBe(
      "Staged as pa_1 – files NOT modified. Call resolve to apply or discard.\n\n-1:1 oldApi(x)\n+1:1 newApi(x)",
    );
    expect(detailsOf(result).diff).toBe(
      "--- a/src/util/log.ts\n+++ b/src/util/log.ts\n@@ -1,1 +1,1 @@\n-oldApi(x)\n+newApi(x)\n",
    );
  });

  it("cuts long lines and leaves escapes out", async () => {
    const result = await edit({ "a.ts": `f("\u001b[31m${"x".repeat(200)}")` }, "f($A)", "g($A)", { path: "a.ts" });
    expect(textOf(result).split("\n")[2]).toBe(`-1:1 f("${"x".repeat(117)}…`);
  });

  it("shows 200 changes and counts the rest", async () => {
    const text = textOf(await edit({ "a.ts": "f(1);\n".repeat(250) }, "f($A)", "g($A)"));
    expect(text.split("\n")).toHaveLength(2 + 1 + 400 + 1);
    expect(text).toMatch(/\n… 50 more changes; full diff in artifact:\/\/1$/);
  });

  it("bounds the diff", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`${index}.ts`, `f("${"x".repeat(1000)}")\n`]),
    );
    const { diff } = detailsOf(await edit(many, "f($A)", "g($A)"));
    expect(diff.length).toBeLessThan(51_300);
    expect(diff).toMatch(/\n… diff cut at 50KB\n$/);
  });

  it("is a warning when there is nothing to replace", async () => {
    const result = await edit({ "a.ts": "b()" }, "nope()", "x");
    expect(result).toMatchObject({ content: [{ text: "No replacements made" }], isWarning: true });
    expect(detailsOf(result)).toMatchObject({ totalReplacements: 0, filesTouched: 0, filesSearched: 1, diff: "" });
  });
});

describe("arguments that cannot be meant", () => {
  const files = { "a.ts": "f(1)", "b.kt": "f(1)", "notes.md": "f(1)", "kt/c.kt": "f(1)" };
  it.each<[string, Record<string, unknown>, string]>([
    ["no ops", { ops: [] }, "`ops` must include at least one op entry"],
    [
      "empty pattern",
      {
        ops: [
          { pat: "f", out: "" },
          { pat: " ", out: "" },
        ],
      },
      "`ops[1].pat` must be a non-empty pattern",
    ],
    [
      "same pattern twice",
      {
        ops: [
          { pat: "f", out: "" },
          { pat: "f", out: "g" },
        ],
      },
      "Duplicate rewrite pattern: f",
    ],
    ["long pattern", { ops: [{ pat: "!".repeat(2001), out: "" }] }, "`ops[0].pat` is longer than 2000 characters"],
    ["limit 0", { limit: 0 }, "limit must be a positive number"],
    ["limit NaN", { limit: Number.NaN }, "limit must be a positive number"],
    ["missing path", { paths: ["a.ts", "nope"] }, "Path not found: nope"],
    ["missing in a list", { path: "a.ts, nope.ts" }, "Path not found: a.ts, nope.ts"],
    ["missing below a glob", { path: "nope/*.ts" }, "Path not found: nope/*.ts"],
    [
      "unknown language",
      { lang: "klingon" },
      "Unsupported language 'klingon'. Supported: typescript, ts, mts, cts, tsx, javascript, js, jsx, mjs, cjs, html, htm, css, c, go, golang, java, json, python, py, rust, rs, yaml, yml",
    ],
    ["missing grammar", { lang: "kt" }, "Grammar for 'kotlin' is not installed (@ast-grep/lang-kotlin)."],
    [
      "missing grammar of a named file",
      { path: "b.kt" },
      "Grammar for 'kotlin' is not installed (@ast-grep/lang-kotlin).",
    ],
    ["nothing to infer from", { path: "notes.md" }, "`lang` is required for ast_edit when no files match path/glob"],
    ["only files we cannot parse", { path: "kt" }, "`lang` is required for ast_edit when no files match path/glob"],
    ["a glob without a match", { path: "*.js" }, "`lang` is required for ast_edit when no files match path/glob"],
    [
      "a URL",
      { path: "https://example.com/a.ts" },
      "Cannot rewrite external URL: https://example.com/a.ts. Give a file, a directory or a glob.",
    ],
    [
      "unknown metavariable",
      { ops: [{ pat: "f($A, $$$B)", out: "g($C)" }] },
      "Unknown metavariable $C in `ops[0].out`; the pattern binds $A, $$$B.",
    ],
    [
      "one node for a list",
      { ops: [{ pat: "f($$$A)", out: "g($A)" }] },
      "Unknown metavariable $A in `ops[0].out`; the pattern binds $$$A.",
    ],
    [
      "unbound name",
      { ops: [{ pat: "f($_)", out: "g($_)" }] },
      "Unknown metavariable $_ in `ops[0].out`; the pattern does not bind it.",
    ],
    ["half a character", { ops: [{ pat: "f", out: "\ud83d" }] }, "`ops[0].out` is not valid Unicode text"],
    ["costly glob", { glob: "*a*a*a*a*a*" }, "Glob '*a*a*a*a*a*' has too many wildcards."],
    [
      "a pattern that is everything",
      { ops: [{ pat: " $A ", out: "" }] },
      "No pattern could be parsed\n-  $A : Invalid pattern: A metavariable alone matches everything; put code around it.",
    ],
    [
      "every pattern broken",
      {
        ops: [
          { pat: "f(); g()", out: "" },
          { pat: "$$A", out: "" },
        ],
      },
      [
        "No pattern could be parsed",
        "- f(); g(): Invalid pattern: Multiple AST nodes are detected. Please check the pattern source `f(); g()`.",
        "- $$A: Invalid pattern: $$A is not a metavariable; use $NAME for one node, $$$NAME for any number.",
      ].join("\n"),
    ],
  ])("%s", async (_case, args, message) => {
    const call = run(files, { args: { ops: [{ pat: "f($A)", out: "g($A)" }], ...args } });
    await expect(call).rejects.toMatchObject({ code: "tool_failed", message });
  });

  it("tells which places overlap, also of one pattern nested in itself", async () => {
    const nested = edit({ "src/a.ts": "x;\nf(f(1))" }, "f($A)", "g($A)");
    await expect(nested).rejects.toMatchObject({
      message:
        "Overlapping replacements detected; refine pattern to avoid ambiguous edits (src/a.ts:2:1 and src/a.ts:2:3)",
    });
    const ops = [
      { pat: "f($A)", out: "g($A)" },
      { pat: "f(1)", out: "h()" },
    ];
    await expect(run({ "a.ts": "f(1)" }, { args: { ops } })).rejects.toThrow("(a.ts:1:1 and a.ts:1:1)");
  });
});

describe("parse issues", () => {
  it("skips what does not parse and says so, once each", async () => {
    const files = {
      "bad.ts": "f(1) f(",
      "good.ts": "f(1)",
      "latin.ts": Uint8Array.from([...Buffer.from("f(1) // "), 0xe9]),
    };
    const ops = [
      { pat: "f($A)", out: "g($A)" },
      { pat: "f(); g()", out: "" },
    ];
    const result = await run(files, { args: { ops } });
    const issues = [
      "f(); g(): Invalid pattern: Multiple AST nodes are detected. Please check the pattern source `f(); g()`.",
      "bad.ts: parse error (syntax tree contains error nodes)",
      "latin.ts: parse error (not valid UTF-8)",
    ];
    expect(textOf(result)).toBe(
      [
        "Staged as pa_1 – files NOT modified. Call resolve to apply or discard.",
        "",
        "# good.ts (1 replacement)",
        "-1:1 f(1)",
        "+1:1 g(1)",
        "",
        "Parse issues:",
        ...issues.map((issue) => `- ${issue}`),
      ].join("\n"),
    );
    expect(detailsOf(result)).toMatchObject({ parseErrors: issues, parseErrorsTotal: 3 });
  });

  it("shows 20 of more", async () => {
    const files = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`${100 + index}.ts`, "f("]));
    const result = await edit(files, "f($A)", "");
    expect(textOf(result)).toMatch(/^No replacements made\n\nParse issues \(20 \/ 25\):\n- 100\.ts: parse error/);
    expect(detailsOf(result).parseErrors).toHaveLength(20);
  });

  it("reports a named file of unknown kind next to one that is known", async () => {
    const result = await edit({ "a.ts": "f()", "b.txt": "f()" }, "f()", "g()", { paths: ["a.ts", "b.txt"] });
    expect(textOf(result)).toMatch(/- b\.txt: parse error \(unknown file ending; give lang\)$/);
  });

  it("does not call a pattern broken that fits one of the languages", async () => {
    const files = { "a.ts": "const log = 1", "a.css": ".const{}", "a.html": "<p>const</p>" };
    const result = await edit(files, "const $A = $B", "let $A = $B");
    expect(detailsOf(result)).toMatchObject({ totalReplacements: 1, files: ["a.ts"] });
    expect(detailsOf(result)).not.toHaveProperty("parseErrors");
  });

  it("reports a file over 4 MB", async () => {
    const result = await edit({ "a.ts": `f(1)\n${" ".repeat(4 * 1024 * 1024)}` }, "f(1)", "");
    expect(textOf(result)).toMatch(/- a\.ts: parse error \(larger than 4MB\)$/);
  });

  it("calls a selector broken that is no kind of node", async () => {
    const call = edit({ "a.ts": "f(1)" }, "f($A)", "", { sel: "nope" });
    await expect(call).rejects.toThrow("- f($A): Invalid pattern: Kind `nope` is invalid.");
  });
});

describe("which files", () => {
  const files = {
    "a.ts": "f()",
    "app/[id]/page.ts": "f()",
    "my dir/b.ts": "f()",
    "lib/c.js": "f()",
    "lib/deep/d.js": "f()",
    ".gitignore": "lib/deep\n",
    "node_modules/m/i.js": "f()",
  };
  it.each<[Record<string, unknown>, string[]]>([
    [{}, ["a.ts", "app/[id]/page.ts", "lib/c.js", "my dir/b.ts"]],
    [{ paths: [] }, ["a.ts", "app/[id]/page.ts", "lib/c.js", "my dir/b.ts"]],
    [{ path: "my dir" }, ["my dir/b.ts"]],
    [{ path: "app/[id]/page.ts" }, ["app/[id]/page.ts"]],
    [{ path: "a.ts lib" }, ["a.ts", "lib/c.js"]],
    [{ path: "a.ts,lib/*.js" }, ["a.ts", "lib/c.js"]],
    [{ paths: "**/*.{ts,js}" }, ["a.ts", "app/[id]/page.ts", "lib/c.js", "my dir/b.ts"]],
    [{ paths: [".", "a.ts", "./a.ts", "lib", "lib/c.js"] }, ["a.ts", "app/[id]/page.ts", "lib/c.js", "my dir/b.ts"]],
    [{ path: "lib/deep" }, ["lib/deep/d.js"]],
    [{ path: "lib/deep/d.js" }, ["lib/deep/d.js"]],
    [{ path: "node_modules" }, ["node_modules/m/i.js"]],
    [{ path: "node_modules/**/*.js" }, ["node_modules/m/i.js"]],
    [{ glob: "node_modules/**" }, ["node_modules/m/i.js"]],
    [{ glob: "*.js" }, ["lib/c.js"]],
    [{ glob: "lib/*" }, ["lib/c.js"]],
    [{ path: "lib", glob: "lib/*" }, []],
    [{ lang: "js" }, ["lib/c.js"]],
    [{ lang: "js", path: "a.ts" }, ["a.ts"]],
  ])("%j", async (args, expected) => {
    const result = await edit(files, "f()", "g()", {
      lang: "ts",
      ...(expected.length > 0 ? { lang: undefined } : {}),
      ...args,
    });
    expect(detailsOf(result).files).toEqual(expected);
  });
});

describe("limits", () => {
  const files = { "a.ts": "f(1);\nf(2);\n", "b.ts": "f(3);\n" };
  it.each([
    [1, 1, true],
    [2, 2, true],
    [3, 3, false],
  ])("limit %d plans %d", async (limit, planned, limitReached) => {
    const result = await edit(files, "f($A)", "g($A)", { limit });
    expect(detailsOf(result)).toMatchObject({ totalReplacements: planned, limitReached });
    expect(textOf(result).endsWith("\n\nLimit reached; narrow path or increase limit.")).toBe(limitReached);
  });

  it("touches no more files than allowed", async () => {
    const args = { ops: [{ pat: "f($A)", out: "g($A)" }] };
    const result = await run(files, { args, options: { maxFiles: 1 } });
    expect(detailsOf(result)).toMatchObject({ files: ["a.ts"], limitReached: true });
  });

  it("refuses replacements that blow up", async () => {
    const call = edit({ "a.ts": `f("${"x".repeat(1_000_000)}")` }, "f($A)", "g($A);".repeat(100));
    await expect(call).rejects.toThrow("The rewritten files exceed 64MB; narrow the paths or the pattern.");
  });
});

describe("a long scan on a real disk", () => {
  it("of 2,000 files reports progress, writes nothing, and stops when told to", async () => {
    const cwd = temporaryDirectory();
    const source = (index: number) =>
      index % 100 === 0 ? `console.log(${index});\n` : `console.warn("log", ${index});\n`;
    for (let folder = 0; folder < 20; folder++) {
      await mkdir(join(cwd, `d${folder}`));
      const names = Array.from({ length: 100 }, (_, index) => index);
      await Promise.all(names.map((index) => writeFile(join(cwd, `d${folder}`, `${index}.ts`), source(index))));
    }
    const workspace = createNodeWorkspace({ cwd });
    const updates: string[] = [];
    const args = { ops: [{ pat: "console.log($A)", out: "logger.debug($A)" }] };
    const result = await run(workspace, { args, onUpdate: (partial) => updates.push(textOf(partial)) });
    expect(detailsOf(result)).toMatchObject({ totalReplacements: 20, filesTouched: 20, filesSearched: 2000 });
    expect(updates).toHaveLength(10);
    expect(updates[0]).toBe("Searched 200 of 2000 files; 2 replacements so far.");
    expect(await readFile(join(cwd, "d0/0.ts"), "utf8")).toBe("console.log(0);\n");

    const stop = new AbortController();
    const seen: string[] = [];
    const stopped = run(workspace, {
      args,
      signal: stop.signal,
      onUpdate(partial) {
        seen.push(textOf(partial));
        stop.abort();
      },
    });
    await expect(stopped).rejects.toMatchObject({ code: "aborted", message: "Operation aborted" });
    expect(seen).toHaveLength(1);
  });
});

it("visits a file of two names once, and names the other one", async () => {
  const cwd = temporaryDirectory();
  await writeFile(join(cwd, "a.ts"), "foo(1);\n");
  await writeFile(join(cwd, "b.ts"), "foo(1);\n");
  await writeFile(join(cwd, "c.ts"), "nothing();\n");
  await link(join(cwd, "a.ts"), join(cwd, "h.ts"));
  await link(join(cwd, "c.ts"), join(cwd, "d.ts"));
  const workspace = createNodeWorkspace({ cwd, agentDir: join(cwd, "agent") });
  const result = await run(workspace, { args: { ops: [{ pat: "foo($A)", out: "bar($A)" }] } });
  expect(detailsOf(result)).toMatchObject({ totalReplacements: 2, files: ["a.ts", "b.ts"], filesSearched: 3 });
  expect(textOf(result)).toContain("Parse issues:\n- h.ts: left out (a hard link to a.ts; it keeps the old text)");
  expect(textOf(result)).not.toContain("d.ts");
});

it("leaves a file out whose name could not be written, and goes on with the others", async () => {
  const cwd = temporaryDirectory();
  await writeFile(join(cwd, "a.ts"), "foo(1);\n");
  await writeFile(join(cwd, "new\nline.ts"), "foo(1);\n");
  const workspace = createNodeWorkspace({ cwd, agentDir: join(cwd, "agent") });
  const result = await run(workspace, { args: { ops: [{ pat: "foo($A)", out: "bar($A)" }] } });
  expect(detailsOf(result)).toMatchObject({ totalReplacements: 1, files: ["a.ts"] });
  expect(textOf(result)).toContain("- new\\nline.ts: left out (its name holds a control character)");
});

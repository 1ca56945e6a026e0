import { describe, expect, it } from "vitest";
import type { ToolResult } from "../protocol/events.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import type { AstGrepDetails } from "./ast/grep-report.js";
import { createAstGrep } from "./ast-grep.js";

type Files = Parameters<typeof createMemoryWorkspace>[0];

async function grep(
  files: Files,
  args: Record<string, unknown>,
  { signal, onUpdate }: { signal?: AbortSignal; onUpdate?: (partial: ToolResult) => void } = {},
): Promise<{ text: string; details: AstGrepDetails; isWarning: boolean | undefined }> {
  const workspace = createMemoryWorkspace(files);
  const tool = createAstGrep(workspace);
  const prepared = tool.prepareArguments?.(args) as { pat: string[] };
  const result = await tool.execute("call_1", prepared, signal, onUpdate ?? (() => {}), { cwd: workspace.cwd });
  const text = result.content.map((block) => ("text" in block ? block.text : "")).join("");
  return { text, details: result.details as AstGrepDetails, isWarning: result.isWarning };
}

const files = {
  "root.ts": "f(1)",
  "src/a.ts": "// a\nf(x, y);\n  f(\n    z,\n  );\n",
  "src/b.py": "f(2)\n",
  "src/deep/c.ts": "g(f(3))\n",
  "src/z.ts": "nothing()\n",
};

it("only reads, and is told so", () => {
  const { name, approval } = createAstGrep(createMemoryWorkspace({}));
  expect({ name, approval }).toEqual({ name: "ast_grep", approval: "read" });
});

it("leaves out a named file without a grammar, and names it", async () => {
  const { text } = await grep({ "a.ts": "f(1)", "b.kt": "f(1)" }, { pat: "f($A)", path: "a.ts, b.kt" });
  expect(text).toContain("- b.kt: left out (Grammar for 'kotlin' is not installed (@ast-grep/lang-kotlin).)");
  expect(text).toContain("f(1)");
});

describe("what is found", () => {
  it("is grouped by directory, with lines and captures", async () => {
    const { text, details, isWarning } = await grep(files, { pat: ["f($A, $$$REST)", "f($A)"] });
    expect(text).toBe(
      [
        "# root.ts",
        "1:f(1)",
        "  meta: A=1",
        "# src",
        "## └─ a.ts",
        "2:f(x, y)",
        "  meta: A=x, REST=y",
        "3:f(",
        "4:    z,",
        "5:  )",
        "  meta: A=z",
        "## └─ b.py",
        "1:f(2)",
        "  meta: A=2",
        "# src/deep",
        "## └─ c.ts",
        "1:f(3)",
        "  meta: A=3",
      ].join("\n"),
    );
    expect(isWarning).toBeUndefined();
    expect(details).toEqual({
      matchCount: 5,
      fileCount: 4,
      filesSearched: 5,
      limitReached: false,
      scopePath: ".",
      files: ["root.ts", "src/a.ts", "src/b.py", "src/deep/c.ts"],
      fileMatches: [
        { path: "root.ts", count: 1 },
        { path: "src/a.ts", count: 2 },
        { path: "src/b.py", count: 1 },
        { path: "src/deep/c.ts", count: 1 },
      ],
    });
  });

  it("needs no headings in a single file, and shows what is around", async () => {
    const source = "one;\ntwo;\nf(1);\nfour;\nfive;\r\n";
    expect((await grep({ "a.ts": source }, { pat: "f($_)", path: "a.ts", context: 1 })).text).toBe(
      "2-two;\n3:f(1)\n4-four;",
    );
    expect((await grep({ "a.ts": source }, { pat: "f($_)", path: "a.ts", context: 9 })).text).toBe(
      "1-one;\n2-two;\n3:f(1)\n4-four;\n5-five;\n6-",
    );
  });

  it("may be nested, and is shown once where two patterns mean the same place", async () => {
    expect((await grep({ "a.ts": "f(f(1))" }, { pat: ["f($A)", "f($B)"], path: "a.ts" })).text).toBe(
      "1:f(f(1))\n  meta: A=f(1)\n1:f(1)\n  meta: A=1",
    );
  });

  it("honours lang, glob, path and sel", async () => {
    expect((await grep(files, { pat: ["f($A)"], lang: "py" })).details.files).toEqual(["src/b.py"]);
    expect((await grep(files, { pat: ["f($A)"], glob: "*.ts", path: "src/deep" })).details.files).toEqual([
      "src/deep/c.ts",
    ]);
    const css = { "a.css": ".a { color: red; margin: 0 }" };
    expect((await grep(css, { pat: "a { color: $C }", sel: "declaration", path: "a.css" })).text).toBe(
      "1:color: red;\n  meta: C=red",
    );
  });

  it("leaves escapes out and cuts what is long", async () => {
    const long = `f("\u001b[31m${"x".repeat(3000)}")`;
    const { text } = await grep({ "a.ts": long }, { pat: "f($A)", path: "a.ts" });
    const [line, meta, , remark] = text.split("\n");
    expect(line).toBe(`1:f("${"x".repeat(1024 - 5)}…`);
    expect(meta).toBe(`  meta: A="${"x".repeat(119)}…`);
    expect(remark).toBe("[Some lines truncated to 1024 chars]");
    const tall = await grep({ "a.ts": `f(${"\n".repeat(30)})` }, { pat: "f($$$A)", path: "a.ts" });
    expect(tall.text.split("\n").at(-1)).toBe("  … (+11 lines)");
  });

  it("is bounded as a whole", async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}.ts`, "f(1);\n".repeat(300)]));
    const { text, details } = await grep(many, { pat: "f($A)", limit: 100_000 });
    expect(details.matchCount).toBe(9000);
    expect(text.length).toBeLessThan(53_000);
    expect(text).toMatch(/\n\n\[Output cut at 50KB; narrow path pattern or lower limit\]$/);
  });
});

describe("limits", () => {
  const many = { "a.ts": "f(1);\nf(2);\nf(3);\n", "b.ts": "f(4);\nf(5);\n" };
  const lines = ({ text }: { text: string }) => text.match(/f\(\d\)/g)?.join("");
  const sentence = "\n\nResult limit reached; narrow path pattern or increase limit.";

  it.each([
    [{ limit: 2 }, "f(1)f(2)", true],
    [{ limit: 3 }, "f(1)f(2)f(3)", true],
    [{ limit: 5 }, "f(1)f(2)f(3)f(4)f(5)", false],
    [{ limit: 2, offset: 2 }, "f(3)f(4)", true],
    [{ limit: 2, offset: 3 }, "f(4)f(5)", false],
    [{ limit: 2.9, offset: 4 }, "f(5)", false],
  ])("%j", async (args, expected, limitReached) => {
    const result = await grep(many, { pat: "f($_)", ...args });
    expect(lines(result)).toBe(expected);
    expect(result.text.endsWith(sentence)).toBe(limitReached);
    expect(result.details.limitReached).toBe(limitReached);
  });

  it("are 50 matches by default", async () => {
    const { details } = await grep({ "a.ts": "f(1);\n".repeat(60) }, { pat: "f($A)" });
    expect(details).toMatchObject({ matchCount: 50, limitReached: true });
  });
});

describe("nothing found", () => {
  it("is a warning", async () => {
    const { text, isWarning } = await grep(files, { pat: "nope()" });
    expect({ text, isWarning }).toEqual({ text: "No matches found", isWarning: true });
    expect(await grep({ "a.txt": "f(1)" }, { pat: "f(1)" })).toMatchObject({ text: "No matches found" });
    expect(await grep(files, { pat: "f($A)", offset: 99 })).toMatchObject({ text: "No matches found" });
  });

  it("is doubted where something could not be parsed", async () => {
    const { text, details } = await grep({ "a.ts": "f(", "b.txt": "f(1)" }, { pat: ["f($A)"], path: "a.ts b.txt" });
    const issues = [
      "a.ts: parse error (syntax tree contains error nodes)",
      "b.txt: parse error (unknown file ending; give lang)",
    ];
    expect(text).toBe(
      [
        "No matches found",
        "",
        "What could not be parsed was not searched: the query may be mis-scoped. Narrow path, or set lang.",
        "",
        "Parse issues:",
        ...issues.map((issue) => `- ${issue}`),
      ].join("\n"),
    );
    expect(details).toMatchObject({ parseErrors: issues, parseErrorsTotal: 2 });
  });
});

describe("arguments that cannot be meant", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["no pattern", { pat: [] }, "`pat` must include at least one non-empty pattern"],
    ["empty patterns", { pat: ["", "  "] }, "`pat` must include at least one non-empty pattern"],
    ["long pattern", { pat: "!".repeat(2001) }, "`pat` has a pattern longer than 2000 characters"],
    ["limit 0", { limit: 0 }, "Limit must be a positive number"],
    ["limit NaN", { limit: Number.NaN }, "Limit must be a positive number"],
    ["offset", { offset: -1 }, "Offset must be a non-negative number"],
    ["context", { context: -1 }, "Context must be a non-negative number"],
    ["missing path", { path: "nope" }, "Path not found: nope"],
    ["missing grammar", { lang: "kotlin" }, "Grammar for 'kotlin' is not installed (@ast-grep/lang-kotlin)."],
    ["broken pattern", { pat: "f(); g()", path: "root.ts" }, "No pattern could be parsed\n- f(); g(): Invalid pattern"],
  ])("%s", async (_case, args, message) => {
    const call = grep(files, { pat: "f($A)", ...args });
    await expect(call).rejects.toMatchObject({ code: "tool_failed", message: expect.stringContaining(message) });
  });

  it("are not the empty pattern among others", async () => {
    expect((await grep(files, { pat: ["", "f($A)"], path: "root.ts" })).details.matchCount).toBe(1);
  });
});

it("reports progress and stops when told to", async () => {
  const many = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`${1000 + index}.ts`, "f(1)"]));
  const stop = new AbortController();
  const updates: string[] = [];
  const call = grep(
    many,
    { pat: "f($A)", limit: 1000 },
    {
      signal: stop.signal,
      onUpdate(partial) {
        const [block] = partial.content;
        if (block && "text" in block) updates.push(block.text);
        stop.abort();
      },
    },
  );
  await expect(call).rejects.toMatchObject({ code: "aborted", message: "Operation aborted" });
  expect(updates).toEqual(["Searched 200 of 450 files; 199 matches so far."]);
});

import { describe, expect, it } from "vitest";
import { type ParsedRule, parseRule } from "./rule.js";
import { keptLog, streamRule } from "./rules.test-kit.js";

async function parse(
  text: string,
  path = "rules/no-any.md",
): Promise<{ parsed: ParsedRule | undefined; warnings: string[] }> {
  const log = keptLog();
  return { parsed: await parseRule({ path, text }, log), warnings: log.warnings };
}

const head = (yaml: string) => parse(`---\n${yaml}\n---\nBody\n`);

async function refusal(text: string): Promise<string[]> {
  const { parsed, warnings } = await parse(text);
  expect(parsed).toBeUndefined();
  return warnings;
}

describe("a stream rule", () => {
  it("has a name, a text, conditions and scopes", async () => {
    const { parsed, warnings } = await parse(
      "---\r\ncondition: '\\bany\\b'\r\nscope: text\r\n---\r\n\r\nDo not use any.\r\n",
    );
    expect(parsed).toMatchObject({
      kind: "stream",
      rule: {
        name: "no-any",
        path: "rules/no-any.md",
        content: "Do not use any.",
        condition: ["\\bany\\b"],
        scope: ["text"],
        globs: [],
      },
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    ["condition: foo", ["foo"]],
    ["condition: [foo, bar]", ["foo", "bar"]],
    ["condition:\n  - foo\n  - ba+r", ["foo", "ba+r"]],
    ["ttsr_trigger: foo", ["foo"]],
    ["ttsrTrigger: foo", ["foo"]],
    ["ttsr_trigger: old\ncondition: new", ["new"]],
    ["condition: a, b", ["a, b"]],
    ["condition: \\bany\\b", ["\\bany\\b"]],
  ])("%j has the condition %j", async (yaml, condition) => {
    expect((await streamRule("r", yaml)).condition).toEqual(condition);
  });

  it("looks at prose and at any tool unless it says where", async () => {
    const { scope, triggers } = await streamRule("r", "condition: x");
    expect(scope).toEqual(["text", "tool"]);
    expect(triggers[0]?.scopes).toEqual([{ kind: "text" }, { kind: "tool" }]);
  });

  it.each([
    ["text", { kind: "text" }],
    ["thinking", { kind: "thinking" }],
    ["tool", { kind: "tool" }],
    ["toolcall", { kind: "tool" }],
    ["tool:edit", { kind: "tool", name: "edit" }],
    ["toolcall:edit", { kind: "tool", name: "edit" }],
    ["edit", { kind: "tool", name: "edit" }],
    ["tool(*.rs)", { kind: "tool", glob: expect.any(Function) }],
    ["tool:edit(src/**)", { kind: "tool", name: "edit", glob: expect.any(Function) }],
    ["edit(*.{ts,tsx})", { kind: "tool", name: "edit", glob: expect.any(Function) }],
  ])("knows the scope %s", async (text, scope) => {
    const rule = await streamRule("r", `condition: x\nscope: "${text}"`);
    expect(rule.scope).toEqual([text]);
    expect(rule.triggers[0]?.scopes).toEqual([scope]);
  });

  it("takes an empty list of scopes or globs for none", async () => {
    expect(await streamRule("r", "condition: x\nscope: []\nglobs: []")).toMatchObject({
      scope: ["text", "tool"],
      globs: [],
    });
  });

  it("takes scopes and globs as a list or as one text with commas", async () => {
    const listed = await streamRule("r", "condition: x\nscope: [text, 'edit(*.{ts,tsx})']\nglobs: ['*.ts', '*.tsx']");
    const joined = await streamRule("r", "condition: x\nscope: text, edit(*.{ts,tsx})\nglobs: '*.ts, *.tsx'");
    for (const rule of [listed, joined]) {
      expect(rule.scope).toEqual(["text", "edit(*.{ts,tsx})"]);
      expect(rule.globs).toHaveLength(2);
    }
  });

  it.each(["*.rs", "**/*.rs", "src/*.rs", "src/**", "*.{ts,tsx}"])(
    "turns the glob %s into tool scopes",
    async (glob) => {
      const rule = await streamRule("r", `condition: '${glob}'`);
      expect(rule.condition).toEqual([".*"]);
      expect(rule.scope).toEqual([`tool:edit(${glob})`, `tool:write(${glob})`]);
    },
  );

  it("reads a glob without quotes, which YAML would take for an alias", async () => {
    const rule = await streamRule("r", "condition: *.rs  # Rust\nglobs: *.it's.rs");
    expect(rule.scope).toEqual(["tool:edit(*.rs)", "tool:write(*.rs)"]);
    expect(rule.globs[0]?.("a.it's.rs")).toBe(true);
  });

  it("keeps the scopes of a glob and of an expression apart", async () => {
    const rule = await streamRule("r", "condition: ['*.rs', unwrap]\nscope: text");
    expect(rule.condition).toEqual(["unwrap", ".*"]);
    expect(rule.scope).toEqual(["text", "tool:edit(*.rs)", "tool:write(*.rs)"]);
    expect(rule.triggers.map(({ scopes }) => scopes.map(({ kind }) => kind))).toEqual([["text"], ["tool", "tool"]]);
  });

  it.each(["a*b", ".*\\.rs", "https?://*", "[*]"])("takes %s for an expression", async (condition) => {
    expect((await streamRule("r", `condition: '${condition}'`)).condition).toEqual([condition]);
  });

  it("may have an interrupt mode of its own", async () => {
    expect(await streamRule("r", "condition: x\ninterruptMode: tool-only")).toMatchObject({
      interruptMode: "tool-only",
    });
    const { parsed, warnings } = await head("condition: x\ninterruptMode: sometimes");
    expect(parsed?.rule).not.toHaveProperty("interruptMode");
    expect(warnings).toEqual([
      "The rule rules/no-any.md has an interruptMode other than never, prose-only, tool-only, always.",
    ]);
  });
});

describe("a prompt rule", () => {
  it.each([
    ["Just text", { content: "Just text", alwaysApply: false, globs: [] }],
    ["---\nalwaysApply: true\n---\nBody", { content: "Body", alwaysApply: true, globs: [] }],
    [
      "---\ndescription: When testing\nglobs: *.ts,*.tsx\n---\nBody",
      { description: "When testing", alwaysApply: false, globs: ["*.ts", "*.tsx"] },
    ],
    ["---\ncondition:\ndescription: Empty condition\n---\nBody", { description: "Empty condition" }],
    ["---\nnot closed", { content: "---\nnot closed" }],
    ["", { content: "" }],
  ])("%j", async (text, rule) => {
    expect((await parse(text)).parsed).toMatchObject({ kind: "prompt", rule: { name: "no-any", ...rule } });
  });

  it("is named after its file", async () => {
    expect((await parse("x", "/a/b/rules/style.guide.mdc")).parsed?.rule.name).toBe("style.guide");
  });
});

describe("what cannot be used", () => {
  it("skips a bad expression and keeps the rule", async () => {
    const { parsed, warnings } = await head("condition: ['a(', good]");
    expect(parsed).toMatchObject({ kind: "stream", rule: { condition: ["good"] } });
    expect(warnings).toEqual([
      expect.stringMatching(/^The rule rules\/no-any\.md has a bad condition \(Invalid .*\)\.$/),
    ]);
  });

  it.each([
    ["condition: 'a('", "has no valid condition"],
    ["condition: []", "has no valid condition"],
    ["condition: 42", "has no valid condition"],
    ["condition: {a: b}", "has no valid condition"],
    ['condition: "\\bany\\b"', "has no valid condition"],
    [`condition: ${"x".repeat(2001)}`, "has no valid condition"],
    ["condition: x\nscope: 'text(*.rs)'", "has no valid scope"],
    ["condition: x\nscope: ['tool:', 'a b', '(x)', {text: 1}]", "has no valid scope"],
    ["condition: x\nglobs: {ts: true}", "has no valid glob"],
    ["condition: x\nglobs: [[a]]", "has no valid glob"],
    ["condition: x\nglobs: '*a*b*c*d*e*f'", "has no valid glob"],
  ])("does not register %s: it %s", async (yaml, problem) => {
    expect((await refusal(`---\n${yaml}\n---\nBody`)).at(-1)).toBe(
      `The rule rules/no-any.md ${problem}; it is not used.`,
    );
  });

  it("explains the trap of double quotes", async () => {
    const { warnings } = await head('condition: ["\\bany\\b", x]');
    expect(warnings).toEqual(["The rule rules/no-any.md has a backspace in a condition; put it in single quotes."]);
  });

  it("removes invisible characters and reports their number", async () => {
    const { parsed, warnings } = await parse("\ufeff---\ncondition: a\u200bny\n---\nDo\u{e0041}\u{e0042} not.");
    expect(parsed?.rule).toMatchObject({ condition: ["any"], content: "Do not." });
    expect(warnings).toEqual([
      "The rule rules/no-any.md had invisible characters, which were removed: 2 tag characters, 1 zero-width character.",
    ]);
  });
});

describe("a hostile file", () => {
  it.each([
    ["huge", "x".repeat(64 * 1024 + 1), "is longer than 65536 characters"],
    ["a huge head", `---\n${"# x\n".repeat(2000)}---\n`, "has a front matter of more than 4096 characters"],
    ["not YAML", "---\na: [b\n---\n", "has a front matter that is not valid YAML (bad indent)"],
    ["two documents", "---\na: 1\n--- x\nb: 1\n---\n", "has a front matter that is not valid YAML (multiple docs)"],
    [
      "two conditions",
      "---\ncondition: a\ncondition: b\n---\n",
      "has a front matter that is not valid YAML (duplicate key)",
    ],
    ["a list", "---\n- condition\n---\n", "has a front matter that is not a map"],
    ["nested lists", `---\na: ${"[".repeat(2000)}\n---\n`, "has a front matter that is nested too deeply"],
    [
      "keys within keys",
      `---\ncondition: x\n${"? ".repeat(200)}y\n---\n`,
      "has a front matter that is nested too deeply",
    ],
    ["lists within lists", `---\na:\n ${"- ".repeat(1500)}b\n---\n`, "has a front matter that is nested too deeply"],
  ])("%s is refused", async (_what, text, problem) => {
    const expected = typeof problem === "string" ? `The rule rules/no-any.md ${problem}; it is not used.` : problem;
    expect(await refusal(text)).toEqual([expected]);
  });

  it("with a bomb of aliases gets nothing expanded", async () => {
    const bomb = ["a: &a [x, x]", ...Array.from({ length: 20 }, (_, i) => `k${i}: &k${i} [*a, *a]`), "condition: *a"];
    expect((await head(bomb.join("\n"))).warnings.at(-1)).toContain("has no valid condition");
    const through = await head("scope: &a [text]\ncondition: x\nglobs: [*a]");
    expect(through.warnings.at(-1)).toContain("has no valid glob");
  });

  it("cannot reach a prototype", async () => {
    const { parsed } = await head("__proto__: {condition: x}\nconstructor: y\n<<: {condition: z}");
    expect(parsed?.kind).toBe("prompt");
    expect(Object.getPrototypeOf(parsed?.rule)).toBe(Object.prototype);
    expect(({} as { condition?: unknown }).condition).toBeUndefined();
  });

  it("cannot put control characters into a name", async () => {
    const { parsed } = await parse("---\ncondition: x\n---\n", "rules/a\n\u001b[31m.md");
    expect(parsed?.rule).toMatchObject({ name: "a\\n\\u001b[31m", path: "rules/a\\n\\u001b[31m.md" });
  });

  it("cannot have too many conditions", async () => {
    const { parsed, warnings } = await head(`condition: [${Array.from({ length: 40 }, (_, i) => `a${i}`)}]`);
    expect(parsed).toMatchObject({ rule: { condition: { length: 32 } } });
    expect(warnings).toEqual(["The rule rules/no-any.md has more than 32 members in a list; the others are not used."]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { compileExpression } from "./expression.js";
import { RuleMatcher, type SourceKey } from "./matcher.js";
import type { StreamRule } from "./rule.js";
import { cutAt, keptLog, sources, streamRule, texts } from "./rules.test-kit.js";

function matcher(...rules: StreamRule[]): RuleMatcher & { readonly warnings: string[] } {
  const log = keptLog();
  const made = new RuleMatcher({ cwd: "/project", log });
  made.reset(rules);
  return Object.assign(made, { warnings: log.warnings });
}

/** Feeds the pieces and the end; the names of the rules that matched, in order. */
function names(watching: RuleMatcher, key: SourceKey, pieces: readonly string[]): string[] {
  return [...pieces.flatMap((piece) => watching.append(key, piece)), ...watching.end(key)].map(({ name }) => name);
}

describe("text in pieces", () => {
  it("matches once wherever it is cut", async () => {
    const rule = await streamRule("no-any", "condition: 'as\\s+any'");
    const text = "const x = y as  any; z as any";
    for (let cut = 0; cut <= text.length; cut++)
      expect(names(matcher(rule), "text", [text.slice(0, cut), text.slice(cut)])).toEqual(["no-any"]);
    expect(names(matcher(rule), "text", [...text])).toEqual(["no-any"]);
  });

  it("answers with the delta that completes the match", async () => {
    const watching = matcher(await streamRule("r", "condition: forbidden"));
    expect(watching.append("text", "this is forbid")).toEqual([]);
    expect(watching.append("text", "den")).toMatchObject([{ name: "r" }]);
    expect(watching.append("text", " forbidden")).toEqual([]);
  });

  it("does not take the first half of a word for the word", async () => {
    const rule = await streamRule("r", "condition: '\\bany\\b'");
    expect(names(matcher(rule), "text", ["any", "thing"])).toEqual([]);
    expect(names(matcher(rule), "text", ["x any", " y"])).toEqual(["r"]);
    expect(names(matcher(rule), "text", ["x any"])).toEqual(["r"]);
    expect(matcher(rule).append("text", "x any y")).toHaveLength(1);
  });

  it("waits for what must not follow", async () => {
    const rule = await streamRule("r", "condition: 'log(?!ger)'");
    expect(names(matcher(rule), "text", ["log", "g", "er is fine here"])).toEqual([]);
    expect(names(matcher(rule), "text", ["log", "g", "in"])).toEqual(["r"]);
  });

  it("knows where the text begins, also when it has forgotten that part", async () => {
    const rule = await streamRule("r", "condition: ['^b', '\\Bx']");
    const filler = "a ".repeat(5000);
    expect(names(matcher(rule), "text", ["b"])).toEqual(["r"]);
    expect(names(matcher(rule), "text", [filler, "b", filler, "b x", filler])).toEqual([]);
    expect(names(matcher(rule), "text", [filler, "ax", filler])).toEqual(["r"]);
  });

  it("finds a match across the edge of a piece in one long delta", async () => {
    const rule = await streamRule("r", "condition: 'begin[^]{0,3000}end'");
    for (const before of [0, 1000, 4090, 4096, 70_000])
      for (const between of [0, 10, 3000])
        expect(names(matcher(rule), "text", [`${"x".repeat(before)}begin${"y".repeat(between)}end`])).toEqual(["r"]);
  });

  it("has forgotten what lies further back than the overlap", async () => {
    const rule = await streamRule("r", "condition: 'begin[^]*end'");
    expect(names(matcher(rule), "text", ["begin", "x".repeat(4000), "end"])).toEqual(["r"]);
    expect(names(matcher(rule), "text", ["begin", "x".repeat(9000), "end"])).toEqual([]);
  });

  it("gives the answer of the expression on the whole text, whatever the expression and the cuts", () => {
    fc.assert(
      fc.property(sources, texts, fc.array(fc.nat()), (source, text, cuts) => {
        const rule: StreamRule = {
          name: "r",
          path: "r.md",
          content: "",
          condition: [source],
          scope: ["text"],
          triggers: [{ expression: compileExpression(source), scopes: [{ kind: "text" }] }],
          globs: [],
        };
        const expected = new RegExp(source).test(text) ? ["r"] : [];
        const watching = matcher(rule);
        expect(names(watching, "text", cutAt(text, cuts))).toEqual(expected);
        expect(watching.warnings).toEqual([]);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("finds the same in a long text however it is cut", async () => {
    const rules = await Promise.all([
      streamRule("word", "condition: '\\bneedle\\b'"),
      streamRule("spaced", "condition: 'needle\\s+\\w+!'"),
      streamRule("start", "condition: '^hay'"),
      streamRule("last", "condition: 'y$'"),
      streamRule("never", "condition: 'needles'"),
    ]);
    const filler = fc.nat(9000).map((length) => "hay ".repeat(length / 4));
    const planted = fc.array(fc.oneof(filler, fc.constantFrom("needle", " ", "x!", "needles", "need", "le y")), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(planted, fc.array(fc.nat(), { maxLength: 30 }), (parts, cuts) => {
        const text = parts.join("");
        fc.pre(text !== "");
        const expected = rules.filter(({ triggers }) => new RegExp(triggers[0]?.expression.source ?? "").test(text));
        expect(names(matcher(...rules), "text", cutAt(text, cuts)).sort()).toEqual(
          expected.map(({ name }) => name).sort(),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("sources", () => {
  it("keeps prose, thinking and each tool call apart", async () => {
    const rule = await streamRule("r", "condition: ab\nscope: [text, thinking, tool]");
    const watching = matcher(rule);
    watching.openToolCall(2, "edit");
    watching.openToolCall(3, "edit");
    for (const [key, delta] of [
      ["text", "a"],
      ["thinking", "b"],
      [2, "a"],
      [3, "b"],
      ["text", "c"],
    ] as const)
      expect(watching.append(key, delta)).toEqual([]);
    expect(watching.append(2, "b")).toEqual([rule]);
  });

  it.each([
    ["text", ["text"]],
    ["thinking", ["thinking"]],
    ["tool", ["edit", "bash"]],
    ["tool:edit", ["edit"]],
    ["edit", ["edit"]],
    ["[text, bash]", ["text", "bash"]],
  ])("scope %s watches %j", async (scope, expected) => {
    const rule = await streamRule("r", `condition: x\nscope: ${scope}`);
    const heard = ["text", "thinking", "edit", "bash"].filter((source) => {
      const watching = matcher(rule);
      if (source === "edit" || source === "bash") watching.openToolCall(0, source);
      const key = source === "edit" || source === "bash" ? 0 : (source as SourceKey);
      return watching.append(key, "x").length > 0;
    });
    expect(heard).toEqual(expected);
  });

  it("tells a rule once a turn, and again in the next", async () => {
    const rule = await streamRule("r", "condition: [x, y]\nscope: [text, thinking]");
    const watching = matcher(rule);
    expect(watching.isIdle).toBe(false);
    expect(watching.append("text", "xy")).toEqual([rule]);
    expect(watching.append("thinking", "x")).toEqual([]);
    expect(watching.isIdle).toBe(true);
    watching.reset([rule]);
    expect(watching.append("thinking", "y")).toEqual([rule]);
  });

  it("forgets the text of the last turn, and tool calls that it has not seen start", async () => {
    const rule = await streamRule("r", "condition: ab\nscope: [text, tool]");
    const watching = matcher(rule);
    watching.append("text", "a");
    watching.openToolCall(0, "edit");
    watching.reset([rule]);
    expect(names(watching, "text", ["b"])).toEqual([]);
    expect(names(watching, 0, ["ab"])).toEqual([]);
  });
});

describe("paths", () => {
  const call = (path: string, content = "unwrap()") => JSON.stringify({ path, content });

  it.each([
    ["condition: unwrap\nscope: edit(*.rs)", "src/deep/a.rs", true],
    ["condition: unwrap\nscope: edit(*.rs)", "a.ts", false],
    ["condition: unwrap\nscope: edit(src/*.rs)", "src/a.rs", true],
    ["condition: unwrap\nscope: edit(src/*.rs)", "./src/a.rs", true],
    ["condition: unwrap\nscope: edit(src/*.rs)", "/project/src/a.rs", true],
    ["condition: unwrap\nscope: edit(/project/src/*.rs)", "src/a.rs", true],
    ["condition: unwrap\nscope: edit(src/*.rs)", "other/src/a.rs", false],
    ["condition: unwrap\nscope: edit(../*.rs)", "/a.rs", true],
    ["condition: unwrap\nscope: [edit(*.ts), edit(*.rs)]", "a.rs", true],
    ["condition: unwrap\nscope: [write(*.rs), edit(*.ts)]", "a.rs", false],
    ["condition: unwrap\nscope: [edit, edit(*.ts)]", "a.rs", true],
    ["condition: unwrap\nglobs: '*.rs'", "a.rs", true],
    ["condition: unwrap\nglobs: '*.rs'", "a.ts", false],
    ["condition: unwrap\nscope: edit(src/**)\nglobs: '*.rs'", "src/a.rs", true],
    ["condition: unwrap\nscope: edit(src/**)\nglobs: '*.rs'", "src/a.ts", false],
    ["condition: '*.rs'", "a.rs", true],
    ["condition: '*.rs'", "a.rss", false],
    ["condition: nowhere\nglobs: '*.rs'", "a.rs", false],
  ])("%j on an edit of %s: %s", async (head, path, isMatch) => {
    const rule = await streamRule("r", head);
    for (const text of [call(path), JSON.stringify({ content: "unwrap()", path })]) {
      const watching = matcher(rule);
      watching.openToolCall(0, "edit");
      expect(names(watching, 0, [...text])).toEqual(isMatch ? ["r"] : []);
    }
  });

  it("waits for the whole path, and then remembers the text before it", async () => {
    const watching = matcher(await streamRule("r", "condition: unwrap\nscope: write(*.r)"));
    watching.openToolCall(0, "write");
    expect(watching.append(0, '{"content":"unwrap()","path":"a.r')).toEqual([]);
    expect(watching.append(0, 's","other_path":"b.r"')).toHaveLength(1);
  });

  it("asks for a path even where there is prose", async () => {
    const watching = matcher(await streamRule("r", "condition: unwrap\nscope: text\nglobs: '*.rs'"));
    expect(names(watching, "text", ["unwrap() in a.rs"])).toEqual([]);
  });

  it("takes no path that no disk would", async () => {
    const watching = matcher(await streamRule("r", "condition: '*.rs'"));
    watching.openToolCall(0, "edit");
    expect(names(watching, 0, [call(`${"x".repeat(300)}.rs`)])).toEqual([]);
  });
});

describe("an expression that takes too long", () => {
  it.each(["(a+)+bb", "(a|a)+[cd]", "(?:a*)*[cd]", "(.*)*\\d"])(
    "%s is stopped, its rule given up, and the others go on",
    async (source) => {
      const bad = await streamRule("bad", `condition: '${source}'`);
      const good = await streamRule("good", "condition: 'a\\s*!.*\\?'");
      const watching = matcher(bad, good);
      expect(names(watching, "text", [`bb ${"a".repeat(50)} !`, "yes?"])).toEqual(["good"]);
      expect(watching.warnings).toEqual([
        "The rule rules/bad.md has a condition that takes too long to test; it is not used any more.",
      ]);
      watching.reset([bad]);
      expect(watching.isIdle).toBe(true);
    },
  );
});

/** The rule with another pattern in the place of its own. */
function withPattern(rule: StreamRule, test: (text: string, from: number) => boolean): StreamRule {
  const pattern = /x/g;
  pattern.test = (text) => test(text, pattern.lastIndex);
  const triggers = rule.triggers.map((trigger) => ({
    ...trigger,
    expression: { ...trigger.expression, early: pattern, literals: [] },
  }));
  return { ...rule, triggers };
}

it("gives a rule up whose test fails, and goes on", async () => {
  const failing = withPattern(await streamRule("bad", "condition: x"), () => {
    throw new RangeError("out of memory");
  });
  const watching = matcher(failing, await streamRule("good", "condition: y"));
  expect(names(watching, "text", ["x", "y"])).toEqual(["good"]);
  expect(watching.warnings).toEqual([
    "The rule rules/bad.md has a condition that cannot be tested (out of memory); it is not used any more.",
  ]);
});

it("gives a rule up whose tests are each quick enough and together too slow", async () => {
  const slow = withPattern(await streamRule("slow", "condition: 'x.*y.*z'"), () => {
    for (const end = performance.now() + 20; performance.now() < end; );
    return false;
  });
  const watching = matcher(slow);
  for (let count = 0; count < 100 && !watching.isIdle; count++) watching.append("text", "x");
  expect(watching.warnings).toHaveLength(1);
});

it("does the same work for the last of many deltas as for the first", async () => {
  let tested = 0;
  const counting = withPattern(await streamRule("r", "condition: 'needle\\s+\\w+!'"), (text, from) => {
    tested += text.length - from;
    return false;
  });
  const watching = matcher(counting);
  for (let count = 0; count < 8000; count++) watching.append("text", "some hay ");
  expect(tested).toBeGreaterThan(8000 * 9);
  expect(tested).toBeLessThanOrEqual(8000 * (4096 + 9));
});

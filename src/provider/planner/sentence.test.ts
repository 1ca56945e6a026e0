import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSentence } from "./sentence.js";

const twice = (word: string, times: number) => ({
  verb: "unclear",
  answer: `"${word}" occurs ${times} times; put the pattern and the replacement in backquotes.`,
});
const change = (pattern: string, replacement: string, ...paths: string[]) => ({
  verb: "replace",
  pattern,
  replacement,
  paths,
});

describe("replace", () => {
  it.each([
    ["replace a with b", change("a", "b", ".")],
    ["  RePlAcE   a(b)  with  c(d)   in  src ", change("a(b)", "c(d)", "src")],
    [
      "replace console.log($$$A) with logger.debug($$$A) in src, test lib",
      change("console.log($$$A)", "logger.debug($$$A)", "src", "test", "lib"),
    ],
    ["replace `a with b` with `` in x", change("a with b", "", "x")],
    ["replace ` a ` with ` b `", change(" a ", " b ", ".")],
    ['replace f("x with y") with g', change('f("x with y")', "g", ".")],
    ["replace f('x with y') with g", change("f('x with y')", "g", ".")],
    ["replace f(x with y) with [a in b] in c", change("f(x with y)", "[a in b]", "c")],
    ["replace f(x with y with z", twice("with", 2)],
    ["replace f(x with y", change("f(x", "y", ".")],
    ["replace a with b in c in d", change("a", "b in c", "d")],
    ["replace x in y with z", change("x in y", "z", ".")],
    ["replace a with b in \"my dir\" 'it,em' `c d`", change("a", "b", "my dir", "it,em", "c d")],
    ['replace a with b in "my dir', change("a", "b", '"my', "dir")],
    ["replace a\nwith\nb\nin\nc", change("a", "b", "c")],
    ["replace don't with do in src", change("don't", "do", "src")],
    ['replace "a\\" with b" with c', change('"a\\" with b"', "c", ".")],
    ["replace `${a}` with b", change("${a}", "b", ".")],
    ["replace `a` + `b` with c", change("`a` + `b`", "c", ".")],
    ["replace (a] with b) with c", change("(a] with b)", "c", ".")],
    ["replace a with b with c", twice("with", 2)],
    ["replace a b", twice("with", 0)],
    ["replace a with", twice("with", 0)],
    ["replace with with b", twice("with", 2)],
    [
      "replace a with  in src",
      { verb: "unclear", answer: "The replacement is empty; write two backquotes to delete what matches." },
    ],
    ["replace with b", undefined],
    ["replace", undefined],
  ])("%j", (text, expected) => {
    expect(parseSentence(text)).toEqual(expected);
  });
});

describe("the other sentences", () => {
  const names = { verb: "unclear", answer: "rename takes two single identifiers; use replace for anything else." };
  it.each([
    ["rename a to b", { verb: "rename", pattern: "a", replacement: "b", paths: ["."] }],
    ["Rename $a to größe in src", { verb: "rename", pattern: "$a", replacement: "größe", paths: ["src"] }],
    ["rename `a` to `b`", { verb: "rename", pattern: "a", replacement: "b", paths: ["."] }],
    ["rename a.b to c", names],
    ["rename $A to c", names],
    ["rename a to $$$B", names],
    ["rename a to b to c", twice("to", 2)],
    ["rename a", twice("to", 0)],
    ["find TODO", { verb: "find", pattern: "TODO", paths: ["."] }],
    ["find x in y in src lib", { verb: "find", pattern: "x in y", paths: ["src", "lib"] }],
    ["find `in x`", { verb: "find", pattern: "in x", paths: ["."] }],
    ["find in src", undefined],
    ["find", undefined],
    ["show README.md", { verb: "show", paths: ["README.md"] }],
    ['show "my file.txt"', { verb: "show", paths: ["my file.txt"] }],
    ["show a.ts, b.ts", { verb: "show", paths: ["a.ts", "b.ts"] }],
    ["show", undefined],
    ["run npm test -- 'a  b'\n", { verb: "run", command: "npm test -- 'a  b'\n" }],
    ["run ", undefined],
    ["apply", { verb: "apply" }],
    ["Apply pa_1", { verb: "apply", id: "pa_1" }],
    ["discard pa_2", { verb: "discard", id: "pa_2" }],
    ["apply it please", undefined],
    ["undo", { verb: "undo" }],
    ["undo ch_12345678", { verb: "undo", id: "ch_12345678" }],
    ["help", { verb: "help" }],
    [" HELP\n", { verb: "help" }],
    ["help me", undefined],
    ["", undefined],
    ["please replace a with b", undefined],
    ["replaced a with b", undefined],
    ["__proto__ x", undefined],
  ])("%j", (text, expected) => {
    expect(parseSentence(text)).toEqual(expected);
  });
});

describe("for any text", () => {
  const code = fc.string({ unit: fc.constantFrom(..."abc()[]{}\"'\\$ \n", " with ", " in ", " to ") });

  it("a backquoted pattern and replacement come back as they are", () => {
    fc.assert(
      fc.property(code, code, (pattern, replacement) => {
        fc.pre(pattern !== "");
        expect(parseSentence(`replace \`${pattern}\` with \`${replacement}\` in src`)).toEqual(
          change(pattern, replacement, "src"),
        );
      }),
    );
  });

  it("a quoted path comes back as it is", () => {
    const path = fc.string({ unit: fc.constantFrom(..."ab/. ,'`(["), minLength: 1 });
    fc.assert(
      fc.property(fc.array(path, { minLength: 1, maxLength: 4 }), (paths) => {
        const quoted = paths.map((text) => `"${text}"`).join(", ");
        expect(parseSentence(`replace \`a\` with \`b\` in ${quoted}`)).toEqual(change("a", "b", ...paths));
        expect(parseSentence(`show ${quoted}`)).toEqual({ verb: "show", paths });
      }),
    );
  });

  it("balanced brackets and quotes hide every separator", () => {
    const nested = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("a with b", " in ", "x to y", '"it is (with "', "'[ in '", "`{ with `"),
        fc
          .tuple(fc.constantFrom("()", "[]", "{}"), fc.array(tie("node"), { maxLength: 3 }))
          .map(([pair, inner]) => `${pair[0]} ${inner.join(" ")} ${pair[1]}`),
      ),
    })).node;
    fc.assert(
      fc.property(nested, (inner) => {
        const pattern = `f(${String(inner)})`;
        expect(parseSentence(`replace ${pattern} with x in y`)).toEqual(change(pattern, "x", "y"));
      }),
    );
  });

  it("never throws, and is quick on text made to be slow", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        parseSentence(text);
        parseSentence(`replace ${text}`);
        parseSentence(`find ${text}`);
      }),
    );
    const before = process.cpuUsage(); // not the time of day: the machine may be busy
    for (const piece of ["(", "([", "'", '"\\', "`", " with ", "in ", ")"])
      parseSentence(`replace ${piece.repeat(50_000)}`);
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});

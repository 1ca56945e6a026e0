import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { logTo } from "../../base/log.js";
import { expandTemplate, maxExpandedLength, parseTemplate, splitWords } from "./template.js";

const expand = (content: string, words = "") => expandTemplate({ name: "t", content }, words);

describe("expandTemplate", () => {
  it.each([
    ["Review $1 for $2.", "a.ts speed", "Review a.ts for speed."],
    ["Review $1 for $2.", "a.ts", "Review a.ts for ."],
    ["Review $1.", '"my file.ts" now', "Review my file.ts."],
    ["Say: $@", "one  'two three'", "Say: one  'two three'"],
    ["Say: $ARGUMENTS!", "line one\nline two", "Say: line one\nline two!"],
    ["$ARGUMENTS_X $ARGUMENTSX", "a", "$ARGUMENTS_X $ARGUMENTSX\n\na"],
    ["Rest: ${@:2}", "a b 'c d'", "Rest: b c d"],
    ["Rest: ${@:0}", "a b", "Rest: a b"],
    ["Middle: ${@:2:1}|${@:9}", "a b c", "Middle: b|"],
    ["${1:-src} ${2:-tests} ${@:-nothing}", "lib", "lib tests lib"],
    ["${1:-src} ${ARGUMENTS:-nothing}", "", "src nothing"],
    ["$10 and $1", "a b c d e f g h i j", "j and a"],
    ["Costs $ 5, ${x} and $y", "", "Costs $ 5, ${x} and $y"],
    ["No place.", "", "No place."],
    ["No place.", " these words ", "No place.\n\nthese words"],
  ])("%j with %j is %j", (content, words, expected) => {
    expect(expand(content, words)).toBe(expected);
  });

  it("puts words in once, whatever they contain", () => {
    expect(expand("$1 $2", "$2 $1")).toBe("$2 $1");
    expect(expand("$@", "$& $` ${@:1}")).toBe("$& $` ${@:1}");
    fc.assert(
      fc.property(fc.string(), (words) => expand("<$ARGUMENTS>", words) === `<${words.trim()}>`),
      { numRuns: 500 },
    );
  });

  it("refuses what would grow beyond all measure", () => {
    const words = "x".repeat(100_000);
    expect(() => expand("$@ ".repeat(1000), words)).toThrow("/t with these words is too long; use fewer of them.");
    expect(expand("$@", "x".repeat(maxExpandedLength - 2))).toHaveLength(maxExpandedLength - 2);
  });
});

it.each([
  ["a b", ["a", "b"]],
  ["  a \n b ", ["a", "b"]],
  [`"a b" 'c d' e"f g"`, ["a b", "c d", 'e"f', 'g"']],
  ["don't 'stop", ["don't", "'stop"]],
  [`"" ''`, ["", ""]],
])("%j is split into %j", (text, words) => {
  expect(splitWords(text)).toEqual(words);
});

describe("parseTemplate", () => {
  const lines: string[] = [];
  const log = logTo((line) => void lines.push(line.trim()));
  const parse = (text: string, path = "/home/prompts/review.md") =>
    parseTemplate({ path, provider: "native", level: "user", text }, log);

  it("takes its name from the file, and what it is from the head", async () => {
    const text = "---\ndescription: Reviews: no, reads\nargument-hint: [file] [why]\n---\n\nReview $1.\n";
    await expect(parse(text)).rejects.toThrow("has a front matter that is not valid YAML");
    expect(await parse(text.replace(": no", ", no"))).toEqual({
      name: "review",
      description: "Reviews, no, reads",
      argumentHint: "[file] [why]",
      content: "Review $1.",
      place: { path: "/home/prompts/review.md", provider: "native", level: "user" },
    });
    expect(await parse("Review it.\nWell.")).toMatchObject({ description: "Review it.", content: "Review it.\nWell." });
    expect(await parse("---\r\nallowed-tools: Bash(git:*)\r\n---\r\nDo it.\r\n")).toMatchObject({ content: "Do it." });
  });

  it("removes invisible characters and reports them", async () => {
    lines.length = 0;
    expect((await parse("Do\u200b \u{e0041}it\u001b[31m.")).content).toBe("Do it.");
    expect(lines).toEqual(["galley: /home/prompts/review.md: removed 1 tag character, 1 zero-width character"]);
  });

  it.each([
    ["---\na: &a [x]\nb: *a\n---\n", "says nothing"],
    ["", "says nothing"],
    [`---\n${"[".repeat(3000)}\n---\nx`, "has a front matter that"],
    [`---\na: ${"x".repeat(5000)}\n---\nx`, "has a front matter of more than 4096 characters"],
    ["---\n- a\n---\nx", "has a front matter that is not a map"],
  ])("refuses %#", async (text, problem) => {
    await expect(parse(text)).rejects.toThrow(problem);
  });

  it("refuses a name that cannot be typed", async () => {
    await expect(parse("x", "/p/two words.md")).rejects.toThrow("has a name that cannot be typed as one word");
    await expect(parse("x", "/p/a\u202eb.md")).rejects.toThrow("cannot be typed");
  });
});

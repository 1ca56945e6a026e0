import { beforeAll, describe, expect, it } from "vitest";
import { createMarkdownParser, type ParseMarkdown } from "./markdown.js";

let parse: ParseMarkdown;
beforeAll(async () => {
  parse = await createMarkdownParser();
});

const text = (written: string) => ({ type: "text", text: written });

describe("what it reads", () => {
  it("keeps the structure of lists", () => {
    const item = (written: string) => [{ type: "paragraph", children: [text(written)] }];
    expect(parse("- a\n- b\n\n3. c\n\n4. d")).toEqual([
      { type: "list", isTight: true, items: [item("a"), item("b")] },
      { type: "list", start: 3, isTight: false, items: [item("c"), item("d")] },
    ]);
  });

  it("names the language of a fence", () => {
    expect(parse("```ts title=x\na\n```\n\n    b\n")).toEqual([
      { type: "code", language: "ts", text: "a\n" },
      { type: "code", language: "", text: "b\n" },
    ]);
  });

  it("reads tables by their cells", () => {
    expect(parse("|a|b|\n|-|-:|\n|*1*|2|")).toEqual([
      {
        type: "table",
        align: ["left", "right"],
        head: [[text("a")], [text("b")]],
        rows: [[[{ type: "emphasis", children: [text("1")] }], [text("2")]]],
      },
    ]);
  });

  it("has an address only where it may be followed", () => {
    const children = [text("a")];
    expect(parse("[a](https://b.example) [a](src/b.ts)")).toEqual([
      {
        type: "paragraph",
        children: [
          { type: "link", address: "https://b.example/", written: "https://b.example", children },
          text(" "),
          { type: "link", written: "src/b.ts", children },
        ],
      },
    ]);
  });
});

it.each([
  ["very long", "word ".repeat(30_000)],
  ["deep", `${"**a *b ".repeat(100)}${" c* d**".repeat(100)}`],
  ["deep in quotes", `${"> ".repeat(100)}a`],
])("a text that is %s stays as it was written", (_, source) => {
  expect(parse(source)).toEqual([{ type: "plain", text: source }]);
});

it("does not fail on elements cut short, as they come while a reply streams", () => {
  const source = "# a\n\n- b\n  > c **d** [e](http://f.example)\n\n|g|h|\n|-|-|\n|i|`j`|\n\n```ts\nk\n```\n";
  for (let length = 0; length <= source.length; length++) expect(parse(source.slice(0, length))).toBeInstanceOf(Array);
});

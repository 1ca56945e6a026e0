// The renderer of Markdown: its elements, what it refuses, and what it costs.

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { createMarkdown, type RenderMarkdown } from "./render-markdown.js";

let render: RenderMarkdown;
beforeAll(async () => {
  render = await createMarkdown();
});

describe("what it writes", () => {
  it.each([
    ["# a\n## b\n#### c", "<h3>a</h3><h4>b</h4><h6>c</h6>"],
    ["a *b* **c** ~~d~~ `<e>`", "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>&lt;e&gt;</code></p>"],
    ["- a\n- b\n\n3. c", '<ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li></ol>'],
    ["> a\n\n---", "<blockquote><p>a</p></blockquote><hr>"],
    ["```ts\n<x>\n```", "<pre><code>&lt;x&gt;\n</code></pre>"],
    ["a\nb  \nc", "<p>a\nb<br>c</p>"],
    ["[a](https://b.example)", '<p><a href="https://b.example/" rel="noopener noreferrer">a</a></p>'],
    ["<https://b.example>", '<p><a href="https://b.example/" rel="noopener noreferrer">https://b.example</a></p>'],
    ["[a](src/b.ts)", '<p><span title="src/b.ts">a</span></p>'],
    [
      "|a|b|\n|:-:|-:|\n|1|2|",
      '<table><thead><tr><th class="center">a</th><th class="right">b</th></tr></thead><tbody><tr><td class="center">1</td><td class="right">2</td></tr></tbody></table>',
    ],
  ])("%j", (source, html) => {
    expect(render(source)).toBe(html);
  });
});

describe("what it refuses", () => {
  it.each([
    ["<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"],
    ["a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>"],
    ["[a](javascript:x)", "<p>[a](javascript:x)</p>"],
    ["[a](data:text/html,x)", "<p>[a](data:text/html,x)</p>"],
    ["[a](//b.example)", '<p><span title="//b.example">a</span></p>'],
    ['[a](ftp://b "t")', '<p><span title="ftp://b">a</span></p>'],
    ["![a](x.png)", "<p>[image: a]</p>"],
    ["![](data:image/png;base64,AA==)", "<p>[image]</p>"],
    [
      "![a](https://b.example/c.png)",
      '<p><a href="https://b.example/c.png" rel="noopener noreferrer">[image: a]</a></p>',
    ],
    ['``` "><i>\nx\n```', "<pre><code>x\n</code></pre>"],
  ])("%j", (source, html) => {
    expect(render(source)).toBe(html);
  });

  it("holds for anything made of the characters that mean something", () => {
    const piece = fc.constantFrom(
      ..."*_`~[]()<>!#|-:\\&\"'\n 1.+=ax".split(""),
      "](",
      "javascript:",
      "http://",
      "```",
      "\n\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const rest = render(pieces.join("")).replace(
          /<\/?(?:p|em|strong|del|code|pre|ul|ol|li|h3|h4|h5|h6|blockquote|table|thead|tbody|tr|th|td|a|span)>|<(?:br|hr|pre class="plain"|ol start="\d+"|t[hd] class="(?:right|center)"|span title="[^"<>]*"|a href="(?:https?:|mailto:)[!-~]+?" rel="noopener noreferrer")>/g,
          "",
        );
        expect(rest).not.toMatch(/[<>"']/);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("what it costs", () => {
  const wide = 1000;
  const table = `${"|a".repeat(wide)}|\n${"|-".repeat(wide)}|\n${"|a|\n".repeat(64)}\n`;
  it.each([
    ["a long text", "word ".repeat(30_000)],
    ["tables that fill themselves up", table.repeat(20)],
    ["a long address that is named often", `[a]: http://${"x".repeat(1900)}\n\n${"[a] ".repeat(2000)}`],
    ["deep emphasis", `${"**a *b ".repeat(100)}${" c* d**".repeat(100)}`],
  ])("%s is shown as it was written", (_, source) => {
    expect(render(source)).toMatch(/^<pre class="plain">/);
  });

  it.each([
    ["brackets", "["],
    ["images", "!["],
    ["quotes", "> "],
    ["lists", "- "],
    ["stars", "*a "],
    ["fences", "~~~\n"],
    ["dashes", "-|"],
    ["less-thans", "<a@"],
    ["backticks", "`` ` "],
    ["headings", "a\n-\n"],
  ])("many %s grow at most in proportion", (_, unit) => {
    const source = unit.repeat(Math.floor(20_000 / unit.length));
    expect(render(source).length).toBeLessThan(source.length * 17 + 10_000);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeHtml, oneLine, showHidden } from "./escape.js";

describe("escapeHtml", () => {
  it("leaves nothing that is markup, between tags or between quotes", () => {
    expect(escapeHtml(`<b a="1" c='2'>&amp;`)).toBe("&lt;b a=&#34;1&#34; c=&#39;2&#39;&gt;&amp;amp;");
  });

  it("holds for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const safe = escapeHtml(text);
        expect(safe).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|#34;|#39;)/);
        expect(safe).not.toMatch(/(?!\n|\t)\p{Cc}|\p{Cs}|\p{Bidi_Control}/u);
        expect(Buffer.from(safe).toString()).toBe(safe);
      }),
    );
  });
});

describe("showHidden", () => {
  it.each([
    ["a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"],
    ["a\u0000b\u0007", "a␀b␇"],
    ["\u007f\u2028\u{e0041}\ufeff", "⟨U+007F⟩⟨U+2028⟩⟨U+E0041⟩⟨U+FEFF⟩"],
    ["\ud83d and \udc00", "⟨U+D83D⟩ and ⟨U+DC00⟩"],
    ["a\r\nb\rc\td", "a\nb\nc\td"],
    ["\u001b[31mred\u001b[0m \u001b]0;title\u0007end", "red end"],
  ])("%j is seen as %j", (text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  it("leaves joined letters, families and flags of letters as they are", () => {
    for (const text of ["👩‍👩‍👧", "می‌خواهم", "🇩🇪", "naïve 漢字 עברית"]) expect(showHidden(text)).toBe(text);
  });
});

describe("oneLine", () => {
  it("joins lines, cuts at characters and costs nothing for a long text", () => {
    expect(oneLine("  a\n\n b\t")).toBe("a b");
    expect(oneLine("😀".repeat(200), 10)).toBe(`${"😀".repeat(9)}…`);
    expect(oneLine("x".repeat(10_000_000), 5)).toBe("xxxx…");
  });
});

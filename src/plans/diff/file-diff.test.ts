import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { compareTexts } from "./compare-texts.js";
import { diffFile, joinDiffs } from "./file-diff.js";

async function diffTexts(oldText: string, newText: string, maxLength?: number) {
  const [before, after] = [Buffer.from(oldText), Buffer.from(newText)];
  const replacements = await compareTexts(before, after);
  const spans = replacements.map(({ start, end, newStart, newEnd }) => ({ start, end, length: newEnd - newStart }));
  return diffFile({ displayPath: "src/a.txt", before, after, spans }, maxLength);
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`);

describe("diffFile", () => {
  it("shows three lines around each change, and far changes apart", async () => {
    const lines = numbered(20);
    const changed = lines.with(4, "five\n").with(17, "eighteen\nmore\n").join("");
    expect(await diffTexts(lines.join(""), changed)).toEqual({
      diff: [
        "--- a/src/a.txt",
        "+++ b/src/a.txt",
        "@@ -2,7 +2,7 @@",
        " 2",
        " 3",
        " 4",
        "-5",
        "+five",
        " 6",
        " 7",
        " 8",
        "@@ -15,6 +15,7 @@",
        " 15",
        " 16",
        " 17",
        "-18",
        "+eighteen",
        "+more",
        " 19",
        " 20",
        "",
      ].join("\n"),
      firstChangedLine: 5,
    });
  });

  it("shows a line behind another as added, and a missing last line feed as what it is", async () => {
    const head = "--- a/src/a.txt\n+++ b/src/a.txt\n";
    const before = Buffer.from("foo()\nend\n");
    const after = Buffer.from("foo()\nbar()\nend\n");
    // As an edit of `foo()` to `foo()\nbar()` leaves it: the span begins at the end of a line that stays.
    const spans = [{ start: 5, end: 5, length: 6 }];
    expect(diffFile({ displayPath: "src/a.txt", before, after, spans })).toEqual({
      diff: `${head}@@ -1,2 +1,3 @@\n foo()\n+bar()\n end\n`,
      firstChangedLine: 2,
    });
    expect((await diffTexts("a", "a\nb")).diff).toBe(
      `${head}@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n`,
    );
    expect((await diffTexts("", "a\n")).diff).toBe(`${head}@@ -0,0 +1,1 @@\n+a\n`);
  });

  it("applies to the old text and gives the new one", async () => {
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "d\r\n", "a", "\n"), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(text, text, async (oldLines, newLines) => {
        const [before, after] = [oldLines.join(""), newLines.join("")];
        fc.pre(before !== after);
        const { diff, firstChangedLine } = await diffTexts(before, after);
        expect(applyPatch(before, diff, { autoConvertLineEndings: false })).toBe(after);
        const lines = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
        const [oldAll, newAll] = [lines(before), lines(after)];
        let same = 0;
        while (same < oldAll.length && oldAll[same] === newAll[same]) same++;
        expect(firstChangedLine).toBe(same + 1);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("stops at its limit, also within one endless line", async () => {
    const cut = "--- a/src/a.txt\n+++ b/src/a.txt\n… diff cut at 51200 characters\n";
    expect((await diffTexts("x".repeat(1_000_000), "y".repeat(1_000_000))).diff).toBe(cut);
    expect((await diffTexts(`${"é".repeat(60_000)}\n`, `${"è".repeat(40_000)}\n`)).diff).toBe(cut);
    const lines = numbered(100_000);
    const changed = lines.map((line, index) => (index % 20 === 0 ? "changed\n" : line));
    const { diff } = await diffTexts(lines.join(""), changed.join(""));
    expect(diff.length).toBeLessThan(51_300);
    expect(diff.endsWith("\n… diff cut at 51200 characters\n")).toBe(true);
  });

  it("shows of one hunk beyond its limit what fits", async () => {
    const { diff } = await diffTexts("", numbered(9).join(""), 60);
    const shown = ["--- a/src/a.txt", "+++ b/src/a.txt", "@@ -0,0 +1,9 @@", "+1", "+2", "+3", "+4"];
    expect(diff).toBe(`${shown.join("\n")}\n… diff cut at 60 characters\n`);
  });

  it("tells lines apart that are no UTF-8", () => {
    const [before, after] = [Buffer.from([0x61, 0xe9, 0x0a]), Buffer.from([0x61, 0xe8, 0x0a])];
    const { diff } = diffFile({ displayPath: "a", before, after, spans: [{ start: 1, end: 2, length: 1 }] });
    expect(diff).toBe("--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-aé\n+aè\n");
  });

  it("joins several within one limit", () => {
    expect(joinDiffs(["aa", "bb"], 4)).toBe("aabb");
    expect(joinDiffs(["aa", "bb", "cc"], 4)).toBe("aabb… diff cut at 4 characters\n");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSelection, selectLines } from "./read-lines.js";

const select = (text: string | Uint8Array, sel?: string, isTruncated = false) =>
  selectLines(
    { bytes: typeof text === "string" ? new TextEncoder().encode(text) : text, isTruncated },
    parseSelection(sel),
  );
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("parseSelection", () => {
  it.each([
    [undefined, { start: 1, maxLines: 300 }],
    ["", { start: 1, maxLines: 300 }],
    ["raw", { start: 1, maxLines: 3000 }],
    ["L50", { start: 50, maxLines: 3000 }],
    ["L50-L120", { start: 50, end: 120, maxLines: 3000 }],
    [" l50-120 ", { start: 50, end: 120, maxLines: 3000 }],
  ])("reads %j", (sel, expected) => {
    expect(parseSelection(sel)).toEqual(expected);
  });

  it.each([
    ["L0", "L0 is invalid; lines are 1-indexed. Use sel=L1."],
    ["L5-L3", "Invalid range L5-L3: end must be >= start."],
    ["fifty", "Invalid sel 'fifty'. Use L50, L50-L120 or raw."],
  ])("refuses %s", (sel, message) => {
    expect(() => parseSelection(sel)).toThrow(message);
  });
});

describe("selectLines", () => {
  it("shows a whole small file without its last line feed", () => {
    expect(select("a\nb\n")).toEqual({ text: "a\nb", remarks: [] });
    expect(select("a\r\nb")).toEqual({ text: "a\r\nb", remarks: [] });
  });

  it("shows 300 lines by default and says how to go on", () => {
    expect(select(numbered(301))).toEqual({
      text: numbered(300),
      remarks: ["Showing lines 1-300 of 301", "Use sel=L301 to continue"],
      truncation: {
        direction: "head",
        truncatedBy: "lines",
        totalLines: 301,
        totalBytes: numbered(301).length,
        outputLines: 300,
        outputBytes: numbered(300).length + 1,
        shownRange: { start: 1, end: 300 },
        nextOffset: 301,
      },
    });
    expect(select(numbered(301), "raw").text).toBe(numbered(301));
    expect(select(numbered(300)).remarks).toEqual([]);
  });

  it("shows a range, which is no truncation", () => {
    expect(select(numbered(10), "L3-L4")).toEqual({ text: "line 3\nline 4", remarks: [] });
    expect(select(numbered(10), "L9-L99")).toEqual({ text: "line 9\nline 10", remarks: [] });
    expect(select(numbered(10), "L10")).toEqual({ text: "line 10", remarks: [] });
  });

  it("keeps to 3000 lines also when more are asked for", () => {
    expect(select("x\n".repeat(5000), "L11-L4999").remarks).toEqual([
      "Showing lines 11-3010 of 5000",
      "Use sel=L3011 to continue",
    ]);
  });

  it("keeps to 50KB in whole lines", () => {
    const { text, remarks, truncation } = select(`${"x".repeat(999)}\n`.repeat(100));
    expect(text.length).toBe(51_000 - 1);
    expect(remarks).toEqual(["Showing lines 1-51 of 100 (50KB limit)", "Use sel=L52 to continue"]);
    expect(truncation).toMatchObject({ truncatedBy: "bytes", outputLines: 51, outputBytes: 51_000, nextOffset: 52 });
  });

  it("cuts a single longer line between characters", () => {
    const { text, remarks, truncation } = select(`x${"😀".repeat(20_000)}`);
    expect(text).toBe(`x${"😀".repeat(12_799)}`);
    expect(remarks).toEqual(["Showing lines 1-1 of 1 (50KB limit)", "Line 1 is cut"]);
    expect(truncation).not.toHaveProperty("nextOffset");
  });

  it("refuses to begin behind the end", () => {
    expect(() => select("a\nb\n", "L3")).toThrow("Offset 3 is beyond end of file (2 lines total)");
    expect(() => select("a\nb\n", "L3", true)).toThrow(
      "Offset 3 is beyond end of file (the first 2 lines can be read)",
    );
  });

  it("shows invalid UTF-8 and unread rests as what they are", () => {
    expect(select(Uint8Array.of(0x61, 0xff, 0x62))).toEqual({
      text: "a\ufffdb",
      remarks: ["Not valid UTF-8: invalid bytes are shown as U+FFFD"],
    });
    expect(select("a\n", undefined, true).remarks).toEqual(["Only the first 2 bytes of the file were read"]);
  });

  it("agrees with splitting the text", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "\r", " "), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), fc.nat(12), fc.nat(12), (lines, start, length) => {
        const first = Math.min(start, lines.length - 1);
        const text = `${lines.join("\n")}\n`;
        expect(select(text, `L${first + 1}-L${first + 1 + length}`).text).toBe(
          lines.slice(first, first + 1 + length).join("\n"),
        );
      }),
    );
  });
});

// What is drawn of a diff: whole, within its width, and without anything that a terminal would act on.

import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { DiffFile } from "../../protocol/diff.js";
import { plainTheme } from "../../sdk/index.js";
import type { ReviewAction, ReviewFile } from "../../sdk/review/review-source.js";
import { builtInThemes } from "../theme/colours.js";
import { createTheme } from "../theme/theme.js";
import { closureDoc, ReviewDoc } from "./review-doc.js";
import { ReviewRows, type RowsOptions } from "./review-rows.js";
import { ReviewScroll } from "./review-scroll.js";

const escapeCharacter = String.fromCharCode(27);
const colours = new RegExp([escapeCharacter, "\\[[\\d;]*m"].join(""), "g");
const hidden = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

const docOf = (...files: DiffFile[]) => new ReviewDoc({ key: "pa_1", revision: 1, files });
const hunkOf = (...lines: string[]) => ({ number: 1, oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines });
const modified = (...lines: string[]): DiffFile => ({ path: "a.js", kind: "modify", hunks: [hunkOf(...lines)] });

function drawn(doc: ReviewDoc, options: Partial<RowsOptions> = {}): string[] {
  const rows = new ReviewRows({
    ...{ doc, layout: doc.unified, theme: plainTheme, columns: 60, withNumbers: true, isCut: false },
    ...options,
  });
  return Array.from({ length: rows.count }, (_, index) => rows.at(index).rows).flat();
}

describe("a diff", () => {
  it("has line ends, modes and names in words", () => {
    const about: ReviewFile = {
      ...{
        path: "b.png",
        shown: "b.png",
        kind: "modify",
        added: 0,
        removed: 0,
        hunks: 0,
        isStale: false,
        isProtected: false,
      },
      ...{ size: 1234, sha256: "aa" },
    };
    const files: DiffFile[] = [
      { ...modified("-a\r", "+b\r"), oldMode: 0o644, newMode: 0o755 },
      { path: "b.png", kind: "modify", binary: true, hunks: [] },
      { path: "c.txt", kind: "modify", hunks: [hunkOf("-a", "+a\r")] },
      { path: "d.txt", kind: "create", hunks: [] },
    ];
    const binaries = new Map([["b.png", { size: 99, sha256: "bb" }]]);
    const text = drawn(new ReviewDoc({ key: "pa_1", revision: 1, files, about: [about], binaries }), {
      columns: 90,
    }).join("\n");
    expect(text).toContain("Mode 0644 becomes 0755");
    expect(text).toContain("Line ends are CRLF");
    expect(text).toContain("Binary file, modify: its bytes are not shown");
    expect(text).toContain("now  1,234 bytes  sha256 aa\nthen 99 bytes  sha256 bb");
    expect(text).toContain("Line ends differ: CRLF is written out as \\u000d");
    expect(text).toContain("+ a\\u000d");
    expect(text).toContain("An empty file");
  });

  it("marks where a long line goes on, or how much of it is missing", () => {
    const long = "x".repeat(100);
    expect(drawn(docOf(modified(`+${long}`))).slice(1)).toEqual([`  1 + ${"x".repeat(54)}`, `    ↪ ${"x".repeat(46)}`]);
    const cut = drawn(docOf(modified(`+${long}`)), { isCut: true, withNumbers: false })[1] ?? "";
    expect(cut).toMatch(/^\+ x+.*…\+42$/);
    const rows = new ReviewRows({
      doc: docOf(modified(`+${long}`)),
      layout: docOf(modified(`+${long}`)).unified,
      theme: plainTheme,
      columns: 60,
      withNumbers: false,
      isCut: true,
    });
    expect(rows.at(1).lines).toEqual([]);
  });

  it("of a closure is its own text, under what galley knows of it", () => {
    const action = { key: "pa_2", revision: 1, sourceToolName: "batch_rename", text: "a → b\n\u001b[2Jc" };
    expect(drawn(closureDoc(action as ReviewAction))).toEqual([
      "Proposed by batch_rename: galley cannot check it",
      "a → b",
      "\\u001b[2Jc",
    ]);
  });

  it("of any text is within its width, and holds nothing but text and colours", () => {
    const theme = createTheme({ name: "dark", colours: builtInThemes.dark ?? {} }, "truecolor");
    const line = fc
      .tuple(fc.constantFrom("-", "+", " "), fc.string({ unit: "binary", maxLength: 200 }))
      .map(([sign, text]) => sign + text.replaceAll("\n", ""));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 18, max: 120 }),
        fc.boolean(),
        (lines, columns, isSplit) => {
          const doc = docOf(modified(...lines));
          const layout = isSplit ? doc.split : doc.unified;
          for (const row of drawn(doc, {
            theme,
            columns,
            layout,
            withNumbers: columns > 60,
            isCut: columns % 2 === 0,
          })) {
            expect(row.replace(colours, "")).not.toMatch(hidden);
            expect(visibleWidth(row)).toBeLessThanOrEqual(columns);
          }
          const seen = new Set(
            doc.split.items.flatMap((item) => (item.kind === "pair" ? [item.old?.id, item.new?.id] : [])),
          );
          for (const item of doc.unified.items)
            if (item.kind === "line" && item.id !== undefined) expect(seen).toContain(item.id);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe("scrolling", () => {
  it("shows every row once on the way down, and the same on the way up, for any heights", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        (heights, rows) => {
          const measured = { count: heights.length, heightOf: (item: number) => heights[item] ?? 1 };
          const all = heights.flatMap((height, item) => Array.from({ length: height }, (_, row) => `${item}.${row}`));
          const scroll = new ReviewScroll();
          const shown = () =>
            scroll
              .visible(measured, rows)
              .flatMap(({ item, from, to }) => Array.from({ length: to - from }, (_, row) => `${item}.${from + row}`));
          const last = Math.max(0, all.length - rows);
          for (let top = 0; top < all.length; top++) {
            expect(shown()).toEqual(all.slice(Math.min(top, last), Math.min(top, last) + rows));
            scroll.by(1, measured, rows);
          }
          scroll.toEnd(measured, rows);
          expect(shown()).toEqual(all.slice(last));
          scroll.by(-all.length, measured, rows);
          expect(shown()).toEqual(all.slice(0, rows));
        },
      ),
    );
  });
});

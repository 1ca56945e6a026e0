import { describe, expect, it } from "vitest";
import { alignedRows, countText, figuresText, stateText } from "./table.js";

describe("a table", () => {
  it("has columns as wide as their longest cell, and no blanks at the end of a line", () => {
    expect(
      alignedRows([
        ["pa_1", "x", ""],
        ["pa_10", "longer", "end"],
        ["", "y"],
      ]),
    ).toEqual(["pa_1   x", "pa_10  longer  end", "       y"]);
  });

  it("names a state with a sign that the terminal knows", () => {
    expect(stateText("stale", { LANG: "de_DE.UTF-8" })).toBe("stale ⚠");
    expect(stateText("stale", { LANG: "C" })).toBe("stale !");
    expect(stateText("undone", { LANG: "de_DE.UTF-8", LC_ALL: "C" })).toBe("undone <");
  });

  it("counts", () => {
    expect([countText(1, "file"), countText(0, "file"), countText(2, "hunk")]).toEqual([
      "1 file",
      "0 files",
      "2 hunks",
    ]);
    expect(figuresText([{ added: 1, removed: 2 }, {}, { added: 3, removed: 0 }])).toBe("+4 -2");
    expect(figuresText([{}])).toBe("");
  });
});

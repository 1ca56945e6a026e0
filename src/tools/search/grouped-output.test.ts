import { describe, expect, it } from "vitest";
import { limitRemark } from "./find-result.js";
import { groupByDirectory, headOfLines } from "./grouped-output.js";

it("puts files of one directory together, and a file without one under its own name", () => {
  const file = (path: string) => ({ path, lines: [`in ${path}`] });
  expect(groupByDirectory(["a", "s/b", "s/t/c", "s/d", "e", "/f"].map(file))).toEqual([
    "# a",
    "in a",
    "# e",
    "in e",
    "# s",
    "## └─ b",
    "in s/b",
    "## └─ d",
    "in s/d",
    "# s/t",
    "## └─ c",
    "in s/t/c",
    "# /",
    "## └─ f",
    "in /f",
  ]);
});

describe("the head of many lines", () => {
  it("is all of them where they fit", () => {
    expect(headOfLines([])).toEqual({ text: "", remarks: [] });
    expect(headOfLines(["x".repeat(51_200)])).toEqual({ text: "x".repeat(51_200), remarks: [] });
    expect(headOfLines(Array.from({ length: 3000 }, () => "x")).remarks).toEqual([]);
  });

  it("ends with the last whole line before 50KB, or the 3000th", () => {
    const wide = headOfLines(["é".repeat(25_000), "y".repeat(1199), "z"]);
    expect(wide.text).toBe(`${"é".repeat(25_000)}\n${"y".repeat(1199)}`);
    expect(wide.remarks).toEqual(["Showing lines 1-2 of 3 (50KB limit)"]);
    expect(wide.truncation).toMatchObject({ truncatedBy: "bytes", outputBytes: 51_200, totalBytes: 51_202 });
    const long = headOfLines(Array.from({ length: 3001 }, () => "x"));
    expect(long.remarks).toEqual(["Showing lines 1-3000 of 3001"]);
    expect(long.truncation).toMatchObject({ truncatedBy: "lines", outputLines: 3000 });
  });
});

it("suggests no limit that an answer could not hold", () => {
  expect(limitRemark(20, "matches")).toBe("20 matches limit reached. Use limit=40 for more");
  expect(limitRemark(2000, "results")).toBe("2000 results limit reached. Use limit=3000 for more");
  expect(limitRemark(3000, "results")).toBe("3000 results limit reached");
});

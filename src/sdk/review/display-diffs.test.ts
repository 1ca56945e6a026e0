import { expect, it } from "vitest";
import { displayDiff, withDisplayDiff } from "./display-diffs.js";

const unified = `--- a/a.ts
+++ b/a.ts
@@ -8,3 +8,4 @@
 same
-old
+new
+more
 last
@@ -99,2 +100 @@
 far
--- dashes
--- a/b.ts
+++ b/b.ts
@@ -0,0 +1 @@
+++ plus
`;

it("puts numbers of one width behind the signs, and dots between hunks", () => {
  expect(displayDiff(unified)).toBe(
    [
      "   8 same",
      "-  9 old",
      "+  9 new",
      "+ 10 more",
      "  10 last",
      "     ...",
      "  99 far",
      "-100 -- dashes",
      "     ...",
      "+  1 ++ plus",
    ].join("\n"),
  );
  expect(displayDiff("")).toBe("");
});

it("keeps the unified text, and leaves the results of other tools alone", () => {
  const result = { content: [], details: { diff: unified, created: false } };
  expect(withDisplayDiff("edit", result).details).toEqual({
    diff: displayDiff(unified),
    patch: unified,
    created: false,
  });
  for (const other of [{ content: [] }, { content: [], details: { diff: "" } }])
    expect(withDisplayDiff("write", other)).toBe(other);
  expect(withDisplayDiff("mine", result)).toBe(result);
});

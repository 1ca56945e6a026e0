// Globs that a project brings, on names that a project brings: none may take longer than anybody waits.

import { describe, expect, it } from "vitest";
import { matchInTime } from "./glob-cost.js";
import { type IgnoreRules, isIgnored, readIgnoreRules } from "./ignore-rules.js";

const deepPath = `${"a/".repeat(300)}c`;

describe("matchInTime", () => {
  it("answers what the test answers", () => {
    const test = matchInTime(["**/*.ts"], (path) => path.endsWith(".ts"));
    expect([test("src/a.ts"), test(`${"x/".repeat(3000)}a.ts`), test("a.js")]).toEqual([true, true, false]);
  });

  it("gives up what does not end, and only that", () => {
    const endless = (path: string) => {
      while (path.length > 100);
      return true;
    };
    const test = matchInTime(["*a*a*a*b"], endless);
    expect([test("a".repeat(101)), test("a")]).toEqual([undefined, true]);
  });

  it("counts all globs together", () => {
    const seen: string[] = [];
    const test = matchInTime(new Array(20_000).fill("*a*"), (path) => {
      seen.push(new Error().stack?.includes("runWithin") ? "timed" : "at once");
      return path;
    });
    test("src/a.ts");
    test("a".repeat(100));
    expect(seen).toEqual(["at once", "timed"]);
  });
});

it("a project's rules that take too long are not used any more", async () => {
  const text = Buffer.from("*.log\n**/a/**/a/**/a/**/b\n");
  const disk = {
    lstat: async () => ({ kind: "file", identity: {} }),
    read: async () => ({ bytes: text, isTruncated: false }),
  };
  const rules = [await readIgnoreRules(disk as never, "/p")] as IgnoreRules[];
  expect(isIgnored("/p/x.log", false, rules)).toBe(true);
  expect(isIgnored(`/p/${deepPath}`, false, rules)).toBe(false);
  expect(isIgnored("/p/y.log", false, rules)).toBe(false);
});

import fc from "fast-check";
import picomatch from "picomatch";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { isCostlyGlob } from "../../files/walk/glob-cost.js";
import { compileGlob } from "./glob.js";

const deepPath = `${"a/".repeat(300)}c`;
const longName = "a".repeat(255);

it.each([
  ["*a*a*a*b", longName],
  ["**/a/**/a/**/a/**/b", deepPath],
  ["*a*a*/*a*b", `${longName}/${longName}`],
])("a glob of a model's is told when it takes too long: %s", async (glob, path) => {
  const matches = await compileGlob(glob, { anyDepth: false });
  expect(() => matches(path)).toThrow(`Glob '${glob}' takes too long to match; use fewer wildcards.`);
  expect(matches("src/c")).toBe(false);
});

it("a glob that picomatch never finishes is told", async () => {
  const glob = `*${"\\".repeat(4)}`;
  await expect(compileGlob(glob, { anyDepth: false })).rejects.toThrow(
    `Glob '${glob}' cannot be read; use fewer backslashes.`,
  );
});

it.each([true, false])("matches what picomatch's own matcher does, with anyDepth %s", async (anyDepth) => {
  const pieces = [
    "a",
    "b",
    ".",
    "..",
    "/",
    "*",
    "**",
    "?",
    "[ab]",
    "[!a]",
    "[",
    "]",
    "{a,b}",
    "{",
    "}",
    "!",
    "\\",
    "(",
    ")",
  ];
  const texts = [...pieces, "\n", "é", "a.ts", "+", "|", "^", "$"];
  const joined = (from: readonly string[]) =>
    fc.array(fc.constantFrom(...from), { maxLength: 8 }).map((all) => all.join(""));
  const glob = joined(pieces).filter((text) => text !== "" && !isCostlyGlob(text) && !text.includes("\\".repeat(3)));
  await fc.assert(
    fc.asyncProperty(glob, fc.array(joined(texts)), async (pattern, paths) => {
      const matches = await compileGlob(pattern, { anyDepth });
      const expected = picomatch(pattern, { dot: true, noextglob: true, basename: anyDepth && !pattern.includes("/") });
      const asOnDisk = [pattern, ...paths].filter((path) => !/\/(?:\/|$)/.test(path));
      for (const path of asOnDisk) expect([path, matches(path)]).toEqual([path, expected(path)]);
    }),
    { numRuns: runs(2000) },
  );
});

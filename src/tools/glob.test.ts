import { expect, it } from "vitest";
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

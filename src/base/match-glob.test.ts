import { expect, it } from "vitest";
import { matchesPathGlob } from "./match-glob.js";

it.each<[string, string, boolean]>([
  ["a.ts", "*.ts", true],
  ["lib/a.ts", "*.ts", false],
  ["lib/a.ts", "./lib/*.{js,ts}", true],
  ["lib/deep/a.ts", "**/*.ts", true],
  ["a.ts", "**/a.ts", true],
  ["lib/deep/a.ts", "lib/**", true],
  ["lib/deep/x/y/a.ts", "**/deep/**/a.?s", true],
  ["lib/deep/a.ts", "lib/*/b.ts", false],
  ["lib", "lib/**", true],
])("%s, %s: %s", (path, glob, fits) => expect(matchesPathGlob(path, glob)).toBe(fits));

it("takes no long time over a hostile pattern", () => {
  const path = Array.from({ length: 100 }, () => "a".repeat(50)).join("/");
  expect(matchesPathGlob(path, `${"**/*a*a*a*b/".repeat(80)}c`)).toBe(false);
  expect(matchesPathGlob(path, `${`{${"x,".repeat(200)}}`.repeat(3)}`)).toBe(false);
});

import { expect, it } from "vitest";
import { filtered, withOverrides } from "./package-patterns.js";

const files = ["a.ts", "old.ts", "lib/b.ts", "lib/old.ts", "skills/tidy/SKILL.md"].map((name) => `/p/${name}`);
const left = (entries: string[]) => withOverrides(files, entries, "/p").map((file) => file.slice(3));
const kept = (entries: string[]) => filtered(files, entries, "/p").map((file) => file.slice(3));

it("leaves out by path and by name, a skill also by its folder", () => {
  expect(left(["!old.ts"])).toEqual(["a.ts", "lib/b.ts", "skills/tidy/SKILL.md"]);
  expect(left(["!lib/*"])).toEqual(["a.ts", "old.ts", "skills/tidy/SKILL.md"]);
  expect(left(["!**/*.ts", "!skills/t?dy"])).toEqual([]);
});

it("takes in one in spite of that, and leaves one out in spite of everything", () => {
  expect(left(["!**/old.ts", "+./lib/old.ts"])).toEqual(["a.ts", "lib/b.ts", "lib/old.ts", "skills/tidy/SKILL.md"]);
  expect(left(["+a.ts", "-a.ts"])).toEqual(files.slice(1).map((file) => file.slice(3)));
});

it("keeps what the user wants of a package, and nothing for an empty list", () => {
  expect(kept([])).toEqual([]);
  expect(kept(["lib/*.{ts,js}", "!old.ts"])).toEqual(["lib/b.ts"]);
  expect(kept(["lib/b.ts", "+old.ts"])).toEqual(["old.ts", "lib/b.ts"]);
  expect(kept(["-a.ts"])).toEqual(files.slice(1).map((file) => file.slice(3)));
});

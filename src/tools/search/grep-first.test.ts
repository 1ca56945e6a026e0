import fc from "fast-check";
import { expect, it } from "vitest";
import { FirstMatches } from "./grep-first.js";

interface Found {
  path: string;
  matches: number;
  lineLength?: number;
}

function collect(found: readonly Found[], wanted: number, refused: readonly string[] = []) {
  const first = new FirstMatches(wanted, new Set(refused));
  for (const { path, matches, lineLength = 3 } of found) {
    if (!first.wants(path)) continue;
    const file = first.open(path, path);
    for (let number = 1; number <= matches; number++)
      first.addLine(file, { number, text: "x".repeat(lineLength), isMatch: true, isCut: false });
    first.close(file);
  }
  return { paths: first.files().map(({ path, matchCount }) => [path, matchCount]), hasMore: first.hasMore };
}

const found = fc.uniqueArray(fc.record({ path: fc.string({ minLength: 1 }), matches: fc.nat(4) }), {
  selector: ({ path }) => path,
});

it("keeps the first in the order of paths, in whatever order they come", () => {
  fc.assert(
    fc.property(found, fc.integer({ min: 1, max: 9 }), fc.array(fc.nat()), (files, wanted, keys) => {
      const sorted = files.filter(({ matches }) => matches > 0).sort((a, b) => (a.path < b.path ? -1 : 1));
      let before = 0;
      const expected = sorted.filter(({ matches }) => {
        const isWanted = before < wanted;
        before += matches;
        return isWanted;
      });
      const shuffled = files
        .map((file, index) => ({ file, key: keys[index] ?? index }))
        .sort((a, b) => a.key - b.key)
        .map(({ file }) => file);
      expect(collect(shuffled, wanted)).toEqual({
        paths: expected.map(({ path, matches }) => [path, matches]),
        hasMore: expected.length < sorted.length,
      });
    }),
  );
});

it("keeps a file once, and nothing of a refused one", () => {
  const twice = [
    { path: "a", matches: 1 },
    { path: "b", matches: 2 },
    { path: "a", matches: 1 },
  ];
  expect(collect(twice, 9, ["b"])).toEqual({ paths: [["a", 1]], hasMore: false });
});

it("holds no more than some megabytes, of one file or of many, and says that there was more", () => {
  const one = collect([{ path: "a", matches: 5000, lineLength: 1024 }], 9999);
  expect(one).toEqual({ paths: [["a", expect.any(Number)]], hasMore: true });
  expect(one.paths[0]?.[1]).toBeLessThan(1100);
  const many = Array.from({ length: 30 }, (_, index) => ({
    path: `f${String(index).padStart(2, "0")}`,
    matches: 900,
    lineLength: 1024,
  }));
  const forwards = collect(many, 99_999);
  expect(forwards.hasMore).toBe(true);
  expect(forwards.paths.length).toBeLessThan(10);
  expect(collect(many.toReversed(), 99_999)).toEqual(forwards);
});

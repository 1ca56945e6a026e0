import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { PathScanner } from "./path-scanner.js";
import { cutAt } from "./rules.test-kit.js";

function scan(...pieces: string[]): readonly string[] {
  const scanner = new PathScanner();
  for (const piece of pieces) scanner.push(piece);
  return scanner.paths;
}

it.each([
  ['{"path":"a.ts"}', ["a.ts"]],
  ['{"filePath":"a","file_path":"b","PATHS":["c","d"],"pathology":"e"}', ["a", "b", "c", "d"]],
  ['{"content":"\\"path\\":\\"no\\"","path":"yes"}', ["yes"]],
  ['{"edits":[{"path":"a","text":"b"},{"path":"c"}],"note":"d"}', ["a", "c"]],
  ['{"path":{"name":"no","path":"yes"},"x":"no"}', ["yes"]],
  ['{"paths":[["a"],{"x":"no"},"b"]}', ["a", "b"]],
  ['{"path":"a\\u002ets\\/b\\\\c"}', ["a.ts/b\\c"]],
  ['{"p\\u0061th":"a"}', ["a"]],
  [' { "path" : "a" , "path" : 1 , "b" : true } ', ["a"]],
  ['{"path":"unfinis', []],
  ['{"path":"bad \\x escape","path":"b"}', ["b"]],
  ['"path"', []],
  [']}],"path":"a"', []],
  ["not json at all: path", []],
])("%j has the paths %j", (text, paths) => {
  expect(scan(text)).toEqual(paths);
  expect(scan(...text)).toEqual(paths);
});

it("finds the same however the text is cut", () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.nat()), (json, cuts) => {
      const text = `{"path":"first","nested":${json},"paths":[${json},"last"]}`;
      expect(scan(...cutAt(text, cuts))).toEqual(scan(text));
      expect(scan(text)).toContain("first");
      expect(scan(text)).toContain("last");
    }),
    { numRuns: runs(500) },
  );
});

it("keeps neither a giant string nor an endless list, and gives up on a deep one", () => {
  expect(scan(`{"path":"${"x".repeat(9000)}","path":"ok"}`)).toEqual(["ok"]);
  expect(scan(`{"paths":[${'"p",'.repeat(1000)}"last"]}`)).toHaveLength(64);
  expect(scan(`${'{"a":'.repeat(200)}{"path":"deep"}`)).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { type PendingVerb, parsePendingWords } from "./pending-words.js";

function parsed(line: string) {
  const [verb, ...words] = line.split(" ");
  return parsePendingWords(verb as PendingVerb, words);
}

describe("the words of a review verb", () => {
  it.each([
    [
      "apply pa_1 7",
      [
        { id: "pa_1", paths: [] },
        { id: "7", paths: [] },
      ],
    ],
    [
      "apply pa_1 src a.ts 2 b.ts",
      [
        { id: "pa_1", paths: ["src", "a.ts"] },
        { id: "2", paths: ["b.ts"] },
      ],
    ],
    ["apply 0198-c0de:pa_1 ./7", [{ id: "0198-c0de:pa_1", paths: ["./7"] }]],
    ["apply pa_1 --files a,b c", [{ id: "pa_1", paths: ["c", "a", "b"] }]],
    ["apply pa_1 -- --odd", [{ id: "pa_1", paths: ["--odd"] }]],
    ["show ch_12ab src/*.ts", [{ id: "ch_12ab", paths: ["src/*.ts"] }]],
    ["undo ch_12", [{ id: "ch_12", paths: [] }]],
  ])("%s", (line, targets) => {
    expect(parsed(line).targets).toEqual(targets);
  });

  it("say what is meant of every action", () => {
    const { targets, paths, flags, reason, sessionDir } = parsed("apply --all src --reason=because --session-dir d");
    expect({ targets, paths, flags: [...flags], reason, sessionDir }).toEqual({
      targets: [],
      paths: ["src"],
      flags: ["all"],
      reason: "because",
      sessionDir: "d",
    });
  });

  it("name hunks by file, also where a path has a colon", () => {
    expect(parsed("apply 1 --hunks a:b.ts:1,3 --hunks c.ts:2").hunks).toEqual([
      { path: "a:b.ts", hunks: [1, 3] },
      { path: "c.ts", hunks: [2] },
    ]);
  });

  it.each([
    "apply --hunks a.ts:1 1 2",
    "apply 1 --hunks a.ts:",
    "undo ch_1 a.ts",
    "changes x",
    "show 1 2",
    "apply 1 --run",
  ])("%s is refused", (line) => {
    expect(() => parsed(line)).toThrow("Usage");
  });
});

import { describe, expect, it } from "vitest";
import { calls, chain, compaction, type Draft, result, user, words } from "../../record/entries.test-kit.js";
import { chooseOversized, choosePruned } from "./prune.js";

const output = (tokens: number, toolName = "grep"): Draft => result("c", words(tokens), { toolName });

describe("choosePruned", () => {
  it("keeps the newest 40000 tokens of output and prunes what is older", () => {
    expect(choosePruned(chain(output(15_000), output(10_000), output(20_000), output(20_000)))).toEqual(["e1", "e2"]);
  });

  it("keeps the output that crosses the line", () => {
    expect(choosePruned(chain(output(25_000), output(39_000), user("x"), output(5000)))).toEqual(["e1"]);
    expect(choosePruned(chain(output(25_000), output(39_999)))).toEqual([]);
  });

  it("does nothing when it would save less than 20000 tokens", () => {
    expect(choosePruned(chain(output(20_000), output(40_000)))).toEqual([]);
    expect(choosePruned(chain(output(20_010), output(40_000)))).toEqual(["e1"]);
    expect(choosePruned([])).toEqual([]);
  });

  it("never touches what read or skill returned", () => {
    const path = chain(output(30_000, "read"), output(30_000, "skill"), output(30_000), output(40_000));
    expect(choosePruned(path)).toEqual(["e3"]);
  });

  it("looks only at the context, and never twice at the same result", () => {
    const path = chain(output(30_000), compaction("e3"), output(30_000), output(40_000));
    expect(choosePruned(path)).toEqual(["e3"]);
    expect(choosePruned(chain(output(30_000), output(40_000), { type: "prune", entryIds: ["e1"] }))).toEqual([]);
  });
});

describe("chooseOversized", () => {
  it("finds results that alone are above the limit, whatever the tool", () => {
    const path = chain(calls({ id: "c" }), output(101, "read"), output(100), user(words(500)));
    expect(chooseOversized(path, 100)).toEqual(["e2"]);
    expect(chooseOversized(chain(output(101), { type: "prune", entryIds: ["e1"] }), 100)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { maxHistory, PromptHistory } from "./prompt-history.js";

describe("the history of prompts", () => {
  it("goes back and forth, and returns to what was typed", () => {
    const history = new PromptHistory(["one", "two", "three"]);
    expect(history.older("")).toBe("three");
    expect(history.older("")).toBe("two");
    expect(history.older("")).toBe("one");
    expect(history.older("")).toBeUndefined();
    expect([history.newer(), history.newer(), history.newer(), history.newer()]).toEqual([
      "two",
      "three",
      "",
      undefined,
    ]);
  });

  it("finds only what begins as the typed text", () => {
    const history = new PromptHistory(["fix tests", "rename a", "fix docs", "rename b"]);
    expect(history.older("fix")).toBe("fix docs");
    expect(history.older("fix docs")).toBe("fix tests");
    expect(history.older("fix tests")).toBeUndefined();
    expect([history.newer(), history.newer()]).toEqual(["fix docs", "fix"]);
  });

  it("keeps no repetition in a row and no more than its limit", () => {
    const history = new PromptHistory([]);
    expect([history.add(" a "), history.add("a"), history.add("  ")]).toEqual([true, false, false]);
    for (let index = 0; index < maxHistory; index++) history.add(`b${index}`);
    let count = 0;
    while (history.older("") !== undefined) count++;
    expect(count).toBe(maxHistory);
  });
});

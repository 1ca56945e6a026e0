import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../protocol/entries.js";
import {
  calls,
  chain,
  compaction,
  type Draft,
  extend,
  modelChange,
  reply,
  result,
  said,
  user,
  words,
} from "../../record/entries.test-kit.js";
import { chooseCut } from "./choose-cut.js";

/** The cut as ids: history, turn head, first kept. */
function cutIds(path: readonly SessionEntry[], keepTokens: number) {
  const cut = chooseCut(path, keepTokens);
  if ("problem" in cut) return cut.problem;
  return [cut.history.map(({ id }) => id).join(" "), cut.turnHead.map(({ id }) => id).join(" "), cut.firstKeptEntryId];
}

const turn = (tokens: number): Draft[] => [user(words(tokens)), reply(words(tokens))];

describe("chooseCut", () => {
  it("keeps about as much of the end as it is told, from a turn's start on", () => {
    const path = chain(...turn(10), ...turn(10), ...turn(10));
    expect(cutIds(path, 20)).toEqual(["e1 e2 e3 e4", "", "e5"]);
    expect(cutIds(path, 31)).toEqual(["e1 e2", "", "e3"]);
    expect(cutIds(path, 40)).toEqual(["e1 e2", "", "e3"]);
  });

  it("splits a turn when the cut falls into it: history and the turn's head apart", () => {
    const path = chain(...turn(10), user(words(10)), reply(words(10)), reply(words(10)));
    expect(cutIds(path, 10)).toEqual(["e1 e2", "e3 e4", "e5"]);
    expect(cutIds(chain(user(words(10)), reply(words(10))), 10)).toEqual(["", "e1", "e2"]);
  });

  it.each<[string, Draft]>([
    ["user", user(words(10))],
    ["developer", said({ role: "developer", content: words(10), timestamp: 1 })],
    [
      "bashExecution",
      said({ role: "bashExecution", command: "", output: words(10), cancelled: false, truncated: false, timestamp: 1 }),
    ],
    ["custom_message", { type: "custom_message", customType: "x", content: words(10), display: true }],
    ["branch_summary", { type: "branch_summary", fromId: "root", summary: words(10) }],
  ])("cuts at a %s, which begins a turn", (_name, draft) => {
    expect(cutIds(chain(...turn(10), draft), 10)).toEqual(["e1 e2", "", "e3"]);
  });

  it("never begins with a tool result or a file mention: the next valid point is taken", () => {
    const mention = said({ role: "fileMention", files: [{ path: "", content: words(10) }], timestamp: 1 });
    expect(cutIds(chain(...turn(10), user(words(1)), mention, reply(words(5))), 15)).toEqual(["e1 e2", "e3 e4", "e5"]);
    const path = chain(...turn(10), calls({ id: "c" }), result("c", words(10)), reply(words(5)));
    expect(cutIds(path, 15)).toEqual(["", "e1 e2 e3 e4", "e5"]);
  });

  it("keeps a large result at the end together with its call", () => {
    const path = chain(...turn(10), user("x"), calls({ id: "c" }), result("c", words(90)));
    expect(cutIds(path, 20)).toEqual(["e1 e2", "e3", "e4"]);
  });

  it("never comes between a call and its results, whatever is wedged in", () => {
    const path = chain(
      ...turn(10),
      calls({ id: "a" }, { id: "b" }),
      result("a", words(10)),
      user(words(10)),
      result("b", words(10)),
      user(words(5)),
    );
    // e5 would be a valid point but for the result of b behind it.
    expect(cutIds(path, 25)).toEqual(["e1 e2 e3 e4 e5 e6", "", "e7"]);
  });

  it("matches results with the newest call of an id that is used again", () => {
    const again = [calls({ id: "c" }), result("c", words(10))];
    const path = chain(...again, ...again, reply(words(1)), ...again);
    expect(cutIds(path, 11)).toEqual(["e1 e2 e3 e4 e5", "", "e6"]);
  });

  it("pulls metadata directly before the point into the kept part", () => {
    const path = chain(...turn(10), modelChange, { type: "thinking_level_change", thinkingLevel: "high" }, ...turn(10));
    expect(cutIds(path, 20)).toEqual(["e1 e2", "", "e3"]);
    expect(cutIds(chain(user(words(10)), modelChange, reply(words(10))), 10)).toEqual(["", "e1", "e2"]);
  });

  it("begins where the previous compaction's kept part begins", () => {
    const path = chain(...turn(10), ...turn(10), compaction("e3"), ...turn(10));
    expect(cutIds(path, 20)).toEqual(["e3 e4 e5", "", "e6"]);
    const cut = chooseCut(path, 20);
    expect("previous" in cut && cut.previous?.id).toBe("e5");
  });

  it("can cut within what the previous compaction kept", () => {
    const path = chain(...turn(10), ...turn(10), ...turn(10), compaction("e3"), user(words(1)));
    expect(cutIds(path, 21)).toEqual(["e3 e4", "", "e5"]);
    const next = extend(path, compaction("e5"), user(words(1)));
    expect(cutIds(next, 12)).toEqual(["", "e5", "e6"]);
  });

  it("begins behind a compaction whose kept part is not on the path", () => {
    expect(cutIds(chain(...turn(10), compaction("gone"), ...turn(10), ...turn(10)), 20)).toEqual(["e4 e5", "", "e6"]);
  });

  it("refuses when nothing came after the latest compaction", () => {
    expect(cutIds(chain(...turn(10), compaction("e1")), 1)).toBe("Already compacted");
    expect(cutIds(chain(...turn(10), compaction("e1"), modelChange), 1)).toBe("Already compacted");
  });

  it("refuses when nothing would be summarised", () => {
    const tooSmall = "Nothing to compact (session too small)";
    expect(cutIds([], 10)).toBe(tooSmall);
    expect(cutIds(chain(modelChange, user(words(30))), 10)).toBe(tooSmall);
    expect(cutIds(chain(...turn(10)), 21)).toBe(tooSmall);
    const hidden = said({
      role: "bashExecution",
      command: "x",
      output: "y",
      cancelled: false,
      truncated: false,
      excludeFromContext: true,
      timestamp: 1,
    });
    expect(cutIds(chain(hidden, user(words(30))), 10)).toBe(tooSmall);
  });

  it("counts pruned results as what is left of them", () => {
    const path = chain(...turn(10), calls({ id: "c" }), result("c", words(500)), user(words(10)), {
      type: "prune",
      entryIds: ["e4"],
    });
    expect(cutIds(path, 20)).toEqual(["", "e1 e2", "e3"]);
    expect(cutIds(path.slice(0, -1), 20)).toEqual(["e1 e2 e3 e4", "", "e5"]);
  });
});

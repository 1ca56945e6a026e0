// The review view without a terminal: what keys decide, and what they never do.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { DiffFile } from "../../protocol/diff.js";
import type { ReviewAction } from "../../sdk/review/review-source.js";
import { ReviewDoc } from "./review-doc.js";
import { defaultReviewKeys, reviewKeys } from "./review-keys.js";
import { lastLines } from "./review-lines.js";
import { atUnit, selectAction } from "./review-list.js";
import type { ReviewState, Wish } from "./review-model.js";
import { refreshed } from "./review-refresh.js";
import { firstState, press } from "./review-state.js";
import { SeenLines } from "./seen-lines.js";

const hunk = (number: number, text: string) => ({
  ...{ number, oldStart: number * 20, oldLines: 3, newStart: number * 20, newLines: 3 },
  lines: [" before", `-old ${text}`, `+new ${text}`, " after"],
});

const files: DiffFile[] = [
  { path: "src/cart.js", kind: "modify", hunks: [hunk(1, "a"), hunk(2, "b")] },
  { path: "src/new.js", kind: "create", hunks: [{ ...hunk(1, "c"), lines: ["+one", "+two"] }] },
];

function action(key: string, changes: Partial<ReviewAction> = {}): ReviewAction {
  const about = { to: undefined, isStale: false, isProtected: false, size: 1, sha256: "" };
  return {
    ...{ key, label: `label of ${key}`, sourceToolName: "ast_edit", createdAt: 0, kind: "plan", status: "pending" },
    ...{ revision: 1, prompt: "", restsOn: [], text: "" },
    files: [
      { ...about, path: "src/cart.js", shown: "src/cart.js", kind: "modify", added: 2, removed: 2, hunks: 2 },
      { ...about, path: "src/new.js", shown: "src/new.js", kind: "create", added: 2, removed: 0, hunks: 1 },
    ],
    ...changes,
  };
}

const docOf = ({ key, revision, files: about }: ReviewAction) => new ReviewDoc({ key, revision, files, about });

function opened(one: ReviewAction = action("pa_7"), ...more: ReviewAction[]): ReviewState {
  const state = refreshed(firstState, { actions: [one, ...more], changes: [] });
  return { ...selectAction(state, one.key), pane: "diff", doc: docOf(one) };
}

const allSeen = () => ({ lines: 0, files: 0 });

function typed(state: ReviewState, ...keys: string[]): { state: ReviewState; wishes: Wish[] } {
  const wishes: Wish[] = [];
  let now = state;
  for (const key of keys) {
    const pressed = press(now, key, allSeen);
    now = pressed.state;
    if (pressed.wish) wishes.push(pressed.wish);
  }
  return { state: now, wishes };
}

const decisions = (wishes: readonly Wish[]) =>
  wishes.flatMap((wish) => (wish.kind === "decide" ? [wish.decision] : []));
const lastLine = (state: ReviewState) => lastLines(state, 200).join(" ");

describe("apply", () => {
  it.each([
    [["a"], { hunks: { "src/cart.js": [1] } }, "a apply hunk 1 of 2"],
    [["j", "a"], { hunks: { "src/cart.js": [2] } }, "a apply hunk 2 of 2"],
    [["j", "j", "a"], { files: ["src/new.js"] }, "a apply file"],
    [["A"], { hunks: { "src/cart.js": [1, 2] } }, "A file"],
    [["J", "A"], { files: ["src/new.js"] }, "A file"],
    [["Y"], {}, "Y apply all 2 hunks in 2 files"],
    [
      ["space", "j", "j", "space", "k", "a"],
      { files: ["src/new.js"], hunks: { "src/cart.js": [1] } },
      "the 1 marked hunk and 1 marked file",
    ],
    [["tab", "down", "a"], { hunks: { "src/cart.js": [1, 2] } }, "a apply file"],
    [["tab", "a"], {}, "a Y apply all 2 hunks in 2 files"],
  ])("%j", (keys, part, line) => {
    const before = typed(opened(), ...keys.slice(0, -1));
    expect(lastLine(before.state)).toContain(line);
    const { wishes, state } = typed(opened(), ...keys);
    expect(decisions(wishes)).toEqual([
      { key: "pa_7", revision: 1, action: "apply", reason: "applied in review", ...part },
    ]);
    expect(state.busy).toEqual({ key: "pa_7", word: "applying…" });
  });

  it("decides one thing at a time", () => {
    const { wishes, state } = typed(opened(), "a", "Y", "D");
    expect(decisions(wishes)).toHaveLength(1);
    expect(state.message?.text).toBe("One decision at a time: pa_7 applying…");
  });

  it("is refused for a stale one, in words", () => {
    const one = action("pa_7", { status: "stale" });
    const stale = { ...one, files: one.files.map((file, index) => ({ ...file, isStale: index === 0 })) };
    for (const key of ["a", "A", "Y"]) {
      const { wishes, state } = typed(opened(stale), key);
      expect([wishes, state.message?.level]).toEqual([[], "failure"]);
      expect(state.message?.text).toContain("stale: src/cart.js changed on disk");
    }
    expect(typed(opened(stale), "R").wishes).toEqual([{ kind: "rebase", key: "pa_7", revision: 1 }]);
  });

  it("names what would be written along with it, and needs a second press", () => {
    const one = action("pa_9", { restsOn: [{ key: "pa_5", paths: ["src/new.js"] }] });
    expect(decisions(typed(opened(one), "a").wishes)).toHaveLength(1);
    const asked = typed(opened(one), "Y");
    expect(asked.wishes).toEqual([]);
    expect(lastLine(asked.state)).toBe(
      " It would also write pa_5 for src/new.js. Press Y again to apply them together.",
    );
    expect(decisions(typed(asked.state, "Y").wishes)).toMatchObject([{ key: "pa_9", withDeps: true }]);
    expect(decisions(typed(asked.state, "j", "Y").wishes)).toEqual([]);
  });
});

describe("what is asked about is shown", () => {
  it("asks again where lines were not seen, and any other key takes that back", () => {
    const one = opened();
    const seen = new SeenLines(one.doc as ReviewDoc);
    const key = (state: ReviewState, name: string) => press(state, name, (units) => seen.unseen(units));
    const first = key(one, "Y");
    expect(lastLine(first.state)).toBe(" 6 lines in 2 files not seen yet. Press Y again to apply all the same.");
    expect(key(first.state, "Y").wish?.kind).toBe("decide");
    for (const other of ["a", "D", "escape", "down", "z"]) {
      const back = key(first.state, other);
      expect([back.state.mode.kind, back.wish?.kind === "decide"]).toEqual(["normal", false]);
      expect(key(back.state, "Y").wish).toBeUndefined();
    }
    for (let line = 0; line < 2; line++) seen.mark(line);
    expect(key(one, "a").wish?.kind).toBe("decide");
    expect(lastLine(key(one, "A").state)).toContain("2 lines in 1 file not seen yet. Press A again");
  });

  it("keeps what was seen of a hunk when another one was decided, unless two look alike", () => {
    const doc = (hunks: DiffFile["hunks"]) =>
      new ReviewDoc({ key: "pa_1", revision: 1, files: [{ path: "a", kind: "modify", hunks }] });
    const before = doc([hunk(1, "a"), hunk(2, "b"), hunk(3, "b")]);
    const seen = new SeenLines(before);
    for (const line of [0, 1, 2, 3]) seen.mark(line);
    const after = doc([{ ...hunk(1, "a"), oldStart: 7 }, hunk(2, "b")]);
    const kept = new SeenLines(after, seen);
    expect(after.units.map((unit) => kept.unseen([unit]).lines)).toEqual([0, 2]);
  });
});

describe("discard", () => {
  it("asks for a reason in one line", () => {
    const asked = typed(opened(), "x");
    expect(lastLine(asked.state)).toContain("Discard hunk 1 of 2. Reason:");
    expect(decisions(typed(asked.state, "n", "o", "space", "paste:way\nout", "enter").wishes)).toEqual([
      { key: "pa_7", revision: 1, action: "discard", reason: "no way out", hunks: { "src/cart.js": [1] } },
    ]);
    expect(decisions(typed(asked.state, "enter").wishes)).toMatchObject([{ reason: "discarded in review" }]);
    expect(typed(asked.state, "a", "Y", "escape")).toMatchObject({ wishes: [], state: { mode: { kind: "normal" } } });
    expect(decisions(typed(opened(), "D", "enter").wishes)[0]).not.toHaveProperty("hunks");
  });
});

describe("what comes and goes", () => {
  it("keeps the selection, and a key for what has gone decides nothing", () => {
    const [one, two] = [action("pa_7"), action("pa_9")];
    const gone = refreshed(opened(one, two), { actions: [two], changes: [] });
    expect([gone.actionKey, gone.actions.map(({ key }) => key)]).toEqual(["pa_7", ["pa_7", "pa_9"]]);
    const { wishes, state } = typed(gone, "a", "A", "Y", "x", "X", "D", "enter");
    expect(decisions(wishes)).toEqual([]);
    expect(state.actionKey).toBe("pa_7");
    const moved = typed({ ...gone, pane: "list" }, "down").state;
    expect([moved.actionKey, moved.actions.map(({ key }) => key)]).toEqual(["pa_9", ["pa_9"]]);
  });

  it("takes back a question about what has changed meanwhile", () => {
    const one = action("pa_7");
    for (const key of ["x", "D"]) {
      const asked = typed(opened(one), key).state;
      const changed = refreshed(asked, { actions: [{ ...one, revision: 2 }], changes: [] });
      expect(decisions(typed(changed, "enter").wishes)).toEqual([]);
    }
  });

  it("does not decide about a diff that is not the one of the action now", () => {
    const one = opened();
    expect(typed({ ...one, doc: undefined }, "a", "Y").wishes).toEqual([]);
    const newer = { ...one, actions: [action("pa_7", { revision: 2 })] };
    expect(typed(newer, "a", "Y", "x", "enter").wishes).toEqual([]);
  });
});

describe("the model's question", () => {
  const asked: ReviewState = {
    ...opened(action("pa_7", { status: "applying" })),
    question: { key: "pa_7", revision: 1 },
  };
  const answers = (...keys: string[]) => typed(asked, ...keys).wishes;

  it.each([
    [["Y"], true],
    [["escape"], "postponed"],
    [["q"], "postponed"],
    [["D", "n", "o", "enter"], { apply: {}, rest: "discard", reason: "no" }],
    [["j", "a", "k"], { apply: { hunks: { "src/cart.js": [2] } }, rest: "keep" }],
    [["a", "d"], { apply: { hunks: { "src/cart.js": [1] } }, rest: "discard", reason: "discarded in review" }],
  ])("%j", (keys, answer) =>
    expect(answers(...keys).filter(({ kind }) => kind === "answer")).toEqual([{ kind: "answer", answer }]),
  );

  it("stands in the last line, and nothing else is decided meanwhile", () => {
    expect(lastLine(asked)).toContain("Apply pa_7?   Y yes, all 2 hunks in 2 files   D no   a apply hunk 1 of 2");
    expect(answers("a", "escape")).toEqual([]);
    expect(answers("u")).toEqual([]);
    expect(answers("e")).toEqual([]);
    expect(answers("x")).toEqual([]);
  });
});

describe("any keys", () => {
  const names = [
    ...Object.values(reviewKeys).flatMap(({ keys }): readonly string[] => keys),
    "enter",
    "backspace",
    "z",
    "d",
  ];
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...names).map((key) => ({ key })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("remove", "change", "stale", "scroll", "done").map((event) => ({ event })),
    },
  );

  it("never decide what was not on the last line, nor about what has gone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 40, max: 160 }), (steps, columns) => {
        let state = opened(action("pa_7"), action("pa_9", { restsOn: [{ key: "pa_7", paths: ["src/new.js"] }] }));
        for (const each of steps) {
          if ("event" in each) {
            state = happened(state, each.event);
            continue;
          }
          const shown = lastLines(state, columns).join(" ").replace(/\s+/g, " ");
          const { state: next, wish } = press(state, each.key, (units) => ({
            lines: units.length > 2 ? 9 : 0,
            files: 1,
          }));
          if (wish?.kind === "decide") {
            const { decision, scope } = wish;
            const now = state.actions.find(({ key }) => key === decision.key);
            expect(state.gone?.key).not.toBe(decision.key);
            expect(now?.revision).toBe(decision.revision);
            expect(state.busy).toBeUndefined();
            if (state.mode.kind === "again") expect(shown).toContain(`Press ${each.key} again to apply`);
            else expect(shown).toContain(each.key === "A" ? "A file" : scope.words);
          }
          state = wish?.kind === "load" ? withDoc(next) : next;
        }
      }),
      { numRuns: runs(400) },
    );
  });

  function withDoc(state: ReviewState): ReviewState {
    const one = state.actions.find(({ key }) => key === state.actionKey);
    return one && state.gone?.key !== one.key && state.tab === "pending" ? { ...state, doc: docOf(one) } : state;
  }

  function happened(state: ReviewState, event: string): ReviewState {
    const [first, ...rest] = state.actions.filter(({ key }) => key !== state.gone?.key);
    if (event === "done") return { ...state, busy: undefined };
    if (event === "scroll") return atUnit(state, 1);
    if (!first) return state;
    if (event === "remove") return withDoc(refreshed(state, { actions: rest, changes: [] }));
    const changed =
      event === "stale" ? { ...first, status: "stale" as const } : { ...first, revision: first.revision + 1 };
    return withDoc(refreshed(state, { actions: [changed, ...rest], changes: [] }));
  }

  it("only says that a failure was read with the key that says so", () => {
    const failed: ReviewState = { ...opened(), message: { level: "failure", text: "Nothing to redo." } };
    const { state, wishes } = typed(failed, "escape");
    expect([state.message, state.pane, wishes]).toEqual([undefined, "diff", []]);
    expect(typed({ ...failed, pane: "list" }, "escape").wishes).toEqual([]);
    expect(typed({ ...failed, pane: "list" }, "escape", "escape").wishes).toEqual([{ kind: "close" }]);
  });

  it("obeys and names the keys that the user chose", () => {
    const keys = { ...defaultReviewKeys, "review.applyAll": ["P"], "review.undo": [] };
    const state = { ...opened(), keys };
    expect(decisions(typed(state, "Y").wishes)).toEqual([]);
    expect(decisions(typed(state, "P").wishes)).toHaveLength(1);
    const [line = ""] = lastLines(state, 200);
    expect(line).toContain("P apply all 2 hunks in 2 files");
    expect(line).not.toContain("undo");
  });
});

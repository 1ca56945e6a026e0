import { describe, expect, it } from "vitest";
import { Settings } from "../../config/settings/settings.js";
import { openSession } from "../../testing/open-session.js";
import { calls, say } from "../../testing/scripted-model.js";
import { applyWords, discardWords, pendingIdOf, redoWords, undoWords } from "./decide-words.js";

const rewrite = (pat: string, out: string, path: string, id: string) =>
  calls({ name: "ast_edit", args: { ops: [{ pat, out }], paths: [path] }, id });

/** `pa_2` rests on `pa_1` for `a.ts`; `pa_3` stands alone. */
async function stage() {
  const open = await openSession({
    files: { "a.ts": "one();\n", "b.ts": "four();\n" },
    model: [
      rewrite("one", "two", "a.ts", "e1"),
      rewrite("two", "three", "a.ts", "e2"),
      rewrite("four", "five", "b.ts", "e3"),
      say("ok"),
    ],
    session: { settings: new Settings({ overrides: new Map([["staging", "all"]]) as never }) },
  });
  await open.session.prompt("go");
  return { ...open, pending: () => open.session.pendingActions.map(({ id }) => id).sort() };
}

describe("/apply", () => {
  it("of what rests on another action writes nothing, lists what would be written, and names the command", async () => {
    const { session, workspace } = await stage();
    const told = [
      "pa_2 rests on other pending actions. To apply it would also write:",
      "  pa_1  a.ts  (AST Edit: 1 replacement in 1 file)",
      "Nothing was written. To apply them together: /apply pa_2 --with-deps",
    ].join("\n");
    await expect(applyWords(session, "2")).rejects.toMatchObject({ code: "depends", message: told });
    expect(workspace.files).toEqual({ "a.ts": "one();\n", "b.ts": "four();\n" });
  });

  it.each(["2 --with-deps", "--with-deps pa_2", "pa_1 pa_2", "2 1"])("%s writes them together", async (words) => {
    const { session, workspace, pending } = await stage();
    await applyWords(session, words);
    expect(workspace.files).toEqual({ "a.ts": "three();\n", "b.ts": "four();\n" });
    expect(pending()).toEqual(["pa_3"]);
  });

  it("takes the next one without a name, a number, or all", async () => {
    const { session, workspace, pending } = await stage();
    expect(await applyWords(session, "")).toContain("Applied 1 replacement in 1 file.");
    expect(pending()).toEqual(["pa_1", "pa_2"]);
    await applyWords(session, "1");
    expect(workspace.files).toEqual({ "a.ts": "two();\n", "b.ts": "five();\n" });
    await applyWords(session, "all");
    expect(workspace.files).toEqual({ "a.ts": "three();\n", "b.ts": "five();\n" });
    await expect(applyWords(session, "all")).rejects.toThrow("No pending action to resolve.");
  });

  it.each([
    ["9", 'No pending action with id "9". Pending: pa_3, pa_2, pa_1.'],
    ["pa_", 'Several pending actions are meant by "pa_"'],
    ["--force", "Use  /apply [ID…|all] [--with-deps]."],
    ["all pa_1", "Use  /apply [ID…|all] [--with-deps]."],
  ])("refuses %s", async (words, told) => {
    const { session, pending } = await stage();
    await expect(applyWords(session, words)).rejects.toThrow(told);
    expect(pending()).toEqual(["pa_1", "pa_2", "pa_3"]);
  });
});

describe("/discard", () => {
  it("takes a number, a reason, or all", async () => {
    const { session, pending } = await stage();
    expect(await discardWords(session, "3 not that way")).toContain("Reason: not that way");
    expect(pending()).toEqual(["pa_1", "pa_2"]);
    expect(await discardWords(session, "wrong name")).toContain("Reason: wrong name");
    expect(pending()).toEqual(["pa_1"]);
    await discardWords(session, "all");
    expect(pending()).toEqual([]);
  });
});

describe("/undo and /redo", () => {
  it("take the beginning of an id, and say what is unknown", async () => {
    const { session, workspace } = await stage();
    await applyWords(session, "3");
    const [change] = await session.getChanges({ isWholeRoot: true });
    await expect(undoWords(session, "ch_nothing")).rejects.toThrow('There is no change with id "ch_nothing"');
    expect(await undoWords(session, (change?.id ?? "").slice(0, 5))).toContain("Undone");
    expect(workspace.files).toMatchObject({ "b.ts": "four();\n" });
    expect(await redoWords(session)).toContain("Redone");
    expect(workspace.files).toMatchObject({ "b.ts": "five();\n" });
  });
});

describe("pendingIdOf", () => {
  it("names the whole id", async () => {
    const { session } = await stage();
    expect(pendingIdOf(session, "2")).toBe("pa_2");
    expect(() => pendingIdOf(session, "x")).toThrow('No pending action with id "x"');
  });
});

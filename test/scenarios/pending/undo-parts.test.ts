// An undo that is applied in parts: each part takes back its own files, and together they are one undo.

import { expect, it } from "vitest";
import { openSession } from "../../../src/testing/open-session.js";
import { call, say } from "../../../src/testing/scripted-model.js";

const pad = "// pad\n".repeat(10);
const old = { "a.ts": `old(1);\n${pad}old(2);\n`, "b.ts": "old(3);\n" };
const fresh = { "a.ts": `fresh(1);\n${pad}fresh(2);\n`, "b.ts": "fresh(3);\n" };
const host = { by: "host", reason: "go" } as const;

async function changed() {
  const edit = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "e1");
  const open = await openSession({
    files: old,
    model: [edit, call("resolve", { action: "apply", reason: "ok" }, "r1"), say("Done.")],
  });
  const { session, workspace } = open;
  await session.prompt("go");
  expect(workspace.files).toEqual(fresh);
  const apply = (part: { files?: string[]; hunks?: Record<string, number[]> } = {}) =>
    session.resolvePendingAction({ ...host, action: "apply", ...part });
  const texts = async (what: "undo" | "redo") => (await session[what]({ apply: host })).answer?.text;
  const states = async () => (await session.getChanges()).map(({ label, state }) => `${label.split(":")[0]} ${state}`);
  return { session, workspace, apply, texts, states };
}

it("takes back all of it, is redone part by part, and can be undone as a whole again", async () => {
  const { session, workspace, apply, texts, states } = await changed();
  await session.undo({});
  await apply({ files: ["a.ts"] });
  expect(workspace.files).toEqual({ ...fresh, "a.ts": old["a.ts"] });
  expect(await states()).toEqual(["Undo applied", "AST Edit applied"]);
  await apply();
  expect(workspace.files).toEqual(old);
  expect(await states()).toEqual(["Undo applied", "Undo applied", "AST Edit undone"]);
  expect(await texts("redo")).toBe("Redone: AST Edit: 1 hunk in 1 file (1 of 2 files: b.ts).");
  expect(await texts("redo")).toBe("Redone: AST Edit: 2 hunks in 1 file (1 of 2 files: a.ts).");
  expect(workspace.files).toEqual(fresh);
  await expect(session.redo({})).rejects.toThrow("Nothing to redo.");
  expect(await texts("undo")).toBe("Undone: AST Edit: 3 replacements in 2 files.");
  expect(workspace.files).toEqual(old);
  await expect(session.undo({})).rejects.toThrow("Nothing to undo.");
});

it("leaves to the next undo what was not taken back, a single hunk included", async () => {
  const { session, workspace, apply, texts, states } = await changed();
  await session.undo({});
  await apply({ hunks: { "a.ts": [1] } });
  await session.resolvePendingAction({ ...host, action: "discard" });
  expect(await states()).toEqual(["Undo applied", "AST Edit applied"]);
  expect(await texts("undo")).toBe("Undone: AST Edit: 3 replacements in 2 files.");
  expect(workspace.files).toEqual(old);
  expect(await states()).toEqual(["Undo applied", "Undo applied", "AST Edit undone"]);
});

it("of some files leaves the others to the next undo", async () => {
  const { session, workspace, apply, texts } = await changed();
  await session.undo({});
  await apply({ files: ["b.ts"] });
  await session.resolvePendingAction({ ...host, action: "discard" });
  expect(await texts("undo")).toBe("Undone: AST Edit: 3 replacements in 2 files (1 of 2 files: a.ts).");
  expect(workspace.files).toEqual(old);
});

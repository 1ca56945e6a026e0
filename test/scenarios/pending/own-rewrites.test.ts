// A file that the model read and then rewrote by a preview of its own: it knows what came of it, and may go on.

import { describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { openSession } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say } from "../../../src/testing/scripted-model.js";

const before = "old(1);\nkeep;\n";
const read = call("read", { path: "a.ts" }, "read_1");
const rewrite = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "ast_1");
const resolve = call("resolve", { action: "apply", reason: "ok" }, "resolve_1");
const edit = call("edit", { edits: [{ path: "a.ts", old_text: "keep", new_text: "kept" }] }, "edit_1");
const changed = "File changed since it was last read: a.ts. Read it again.";

async function open(staging: string, model: readonly ScriptStep[]) {
  const settings = new Settings({ overrides: new Map([["staging", staging]]) as never });
  return openSession({ files: { "a.ts": before }, model, session: { settings } });
}
type Open = Awaited<ReturnType<typeof open>>;

const edited = ({ session }: Open) =>
  session.messages
    .flatMap((message) => (message.role === "toolResult" && message.toolName === "edit" ? message.content : []))
    .map((block) => (block.type === "text" ? block.text.split("\n")[0] : ""));

describe.each([
  ["auto", [read, rewrite, resolve, edit, say("Done.")], "fresh(1);\nkept;\n"],
  ["off", [read, rewrite, edit, say("Done.")], "fresh(1);\nkept;\n"],
  ["all", [read, rewrite, edit, say("Done.")], before],
])("with staging %s", (staging, model, left) => {
  it("it may be edited without being read again", async () => {
    const opened = await open(staging, model);
    await opened.session.prompt("go");
    expect(edited(opened)).not.toContain(changed);
    expect(opened.workspace.files["a.ts"]).toBe(left);
    if (staging !== "all") return;
    await opened.session.resolvePendingAction({ action: "apply", reason: "", by: "user", all: true });
    expect(opened.workspace.files["a.ts"]).toBe("fresh(1);\nkept;\n");
  });
});

it("a file that another program wrote afterwards has to be read again", async () => {
  const opened = await open("auto", [read, rewrite, resolve, say("Done."), edit, say("Done.")]);
  await opened.session.prompt("go");
  const target = await opened.workspace.resolve("a.ts", "write");
  await opened.workspace.writeFile(target, { bytes: Buffer.from("mine;\nkeep;\n") });
  await opened.session.prompt("go on");
  expect(edited(opened)).toEqual([changed]);
});

it("a rewrite of what the model had not seen does not count as having seen it", async () => {
  const opened = await open("auto", [read, say("Read."), rewrite, resolve, edit, say("Done.")]);
  await opened.session.prompt("go");
  const target = await opened.workspace.resolve("a.ts", "write");
  await opened.workspace.writeFile(target, { bytes: Buffer.from("old(2);\nkeep;\nmore;\n") });
  await opened.session.prompt("go on");
  expect(edited(opened)).toEqual([changed]);
});

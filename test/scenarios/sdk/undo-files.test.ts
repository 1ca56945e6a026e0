// Undo and redo through a session on real files: a part of an undo is made of the bytes that the change left and of no
// others, however long the file is and whatever it may hold.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
});

const write = (name: string, text: string) => writeFileSync(join(home, "project", name), text);
const read = (name: string) => readFileSync(join(home, "project", name), "utf8");
const atOnce = { apply: { by: "user", reason: "back" } } as const;

async function open(model: readonly ScriptStep[], more: Parameters<typeof createAgentSession>[0] = {}) {
  const place = { cwd: join(home, "project"), agentDir: join(home, "agent") };
  const { session } = await createAgentSession({
    ...place,
    env: {},
    model: scriptedProviderModel,
    streamFn: scriptedModel(model).stream,
    loadRules: async () => [],
    ...more,
  });
  return session;
}

const lines = (long = "line") => Array.from({ length: 60 }, (_, index) => `${long} ${index}\n`).join("");
const twoEdits = call("edit", {
  edits: [
    { path: "a.txt", old_text: " 5\n", new_text: " FIVE\n" },
    { path: "a.txt", old_text: " 50\n", new_text: " FIFTY\n" },
  ],
});
const firstHunk = { action: "apply", reason: "half", by: "host", pendingId: "pa_1", hunks: { "a.txt": [1] } } as const;

describe("a hunk of an undo", () => {
  it("keeps a file that is longer than a tool reads at once", async () => {
    write("a.txt", lines("a longer line"));
    const settings = new Settings({ overrides: new Map([["maxReadBytes", 400]]) as never });
    const session = await open([twoEdits, say("Done.")], { settings });
    await session.prompt("go");
    await session.undo();
    const [staged] = await session.getPendingActions();
    expect(staged).toMatchObject({ status: "pending", files: [{ added: 2, removed: 2, hunks: 2 }] });
    expect((await session.resolvePendingAction(firstHunk)).text).toContain("Applied 1 of 2 hunks");
    expect(read("a.txt")).toBe(lines("a longer line").replace(" 50\n", " FIFTY\n"));
    await session.dispose();
  });

  it("cannot be chosen if the file was different when the preview was made", async () => {
    write("a.txt", lines());
    const session = await open([twoEdits, say("Done.")]);
    await session.prompt("go");
    const left = read("a.txt");
    write("a.txt", left.replace(" 30\n", " FOREIGN\n"));
    expect((await session.undo()).action).toMatchObject({ id: "pa_1", status: "stale" });
    write("a.txt", left);
    await expect(session.resolvePendingAction(firstHunk)).rejects.toThrow(
      "Hunks of a.txt cannot be chosen: the file was not as the preview says when it was made. Decide about all of it, or preview again.",
    );
    expect(read("a.txt")).toBe(left);
    const whole = { action: "apply", reason: "all", by: "host", pendingId: "pa_1" } as const;
    expect((await session.resolvePendingAction(whole)).text).toContain("Undone");
    expect(read("a.txt")).toBe(lines());
    await session.dispose();
  });
});

describe("a file that may hold secrets", () => {
  const steps = [
    call("write", { path: "other.txt", content: "x\n" }, "w1"),
    call("write", { path: ".env.example", content: "A=1\n" }, "w2"),
    say("Done."),
  ];

  it("is taken back when the session wrote it, and so is what came before", async () => {
    const session = await open(steps);
    await session.prompt("go");
    for (const name of [".env.example", "other.txt"]) {
      expect((await session.undo(atOnce)).answer?.text).toBe(`Undone: Write: ${name}.`);
      expect(existsSync(join(home, "project", name))).toBe(false);
    }
    await session.redo(atOnce);
    expect(existsSync(join(home, "project/other.txt"))).toBe(true);
    await session.dispose();
  });

  it("is not shown when another program changed its content", async () => {
    const session = await open(steps);
    await session.prompt("go");
    write(".env.example", "KEY=hunter2\n");
    expect((await session.undo()).action.status).toBe("stale");
    expect(JSON.stringify(await session.getPendingActions({ diff: true }))).not.toContain("hunter2");
    expect(JSON.stringify(await session.getChanges({ withDiff: true }))).not.toContain("hunter2");
    await session.dispose();
  });
});

it("a redo is not taken for an undo where the undo it speaks of is no longer kept", async () => {
  const settings = new Settings({ overrides: new Map([["undo.keep", 1]]) as never });
  write("a.txt", "old\n");
  const session = await open([call("write", { path: "a.txt", content: "fresh\n" }), say("Done.")], { settings });
  await session.prompt("go");
  await session.undo(atOnce);
  await session.redo(atOnce);
  expect(read("a.txt")).toBe("fresh\n");
  await expect(session.redo(atOnce)).rejects.toThrow("Nothing to redo.");
  expect(read("a.txt")).toBe("fresh\n");
  await session.dispose();
});

it("a change that is no longer there does not keep the one before it from being undone", async () => {
  write("a.txt", "one\n");
  write("b.txt", "one\n");
  const session = await open([
    call("write", { path: "a.txt", content: "two\n" }),
    call("write", { path: "b.txt", content: "two\n" }),
    say("Done."),
  ]);
  await session.prompt("go");
  write("b.txt", "one\n"); // by hand, or it was never written
  expect(await session.undo(atOnce)).toMatchObject({ record: { label: "Write: a.txt" } });
  expect([read("a.txt"), read("b.txt")]).toEqual(["one\n", "one\n"]);
  await expect(session.undo(atOnce)).rejects.toThrow("Nothing to undo.");
  await session.dispose();
});

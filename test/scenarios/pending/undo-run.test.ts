// The changes of a run, taken back together: what it wrote at once, what it staged and was applied later, and nothing
// else. Where another program has written since, all of it stays.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { listPendingSessions, listProjectChanges } from "../../../src/sdk/pending-sessions.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { runs } from "../../kit/runs.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => setUp());
function setUp() {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
}

const place = () => ({ cwd: join(home, "project"), agentDir: join(home, "agent") });
const at = (name: string) => join(home, "project", name);
const put = (name: string, text: string) => writeFileSync(at(name), text);
const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : undefined);
const byUser = { apply: { by: "user", reason: "back" } as const, isWholeRoot: true };
const wrote = (path: string, content: string) => call("write", { path, content });
const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["c.ts"] });

async function open(model: readonly ScriptStep[]) {
  const { session } = await createAgentSession({
    ...place(),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(model).stream,
    loadRules: async () => [],
    settings: new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never }),
  });
  onTestFinished(() => session.dispose());
  return session;
}

describe("E-7: undo of a run", () => {
  it("takes back every change of the last run in one change, its preview that was applied later included", async () => {
    put("a.txt", "a0\n");
    put("c.ts", "old(1);\n");
    const first = await open([wrote("a.txt", "a1\n"), say("Done.")]);
    await first.prompt("one");
    const second = await open([
      wrote("a.txt", "a2\n"),
      wrote("b.txt", "b\n"),
      wrote("a.txt", "a3\n"),
      preview,
      say("Done."),
    ]);
    await second.prompt("two");
    await second.dispose();
    const third = await open([wrote("d.txt", "not of that run\n"), say("Done.")]);
    await third.prompt("three");
    await third.undo({ isRun: true, ...byUser });
    expect(read("d.txt")).toBeUndefined();

    // A preview of the second run, applied in another process: the run that staged it counts.
    const [pending] = (await listPendingSessions(place())).flatMap(({ actions }) => actions);
    expect(pending).toMatchObject({ id: "pa_1", prompt: "two" });
    const { session } = await createAgentSession({
      ...place(),
      env: {},
      persist: true,
      resume: { kind: "open", target: pending?.session.path ?? "" },
    });
    onTestFinished(() => session.dispose());
    await session.resolvePendingAction({ action: "apply", reason: "yes", by: "user", pendingId: "pa_1" });
    expect([read("a.txt"), read("b.txt"), read("c.ts")]).toEqual(["a3\n", "b\n", "fresh(1);\n"]);

    const { action } = await third.undo({ isRun: true, isWholeRoot: true });
    expect(action).toMatchObject({ label: "Undo: 4 changes of one run", files: { length: 3 } });
    await third.resolvePendingAction({ action: "apply", reason: "yes", by: "user", pendingId: action.id });
    expect([read("a.txt"), read("b.txt"), read("c.ts")]).toEqual(["a1\n", undefined, "old(1);\n"]);
    const states = (await listProjectChanges(place())).map(({ label, state }) => `${state} ${label}`);
    expect(states[0]).toBe("applied Undo: 4 changes of one run");
    expect(states.filter((text) => text.startsWith("undone "))).toHaveLength(5);

    await third.redo(byUser);
    expect([read("a.txt"), read("b.txt"), read("c.ts")]).toEqual(["a3\n", "b\n", "fresh(1);\n"]);
    await third.undo({ isRun: true, ...byUser });
    await third.undo({ isRun: true, ...byUser }); // the run before it
    expect(read("a.txt")).toBe("a0\n");
    await expect(third.undo({ isRun: true, ...byUser })).rejects.toThrow("Nothing to undo");
  });

  it("prompts of the same run are taken back together", async () => {
    const session = await open([wrote("a.txt", "a\n"), say("One."), wrote("b.txt", "b\n"), say("Two.")]);
    await session.prompt("one");
    await session.prompt("two", { isSameRun: true });
    await session.undo({ isRun: true, ...byUser });
    expect([read("a.txt"), read("b.txt")]).toEqual([undefined, undefined]);
  });

  it.each([
    ["was edited", () => put("a.txt", "mine\n")],
    ["was deleted", () => rmSync(at("a.txt"))],
    ["is already as it was before", () => put("a.txt", "a0\n")],
    [
      "was replaced by something that is no file",
      () => {
        rmSync(at("a.txt"));
        symlinkSync("b.txt", at("a.txt"));
      },
    ],
  ])(
    "leaves everything where a file %s since, and says so; older and other changes can still be undone",
    async (how, deed) => {
      put("a.txt", "a0\n");
      const session = await open([wrote("b.txt", "b\n"), wrote("a.txt", "a1\n"), say("Done.")]);
      await session.prompt("go");
      deed();
      const before = [read("a.txt"), read("b.txt")];
      await expect(session.undo({ isRun: true, ...byUser })).rejects.toThrow(`: a.txt ${how}. Nothing was written.`);
      const [newest, older] = await listProjectChanges(place());
      if (!how.startsWith("is already"))
        await expect(session.undo({ changeId: newest?.id, ...byUser })).rejects.toThrow(
          `Cannot undo ${newest?.id}: a.txt ${how}. Nothing was written.`,
        );
      expect([read("a.txt"), read("b.txt")]).toEqual(before);
      expect(session.pendingActions).toEqual([]);
      await session.undo({ changeId: older?.id, ...byUser });
      expect(read("b.txt")).toBeUndefined();
    },
  );

  it("leaves everything where another program wrote between two changes of the run", async () => {
    put("a.txt", "a0\n");
    const session = await open([
      wrote("a.txt", "a1\n"),
      call("bash", { command: "echo mine >> a.txt" }),
      call("read", { path: "a.txt" }),
      wrote("a.txt", "a2\n"),
      say("Done."),
    ]);
    await session.prompt("go");
    await expect(session.undo({ isRun: true, ...byUser })).rejects.toThrow("a.txt was edited between the changes");
    expect(read("a.txt")).toBe("a2\n");
  });

  it("brings back exactly what was there before it, whatever the run wrote", async () => {
    const names = fc.constantFrom("a.txt", "b.txt", "c.txt");
    const texts = fc.constantFrom("1\n", "2\n", "");
    const files = fc.dictionary(names, texts, { maxKeys: 3 });
    const writes = fc.array(fc.tuple(names, texts), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(files, writes, async (before, run) => {
        setUp();
        for (const [name, text] of Object.entries(before)) put(name, text);
        const session = await open([...run.map(([name, text]) => wrote(name, text)), say("Done.")]);
        await session.prompt("go");
        const after = ["a.txt", "b.txt", "c.txt"].map(read);
        const hasChanged = (await listProjectChanges(place())).length > 0;
        if (hasChanged) {
          await session.undo({ isRun: true, ...byUser });
          expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(
            ["a.txt", "b.txt", "c.txt"].map((name) => before[name]),
          );
          await session.redo(byUser);
          expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual(after);
        }
        await session.dispose();
      }),
      { numRuns: runs(15) },
    );
  });
});

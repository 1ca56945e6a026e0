// A decision under way when its session is left: it ends where it began, and never touches what another session staged
// under the same id.

import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { randomIds } from "../../../src/base/ids.js";
import type { NewAction } from "../../../src/plans/stored-action.js";
import { createMemoryChangeWriter } from "../../../src/testing/memory-change-writer.js";
import { createMemoryWorkspace } from "../../../src/testing/memory-workspace.js";
import { type OpenSession, openSession } from "../../../src/testing/open-session.js";
import { call, say } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const rename = (path: string, id: string) =>
  call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: [path] }, id);
const host = { by: "host", reason: "go", pendingId: "pa_1" } as const;
const closure = (work: Partial<Extract<NewAction["work"], { kind: "closure" }>>, more: Partial<NewAction> = {}) => ({
  label: "A",
  sourceToolName: "stage",
  work: { kind: "closure", apply: () => ({ content: [] }), ...work } as NewAction["work"],
  ...more,
});

function gate() {
  let open = () => {};
  const opened = new Promise<void>((done) => {
    open = done;
  });
  return { opened, open };
}

/** Time to do what can be done without anybody's help. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise((done) => setImmediate(done));
}

/** Plans that are written when the test says so. */
async function openSlow(model: Parameters<typeof openSession>[0] = {}) {
  const workspace = createMemoryWorkspace({ "a.ts": "old(1);\n", "b.ts": "old(2);\n" });
  const plans = createMemoryChangeWriter(workspace);
  const [begun, write] = [gate(), gate()];
  const slow: typeof plans = {
    ...plans,
    async apply(...change) {
      begun.open();
      await write.opened;
      return plans.apply(...change);
    },
  };
  const at = { persist: true, sessionDir: folder, agentDir: folder, ids: randomIds };
  const opened = await openSession({ ...model, session: { ...at, workspace, changeWriter: slow } });
  return { ...opened, workspace, begun, write };
}

const settledIn = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.includes('"event":"settled"'))
    .map((line) => JSON.parse(line).data as { id: string; outcome: string })
    .map(({ id, outcome }) => `${id} ${outcome}`);
const openActions = async ({ session }: Pick<OpenSession, "session">) =>
  (await session.getPendingActions()).map(({ id, status, label }) => `${id} ${status} ${label}`);

describe("a plan that is being written", () => {
  it("is settled in its own session, and not in the one that comes next", async () => {
    const other = await openSlow({ model: [rename("b.ts", "e1"), say("Later.")] });
    await other.session.prompt("b");
    const second = other.session.sessionFile as string;
    await other.session.dispose();
    const opened = await openSlow({ model: [rename("a.ts", "e1"), say("Later.")] });
    const { session, workspace, begun, write } = opened;
    await session.prompt("a");
    const first = session.sessionFile as string;
    const decided = session.resolvePendingAction({ action: "apply", ...host });
    await begun.opened;
    const switched = session.switchSession(second);
    await rest();
    write.open();
    await Promise.all([decided, switched]);
    expect(session.sessionFile).toBe(second);
    expect(await openActions(opened)).toEqual(["pa_1 pending AST Edit: 1 replacement in 1 file"]);
    expect(workspace.files).toEqual({ "a.ts": "fresh(1);\n", "b.ts": "old(2);\n" });
    await session.dispose();
    expect([settledIn(first), settledIn(second)]).toEqual([["pa_1 applied"], []]);
  });

  it("is written when `dispose` resolves", async () => {
    const { session, workspace, begun, write } = await openSlow({ model: [rename("a.ts", "e1"), say("Later.")] });
    await session.prompt("a");
    const decided = session.resolvePendingAction({ action: "apply", ...host });
    await begun.opened;
    let left = "";
    const disposed = session.dispose().then(() => {
      left = workspace.files["a.ts"] as string;
    });
    await rest();
    write.open();
    await Promise.all([decided, disposed]);
    expect(left).toBe("fresh(1);\n");
  });

  it("is settled on the branch that it was staged on", async () => {
    const opened = await openSlow({ model: [say("Hello."), rename("a.ts", "e1"), say("Later.")] });
    const { session, begun, write } = opened;
    await session.prompt("hi");
    const before = session.exportSource.tree.leafId as string;
    await session.prompt("a");
    const decided = session.resolvePendingAction({ action: "apply", ...host });
    await begun.opened;
    const moved = session.navigateTree(before);
    await rest();
    write.open();
    await Promise.all([decided, moved]);
    const { tree } = session.exportSource;
    expect(tree.pathTo().some(({ type }) => type === "custom")).toBe(false);
    await session.navigateTree(tree.entries.findLast(({ type }) => type === "custom")?.id as string);
    expect(await openActions(opened)).toEqual([]);
  });
});

describe("a callback of a tool", () => {
  const open = () => openSession({ session: { persist: true, sessionDir: folder, agentDir: folder } });
  const settled = ({ events }: OpenSession) =>
    events.flatMap((event) => (event.type === "pending_action_resolved" ? [`${event.id} ${event.outcome}`] : []));

  it("is waited for, and its action ends as it says", async () => {
    const opened = await open();
    const { opened: done, open: finish } = gate();
    let rejected = 0;
    const reject = () => void rejected++;
    opened.session.stagePendingAction(closure({ apply: () => done.then(() => ({ content: [] })), reject }));
    const decided = opened.session.resolvePendingAction({ action: "apply", ...host });
    const left = opened.session.newSession();
    await rest();
    finish();
    await Promise.all([decided, left]);
    expect([settled(opened), rejected]).toEqual([["pa_1 applied"], 0]);
  });

  it("that is slow to clean up an expired action does so in its own session", async () => {
    const opened = await openSession(); // in memory: another one is there at once
    const { opened: done, open: finish } = gate();
    const plan = { changes: [], applied: { text: "" } };
    const work = { kind: "plan" as const, plan, reject: () => done.then(() => undefined) };
    opened.session.stagePendingAction({ label: "A", sourceToolName: "stage", work, expiresInMs: 1000 });
    await opened.session.getPendingActions();
    opened.clock.advance(1000);
    const left = opened.session.newSession();
    await rest();
    finish();
    await left;
    await opened.session.getPendingActions();
    expect(settled(opened)).toEqual(["pa_1 expired"]);
    expect(opened.session.exportSource.tree.entries.filter(({ type }) => type === "custom")).toEqual([]);
  });

  it("that never ends does not block forever, and its late result is ignored", async () => {
    const opened = await open();
    const { opened: done, open: finish } = gate();
    opened.session.stagePendingAction(closure({ apply: () => done.then(() => ({ content: [] })) }));
    const decided = opened.session.resolvePendingAction({ action: "apply", ...host });
    const left = opened.session.newSession();
    await rest();
    opened.clock.advance(5000);
    await left;
    expect(settled(opened)).toEqual(["pa_1 discarded"]);
    opened.session.stagePendingAction(closure({}, { id: "pa_1" }));
    finish();
    await decided;
    expect(await openActions(opened)).toEqual(["pa_1 pending A"]);
    expect(settled(opened)).toEqual(["pa_1 discarded"]);
  });

  it("holds the end of galley for half a second at most", async () => {
    const opened = await openSession();
    opened.session.stagePendingAction(closure({ apply: () => new Promise<never>(() => {}) }));
    void opened.session.resolvePendingAction({ action: "apply", ...host });
    opened.session.beginShutdown({ modulesMs: 100 });
    const ended = opened.session.dispose();
    await rest();
    opened.clock.advance(500);
    await ended;
    expect(settled(opened)).toEqual(["pa_1 discarded"]);
  });
});

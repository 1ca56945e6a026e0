// What a host learns about previews of an earlier process: their number with its first question, and that one was lost,
// however early it was found to be.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { silentLog } from "../../../src/base/log.js";
import { Settings } from "../../../src/config/settings/settings.js";
import { serveRpc } from "../../../src/rpc/server.js";
import { type AgentSession, type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/index.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project", "a.ts"), "old(1);\n");
});

const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "edit_1");

function create(model: readonly ScriptStep[], options: CreateAgentSessionOptions = {}) {
  return createAgentSession({
    cwd: join(home, "project"),
    agentDir: join(home, "agent"),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(model).stream,
    loadRules: async () => [],
    settings: new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never }),
    ...options,
  });
}

/** As the process left it that staged a preview, and nothing more. */
async function leftBehind(stage: (session: AgentSession) => Promise<unknown>): Promise<string> {
  const { session } = await create([preview, say("Waiting.")]);
  await stage(session);
  const file = session.sessionFile as string;
  const crashed = join(home, "crashed.jsonl");
  copyFileSync(file, crashed);
  await session.dispose();
  copyFileSync(crashed, file); // a process that is killed says no goodbye
  return file;
}

const withPlan = () => leftBehind((session) => session.prompt("go"));
const withClosure = () =>
  leftBehind(async (session) => {
    const work = { kind: "closure" as const, apply: () => ({ content: [] }) };
    await session.prompt("go");
    await session.resolvePendingAction({ action: "discard", reason: "no", by: "user", pendingId: "pa_1" });
    session.stagePendingAction({ label: "Rename", sourceToolName: "rename", work });
    await session.getPendingActions();
    await session.sessionManager.sync();
  });
const resumed = (target: string) => ({ resume: { kind: "open" as const, target } });

/** A host that sends its lines before there is a session. */
async function host(session: Promise<AgentSession>, commands: readonly object[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = "";
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const server = serveRpc({ input, output, session, clock: systemClock, log: silentLog });
  for (const command of commands) input.write(`${JSON.stringify(command)}\n`);
  input.end();
  await server.done;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function serve(target: string | undefined, commands: readonly object[], { isLate = false } = {}) {
  const options = { deferModules: true, ...(target === undefined ? {} : resumed(target)) };
  const created = create([], options).then(async ({ session }) => {
    if (isLate) await session.getPendingActions();
    return session;
  });
  const frames = await host(created, commands);
  const counts = frames.flatMap((frame) =>
    frame.command === "get_state" ? [(frame.data as { pendingActionCount: number }).pendingActionCount] : [],
  );
  const lost = frames.filter(({ type, outcome }) => type === "pending_action_resolved" && outcome === "orphaned");
  return { counts, lost };
}

const getState = { type: "get_state" };

it("the first get_state counts what was found again", async () => {
  expect((await serve(await withPlan(), [getState])).counts).toEqual([1]);
});

it("so does the one behind switch_session", async () => {
  const file = await withPlan();
  const commands = [getState, { type: "switch_session", sessionPath: file }, getState];
  expect((await serve(undefined, commands)).counts).toEqual([0, 1]);
});

it("a program has the number with the session, at the start and after a switch", async () => {
  const file = await withPlan();
  const { session } = await create([], resumed(file));
  expect([session.pendingActionCount, session.pendingActions.length]).toEqual([1, 1]);
  await session.newSession();
  expect(session.pendingActionCount).toBe(0);
  await session.switchSession(file);
  expect(session.pendingActionCount).toBe(1);
  await session.dispose();
});

it("a new action gets no number of an earlier process, however early it is staged", async () => {
  const { session } = await create([], { ...resumed(await withPlan()), deferModules: true });
  const work = { kind: "closure" as const, apply: () => ({ content: [] }) };
  expect(session.stagePendingAction({ label: "Rename", sourceToolName: "rename", work })).toBe("pa_2");
  expect((await session.getPendingActions()).map(({ id }) => id).sort()).toEqual(["pa_1", "pa_2"]);
  await session.dispose();
});

const lost = {
  id: "pa_2",
  outcome: "orphaned",
  reason: "Pending action pa_2 (Rename) did not survive the restart. Run rename again.",
};

it("a host that resumes is told what was lost, although it was found before the host subscribed", async () => {
  const told = await serve(await withClosure(), [getState], { isLate: true });
  expect(told).toMatchObject({ counts: [0], lost: [lost] });
});

it("so does a program that subscribes to the session it was given, and once", async () => {
  const { session } = await create([say("Hello.")], resumed(await withClosure()));
  const heard: object[] = [];
  const more: object[] = [];
  session.subscribe((event) => void heard.push(event));
  session.subscribe((event) => void more.push(event));
  expect(heard).toEqual([]); // not before whoever subscribes knows how to stop
  await session.prompt("hello");
  expect(heard[0]).toMatchObject(lost);
  expect(heard.filter((event) => "outcome" in event)).toHaveLength(1);
  expect(more).toEqual(heard);
  await session.dispose();
});

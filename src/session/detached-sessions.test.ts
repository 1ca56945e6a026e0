// A command that outlives its session's turn: the result goes where it was asked for, and the file stays ours till then.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { systemClock } from "../base/clock.js";
import { silentLog } from "../base/log.js";
import { acquireLock } from "../base/path-lock.js";
import { createRecord } from "../record/open-record.js";
import { openSession } from "../testing/open-session.js";
import { gate, type ScriptStep, say } from "../testing/scripted-model.js";
import { DetachedSessions } from "./detached-sessions.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

/** A session with one prompt behind it, whose commands end when the test says. */
async function open(...more: ScriptStep[]) {
  const ends: ((text: string) => void)[] = [];
  const run = () => new Promise<string>((resolve) => void ends.push(resolve));
  const opened = await openSession({
    model: [say("one"), ...more, say("two")],
    session: {
      persist: true,
      sessionDir: folder,
      agentDir: folder,
      extensions: [(pi) => pi.on("user_bash", async () => ({ result: { output: await run() } }))],
    },
  });
  const { session } = opened;
  await session.prompt("first");
  const first = session.sessionFile as string;
  const bash = session.executeBash("make");
  const started = async () => {
    while (ends.length === 0) await new Promise(setImmediate);
  };
  await started();
  return { session, first, bash, started, end: (text: string) => ends.shift()?.(text) };
}

const roles = ({ messages }: { messages: readonly { role: string }[] }) => messages.map(({ role }) => role);

async function isFree(path: string): Promise<boolean> {
  const { lock } = await acquireLock(path, systemClock);
  await lock?.release();
  return lock !== undefined;
}

describe("a command that runs on", () => {
  it.each(["newSession", "switchSession", "branch"] as const)("beside %s ends where it began", async (operation) => {
    const { session, first, bash, end } = await open();
    const entryId = session.getUserMessagesForBranching()[0]?.entryId ?? "";
    if (operation === "newSession") await session.newSession();
    else if (operation === "switchSession") {
      writeFileSync(join(folder, "other.jsonl"), "");
      await session.switchSession(join(folder, "other.jsonl"));
    } else await session.branch(entryId);
    expect(await isFree(first)).toBe(false);
    end("built");
    expect(await bash).toMatchObject({ output: "built", cancelled: false });
    expect(session.messages).toEqual([]);
    while (!(await isFree(first))) await new Promise(setImmediate);
    expect(readFileSync(first, "utf8")).toMatch(/"role":"bashExecution","command":"make","output":"built"/);
    await session.dispose();
  });

  it("is found again when the session is opened again", async () => {
    const { session, first, bash, end } = await open();
    await session.newSession();
    await session.switchSession(first);
    end("built");
    await bash;
    expect(roles(session)).toEqual(["user", "assistant", "bashExecution"]);
    await session.prompt("second");
    expect(readFileSync(first, "utf8")).toContain('"second"');
    await session.dispose();
    expect(await isFree(first)).toBe(true);
  });

  it("is awaited when the session is opened again while its record is closing", async () => {
    const { session, first, bash, end } = await open();
    await session.newSession();
    end("built");
    await bash; // the record is on its way out, and its file still locked
    await session.switchSession(first);
    await session.prompt("second");
    expect(session.sessionFile).toBe(first);
    expect(readFileSync(first, "utf8")).toMatch(/"built".*"second"/s);
    await session.dispose();
  });

  it("does not close the record when its result arrives on the way back", async () => {
    const waiting = gate();
    const { session, first, bash, end } = await open([{ type: "start" }, waiting.wait]);
    await session.newSession();
    const run = session.prompt("meanwhile");
    await waiting.reached;
    const switching = session.switchSession(first);
    end("built");
    await Promise.all([bash, switching, run]);
    expect(roles(session)).toEqual(["user", "assistant", "bashExecution"]);
    await session.prompt("second");
    expect(readFileSync(first, "utf8")).toMatch(/"built".*"second"/s);
    await session.dispose();
  });

  it("does not wait for a run of the session that came after", async () => {
    const waiting = gate();
    const { session, first, bash, end } = await open([{ type: "start" }, waiting.wait]);
    await session.newSession();
    const run = session.prompt("meanwhile");
    await waiting.reached;
    end("built");
    await bash;
    while (!(await isFree(first))) await new Promise(setImmediate);
    expect(readFileSync(first, "utf8")).toContain('"output":"built"');
    expect(session.isStreaming).toBe(true);
    await session.abort();
    await run;
    await session.dispose();
  });

  it("keeps its place also when it had to wait for another one", async () => {
    const { session, first, bash, started, end } = await open();
    const next = session.executeBash("make test");
    await session.newSession();
    end("built");
    await bash;
    await started();
    end("tested");
    await next;
    await session.dispose();
    expect(readFileSync(first, "utf8")).toMatch(/"built".*"tested"/s);
    expect(session.messages).toEqual([]);
  });

  it("that ended right before has let go of its file when the session has ended", async () => {
    const { session, first, bash, end } = await open();
    await session.newSession();
    end("built");
    await bash;
    await session.dispose();
    expect(await isFree(first)).toBe(true);
  });

  it("leaves nothing open behind the end of the session", async () => {
    const { session, first, bash, end } = await open();
    await session.newSession();
    await session.dispose();
    expect(await isFree(first)).toBe(true);
    end("too late");
    await bash;
  });
});

it("a detached record stays open while it is in use, and each use ends once", async () => {
  const record = createRecord({ cwd: "/project", agentDir: folder });
  record.appendMessage({ role: "user", content: "x", timestamp: 1 });
  const path = record.sessionFile as string;
  const left = new DetachedSessions(silentLog);
  const [command, wayBack] = [left.use(record), left.use(record)];
  await left.leave(record);
  command();
  command();
  expect(left.at(path)).toBe(record);
  expect(await isFree(path)).toBe(false);
  left.reenter(record);
  wayBack();
  expect(await isFree(path)).toBe(false);
  await left.leave(record);
  expect(await isFree(path)).toBe(true);
});

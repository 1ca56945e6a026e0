import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { AgentMessage } from "../../../src/protocol/messages.js";
import { continueRecent, createRecord, openRecord } from "../../../src/record/open-record.js";
import type { SessionRecord } from "../../../src/record/record.js";
import { header, heardLog, linesOf, readFile, userEntry } from "../../../src/record/store/store.test-kit.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

/** A plain file where the directory of all sessions should be: no path below it can even be looked at. */
function setUp() {
  const home = temporaryDirectory();
  const log = heardLog();
  const options = { cwd: join(home, "app"), agentDir: join(home, "agent"), home, log };
  const sessions = join(home, "agent", "sessions");
  mkdirSync(join(home, "agent"));
  const close = (record: SessionRecord) => {
    onTestFinished(() => record.close());
    return record;
  };
  return {
    options,
    log,
    home,
    breakIt() {
      rmSync(sessions, { recursive: true, force: true });
      writeFileSync(sessions, "");
    },
    mendIt: () => rmSync(sessions),
    close,
  };
}

async function expectSaved(record: SessionRecord): Promise<void> {
  await record.flush();
  expect(record.persistError).toBeUndefined();
  expect(readFile(record.sessionFile ?? "").entries).toEqual(record.tree.entries);
}

it("a session begins all the same, and is saved once there is a place for it", async () => {
  const { options, close, breakIt, mendIt } = setUp();
  breakIt();
  const record = close(createRecord(options));
  record.appendMessage(said("a"));
  await record.flush();
  expect(record.persistError).toMatch(/ENOTDIR|EEXIST/);
  mendIt();
  record.appendMessage(said("b"));
  await expectSaved(record);
});

it("a session whose file is lost with it goes on in memory, and misses nothing afterwards", async () => {
  const { options, close, breakIt, mendIt } = setUp();
  const record = close(createRecord(options));
  record.appendMessage(said("a"));
  await record.flush();
  breakIt();
  record.appendMessage(said("b"));
  await record.flush();
  expect(record.persistError).toMatch(/ENOTDIR|EEXIST/);
  mendIt();
  record.appendMessage(said("c"));
  await expectSaved(record);
  expect(record.tree.entries).toHaveLength(3);
});

it("a session that is only read moves on in memory, too", async () => {
  const { options, close, breakIt, mendIt, home } = setUp();
  const newer = join(home, "newer.jsonl");
  writeFileSync(newer, linesOf({ ...header, version: 4 }, userEntry("u1", null)));
  const record = close(await openRecord(newer, options));
  breakIt();
  record.appendMessage(said("b"));
  await record.flush();
  expect(record.persistError).toMatch(/ENOTDIR|EEXIST/);
  mendIt();
  record.appendMessage(said("c"));
  await expectSaved(record);
  expect(record.tree.entries).toHaveLength(3);
});

it("nothing can be continued then, and a new session begins", async () => {
  const { options, close, log } = setUp();
  symlinkSync("sessions", join(options.agentDir, "sessions")); // it leads to itself: looking into it fails
  const record = close(await continueRecent(options));
  expect(log.heard).toEqual([expect.stringMatching(/^cannot look for sessions to continue: ELOOP/)]);
  expect(record.tree.entries).toEqual([]);
});

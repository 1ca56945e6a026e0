import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import type { AgentMessage } from "../protocol/messages.js";
import { createRecord } from "../record/open-record.js";
import type { SessionRecord } from "../record/record.js";
import { chooseRecord, type Resume } from "./choose-record.js";

const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

/** A session of `app` with an output and an image beside it. */
async function setUp() {
  const home = temporaryDirectory();
  for (const name of ["app", "other"]) mkdirSync(join(home, name));
  const placeOf = (name: string) => ({ cwd: join(home, name), agentDir: join(home, "agent"), home });
  const stored = createRecord(placeOf("app"));
  const imageName = await stored.blobs.put(Buffer.from("an image"));
  await stored.artifacts.save("bash", "a long output");
  stored.appendMessage(said("hello"));
  await stored.close();
  const snapshot = () =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => `${path} ${readFileSync(path, "utf8")}`)
      .sort();
  const open = async (name: string, resume: Resume, persist: boolean) => {
    const { record } = await chooseRecord(placeOf(name), { persist, resume });
    onTestFinished(() => record.close());
    return record;
  };
  return { stored, imageName, snapshot, open };
}

it.each([
  ["continued", (): Resume => ({ kind: "continue" })],
  ["named by its path", (stored: SessionRecord): Resume => ({ kind: "open", target: stored.sessionFile ?? "" })],
  [
    "named by its file",
    (stored: SessionRecord): Resume => ({ kind: "open", target: basename(stored.sessionFile ?? "") }),
  ],
  ["named by its id", (stored: SessionRecord): Resume => ({ kind: "open", target: stored.sessionId })],
])("in memory a session that is %s goes on as a copy, and nothing is written", async (_how, resume) => {
  const { stored, imageName, snapshot, open } = await setUp();
  const before = snapshot();
  const record = await open("app", resume(stored), false);
  expect(record.sessionFile).toBeUndefined();
  expect(record.header).toMatchObject({ parentSession: stored.sessionFile, parentSessionId: stored.sessionId });
  expect(record.context.messages).toEqual([said("hello")]);
  record.appendMessage(said("more"));
  await record.sync();
  expect(await record.artifacts.read("1")).toBe("a long output");
  expect(await record.artifacts.save("bash", "another")).toBe("2");
  expect(await record.artifacts.read("2")).toBe("another");
  expect(await record.blobs.get(imageName)).toEqual(Buffer.from("an image"));
  await record.blobs.put(Buffer.from("another image"));
  expect(snapshot()).toEqual(before);
});

it("a session of another project is copied, and not opened", async () => {
  const { stored, open } = await setUp();
  await expect(open("other", { kind: "open", target: stored.sessionId }, true)).rejects.toThrow(
    `Session "${stored.sessionId}" is in another project (${stored.cwd}).`,
  );
  const fork = await open("other", { kind: "fork", target: stored.sessionId }, true);
  expect(fork.context.messages).toEqual([said("hello")]);
  expect(fork.cwd).toMatch(/other$/);
  expect(fork.header.parentSession).toBe(stored.sessionFile);
});

it("a session that is opened from another project leaves its copies with its own", async () => {
  const { stored, open } = await setUp();
  const opened = await open("other", { kind: "open", target: stored.sessionFile ?? "" }, true);
  const copy = await opened.copy();
  onTestFinished(() => copy.close());
  expect(dirname(copy.sessionFile ?? "")).toBe(dirname(stored.sessionFile ?? ""));
  expect((await open("app", { kind: "continue" }, false)).header.parentSessionId).toBe(copy.sessionId);
});

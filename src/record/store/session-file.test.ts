import { promises as fs, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { createRecord, openRecord } from "../open-record.js";
import { cutNotice, imageUnavailable } from "../stored-form.js";
import { header, heardLog, linesOf, readFile } from "./store.test-kit.js";

type Content = (AgentMessage & { role: "user" })["content"];

const longText = `${"x".repeat(700_000)}END`;
const largeImage = {
  type: "image" as const,
  data: Buffer.alloc(2_000_000, 7).toString("base64"),
  mimeType: "image/png",
};

/** A session with a file, on a disk that may have no room for what goes beside it. */
async function setUp() {
  const folder = temporaryDirectory();
  const log = heardLog();
  const record = createRecord({ cwd: "/project", agentDir: folder, directory: folder, log });
  onTestFinished(() => record.close());
  const say = async (content: Content) => {
    record.appendMessage({ role: "user", content, timestamp: 1 });
    await record.flush();
  };
  await say("begin");
  const path = record.sessionFile ?? "";
  const fill = (code: string, isFull: (path: string) => boolean = () => true) => {
    const { writeFile } = fs;
    const writing = vi.spyOn(fs, "writeFile").mockImplementation(async (target, ...rest) => {
      if (!isFull(String(target))) return writeFile(target, ...rest);
      throw Object.assign(new Error(`${code}: no room`), { code });
    });
    onTestFinished(() => writing.mockRestore());
    return () => writing.mockRestore();
  };
  return { record, log, path, artifacts: path.replace(/\.jsonl$/, ""), say, fill };
}

it("a text whose artifact finds no room waits for it, and so does everything after it (S-11)", async () => {
  const { record, log, path, artifacts, say, fill } = await setUp();
  const makeRoom = fill("ENOSPC");
  await say(longText);
  await say("after");
  expect(record.persistError).toBe("ENOSPC: no room");
  expect(readFile(path).entries).toHaveLength(1);
  makeRoom();
  await say("last");
  expect(record.persistError).toBeUndefined();
  const { entries } = readFile(path);
  expect(entries).toHaveLength(4);
  expect(entries[1]).toMatchObject({ artifactId: expect.any(String) });
  const [name = ""] = await fs.readdir(artifacts);
  expect(readFileSync(join(artifacts, name), "utf8")).toBe(longText);
  expect(log.heard).toHaveLength(1);
});

it("an image too large for a line waits for room, too", async () => {
  const { record, path, artifacts, say, fill } = await setUp();
  const makeRoom = fill("EDQUOT", (target) => target.includes("blobs")); // a disk of its own
  await say([largeImage]);
  expect(record.persistError).toContain("EDQUOT");
  makeRoom();
  await record.flush();
  expect(readFile(path).entries[1]).toMatchObject({ message: { content: [{ type: "image" }] } });
  expect(await fs.readdir(artifacts)).toEqual(["blobs"]);
});

it("what was put aside by an attempt that failed is not put there again", async () => {
  const { path, artifacts, say, fill } = await setUp();
  const other = "y".repeat(600_000);
  const makeRoom = fill("ENOSPC", (target) => /\/\.2\./.test(target));
  await say([
    { type: "text", text: longText },
    { type: "text", text: other },
  ]);
  makeRoom();
  await say("last");
  expect(readFile(path).entries).toHaveLength(3);
  const kept = (await fs.readdir(artifacts)).map((name) => readFileSync(join(artifacts, name), "utf8").length);
  expect(kept.sort()).toEqual([other.length, longText.length].sort());
});

it("at the end the line goes without what found no room: the rest must not be lost with it", async () => {
  const { record, log, path, say, fill } = await setUp();
  fill("ENOSPC");
  await say(longText);
  await say([largeImage]);
  await say("after");
  await record.close();
  const [, text, image, after] = readFile(path).entries;
  expect(JSON.stringify(text)).toContain(cutNotice);
  expect(JSON.stringify(image)).toContain(imageUnavailable);
  expect(after).toMatchObject({ message: { content: "after" } });
  expect(log.heard.join("\n")).toContain("a long text was not saved separately: ENOSPC");
  expect(log.heard.join("\n")).not.toContain("lost");
});

it("a place that will never take it costs the text, not the session", async () => {
  const { record, log, path, artifacts, say } = await setUp();
  writeFileSync(artifacts, "a file where the directory should be");
  await say(longText);
  await say("after");
  expect(record.persistError).toBeUndefined();
  expect(readFile(path).entries).toHaveLength(3);
  expect(log.heard.join("\n")).toContain("a long text was not saved separately");
});

it("an older file that is put into today's form keeps what other programs wrote to the digit", async () => {
  const path = join(temporaryDirectory(), "old.jsonl");
  const theirs =
    '{"type":"custom","id":"c1","parentId":null,"timestamp":1760000000000,"customType":"x","data":{"n":1234567890123456789}}';
  writeFileSync(path, `${linesOf({ ...header, version: 2 })}${theirs}\n`);
  const record = await openRecord(path, { cwd: "/project", agentDir: temporaryDirectory(), log: heardLog() });
  record.appendMessage({ role: "user", content: "go on", timestamp: 1 });
  await record.close();
  expect(readFileSync(path, "utf8").split("\n")[1]).toBe(theirs);
  expect(readFile(path)).toMatchObject({ version: 3, problemCount: 0 });
});

// Files as other programs write them: they open, nothing of theirs is lost, and they go on.

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { countedIds } from "../../../src/base/ids.js";
import type { AgentMessage } from "../../../src/protocol/messages.js";
import { forkRecord, openRecord } from "../../../src/record/open-record.js";
import type { SessionRecord } from "../../../src/record/record.js";
import type { RecordOptions } from "../../../src/record/record-options.js";
import { resolveImages } from "../../../src/record/store/blobs.js";
import { readFile } from "../../../src/record/store/store.test-kit.js";
import { manualClock } from "../../../src/testing/manual-clock.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const fixtures = fileURLToPath(new URL("../../fixtures/sessions/", import.meta.url));
const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

function setUp(name: string) {
  const home = temporaryDirectory();
  const path = join(home, name);
  copyFileSync(join(fixtures, name), path);
  const options: RecordOptions = {
    cwd: join(home, "here"),
    agentDir: join(home, "agent"),
    home,
    clock: manualClock(),
    ids: countedIds(),
  };
  const open = async () => {
    const record = await openRecord(path, options);
    onTestFinished(() => record.close());
    return record;
  };
  return { path, options, open, original: readFileSync(path, "utf8") };
}

const roles = (record: SessionRecord) => record.context.messages.map(({ role }) => role);

it("version 1: a plain list, with what a compaction keeps told by line", async () => {
  const { open, path, original } = setUp("pi-version-1.jsonl");
  const record = await open();
  expect(record.warnings.filter((text) => !text.includes("accessible to other users"))).toEqual([]);
  expect(roles(record)).toEqual(["compactionSummary", "user", "bashExecution"]);
  expect(record.context.messages[1]).toEqual({ ...said("Make it stream."), timestamp: 1763629270000 });
  expect(record.context).toMatchObject({ thinkingLevel: "high", warnings: [] });
  expect(record.context.models.get("default")).toBe("openai/model-two");
  expect(readFileSync(path, "utf8")).toBe(original);
  // What was paid is on record, although an older usage has no total.
  expect(record.tree.entries[1]).toMatchObject({ message: { usage: { cost: { total: 0.00288 } } } });

  record.appendMessage(said("Go on."));
  const { messages } = record.context;
  await record.close();
  expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(original);
  const again = await open();
  expect(again.context.messages).toEqual(messages);
  expect(again.header).toMatchObject({ version: 3, provider: "anthropic", cwd: "/home/dev/app" });
  expect(again.tree.entries.find(({ type }) => (type as string) === "shell_marker")).toMatchObject({
    note: "kept as it is",
  });
});

it("version 2: hook messages, and unknown entries to the byte", async () => {
  const { open, path, original } = setUp("omp-version-2.jsonl");
  const record = await open();
  expect(roles(record)).toEqual(["user", "custom", "assistant", "toolResult"]);
  record.appendMessage(said("Go on."));
  await record.close();
  const foreign = original.split("\n")[4] ?? "";
  expect(foreign).toContain("90071992547409931");
  expect(readFileSync(path, "utf8").split("\n")).toContain(foreign);
  expect(readFileSync(`${path}.v2.bak`, "utf8")).toBe(original);
  expect(readFile(path)).toMatchObject({ version: 3, problemCount: 0 });
  expect(roles(await open())).toEqual(["user", "custom", "assistant", "toolResult", "user"]);
});

describe("version 3", () => {
  it("labels and names inside the chain, two spellings, a parent by path", async () => {
    const { open, original, path } = setUp("pi-version-3.jsonl");
    const record = await open();
    expect(record.tree).toMatchObject({ name: "Stream parser", nameSource: "user", leafId: "11aa22ba" });
    expect([...record.tree.labels]).toEqual([["11aa22b3", "start"]]);
    expect(roles(record)).toEqual(["user", "branchSummary", "custom", "user"]);
    expect(record.tree.userMessages().map(({ text, onPath }) => [text, onPath])).toEqual([
      ["Start here.", true],
      ["A first way.", false],
      ["A second way.", true],
    ]);
    record.appendMessage(said("Go on."));
    await record.close();
    expect(readFileSync(path, "utf8").startsWith(original)).toBe(true);
  });

  it("a title in the header, an id as parent, state of all kinds, an image that is gone", async () => {
    const { open } = setUp("xcsh-version-3.jsonl");
    const record = await open();
    expect(record.header).toMatchObject({ id: "198f2ab4c6d8e0f1", parentSession: "198f2ab4c6d80000" });
    expect(record.tree).toMatchObject({ name: "Tidy the gateway", nameSource: "auto" });
    expect(record.context.mode).toEqual({ name: "plan", data: { file: "plan.md" } });
    expect([...record.context.injectedRules]).toEqual(["no-any"]);
    expect(record.context.models.get("default")).toBe("anthropic/model-five");
    const [message] = record.context.messages;
    expect(message && (await resolveImages(message, record.blobs))).toMatchObject({
      content: [
        { type: "text", text: "Tidy it." },
        { type: "text", text: "[image unavailable]" },
      ],
    });
    record.setName("auto again", "auto");
    expect(record.tree.name).toBe("auto again");
  });

  it.each([
    ["pi-version-3.jsonl", 9],
    ["xcsh-version-3.jsonl", 8],
  ])("%s is copied with foreign entries to the byte", async (name, line) => {
    const { path, options, original } = setUp(name);
    const fork = await forkRecord(path, options);
    onTestFinished(() => fork.close());
    const lines = readFileSync(fork.sessionFile ?? "", "utf8").split("\n");
    expect(lines[line]).toBe(original.split("\n")[line]);
    expect(fork.header).toMatchObject({ parentSession: path });
    const copy = readFile(fork.sessionFile ?? "");
    expect(copy.entries).toEqual(readFile(path).entries);
    expect(copy.problemCount).toBe(0);
    if (name.startsWith("xcsh"))
      expect(copy.header).toMatchObject({ title: "Tidy the gateway", build: { channel: "beta" } });
  });
});

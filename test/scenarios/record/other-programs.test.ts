// Files as other programs write them: they open, nothing of theirs is lost, and they go on.

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { countedIds } from "../../../src/base/ids.js";
import type { AgentMessage } from "../../../src/protocol/messages.js";
import { SessionManager, type SessionManagerOptions } from "../../../src/record/record.js";
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
  const options: SessionManagerOptions = {
    cwd: join(home, "here"),
    agentDir: join(home, "agent"),
    home,
    clock: manualClock(),
    ids: countedIds(),
  };
  const open = async () => {
    const manager = await SessionManager.open(path, options);
    onTestFinished(() => manager.close());
    return manager;
  };
  return { path, options, open, original: readFileSync(path, "utf8") };
}

const roles = (manager: SessionManager) => manager.context.messages.map(({ role }) => role);

it("version 1: a plain list, with what a compaction keeps told by line", async () => {
  const { open, path, original } = setUp("pi-version-1.jsonl");
  const manager = await open();
  expect(manager.warnings.filter((text) => !text.includes("open to other users"))).toEqual([]);
  expect(roles(manager)).toEqual(["compactionSummary", "user", "bashExecution"]);
  expect(manager.context.messages[1]).toEqual({ ...said("Make it stream."), timestamp: 1763629270000 });
  expect(manager.context).toMatchObject({ thinkingLevel: "high", warnings: [] });
  expect(manager.context.models.get("default")).toBe("openai/model-two");
  expect(readFileSync(path, "utf8")).toBe(original);
  // What was paid is on record, although an older usage has no total.
  expect(manager.tree.entries[1]).toMatchObject({ message: { usage: { cost: { total: 0.00288 } } } });

  manager.appendMessage(said("Go on."));
  const { messages } = manager.context;
  await manager.close();
  expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(original);
  const again = await open();
  expect(again.context.messages).toEqual(messages);
  expect(again.header).toMatchObject({ version: 3, provider: "anthropic", cwd: "/home/dev/app" });
  expect(again.tree.entries.find(({ type }) => (type as string) === "shell_marker")).toMatchObject({
    note: "kept as it is",
  });
});

it("version 2: hook messages, and entries nobody knows to the byte", async () => {
  const { open, path, original } = setUp("omp-version-2.jsonl");
  const manager = await open();
  expect(roles(manager)).toEqual(["user", "custom", "assistant", "toolResult"]);
  manager.appendMessage(said("Go on."));
  await manager.close();
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
    const manager = await open();
    expect(manager.tree).toMatchObject({ name: "Stream parser", nameSource: "user", leafId: "11aa22ba" });
    expect([...manager.tree.labels]).toEqual([["11aa22b3", "start"]]);
    expect(roles(manager)).toEqual(["user", "branchSummary", "custom", "user"]);
    expect(manager.tree.userMessages().map(({ text, onPath }) => [text, onPath])).toEqual([
      ["Start here.", true],
      ["A first way.", false],
      ["A second way.", true],
    ]);
    manager.appendMessage(said("Go on."));
    await manager.close();
    expect(readFileSync(path, "utf8").startsWith(original)).toBe(true);
  });

  it("a title in the header, an id as parent, state of all kinds, an image that is gone", async () => {
    const { open } = setUp("xcsh-version-3.jsonl");
    const manager = await open();
    expect(manager.header).toMatchObject({ id: "198f2ab4c6d8e0f1", parentSession: "198f2ab4c6d80000" });
    expect(manager.tree).toMatchObject({ name: "Tidy the gateway", nameSource: "auto" });
    expect(manager.context.mode).toEqual({ name: "plan", data: { file: "plan.md" } });
    expect([...manager.context.injectedRules]).toEqual(["no-any"]);
    expect(manager.context.models.get("default")).toBe("anthropic/model-five");
    const [message] = manager.context.messages;
    expect(message && (await resolveImages(message, manager.blobs))).toMatchObject({
      content: [
        { type: "text", text: "Tidy it." },
        { type: "text", text: "[image unavailable]" },
      ],
    });
    manager.setName("auto again", "auto");
    expect(manager.tree.name).toBe("auto again");
  });

  it.each([
    ["pi-version-3.jsonl", 9],
    ["xcsh-version-3.jsonl", 8],
  ])("%s is copied with foreign entries to the byte", async (name, line) => {
    const { path, options, original } = setUp(name);
    const fork = await SessionManager.forkFrom(path, options);
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

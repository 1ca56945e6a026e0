// What is in memory is what a reload gives: after every kind of run the file is opened again and its context compared.

import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.js";
import { Settings } from "../../src/config/settings/settings.js";
import { openRecord } from "../../src/record/open-record.js";
import { parseRule } from "../../src/session/rules/rule.js";
import { type OpenSession, openSession } from "../../src/testing/open-session.js";
import { call, calls, fail, gate, type ScriptStep, say, textBlock } from "../../src/testing/scripted-model.js";
import { type AnyTool, textResult } from "../../src/tools/tool.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const overrides = new Map<"compaction.thresholdTokens" | "compaction.keepRecentTokens", number>([
  ["compaction.thresholdTokens", 12_000],
  ["compaction.keepRecentTokens", 3200],
]);
const open = (model: ScriptStep[], tools: AnyTool[] = []) =>
  openSession({
    model,
    tools,
    session: { persist: true, sessionDir: folder, agentDir: folder, settings: new Settings({ overrides }) },
  });

async function expectEqual({ session }: OpenSession): Promise<void> {
  await session.waitForIdle();
  const live = structuredClone(session.messages);
  const path = session.sessionFile as string;
  await session.dispose();
  const reopened = await openRecord(path, { cwd: "/project", agentDir: folder });
  expect(reopened.warnings).toEqual([]);
  expect(reopened.context.messages).toEqual(live);
  await reopened.close();
}

const work: AnyTool = {
  name: "work",
  label: "Work",
  description: "works",
  parameters: { type: "object" },
  execute: async () => textResult("done", { rows: [1, { deep: true }] }),
};

describe("memory equals disk", () => {
  it("after an answer with tools, steering and a follow-up", async () => {
    const steered: OpenSession = await open(
      [
        [() => steered.session.steer("and b"), ...call("work", {})],
        [() => steered.session.followUp("then c"), ...say("ok")],
        say("all"),
        say("done \u2028 \ud83d\ude42"),
      ],
      [work],
    );
    await steered.session.prompt("a", { images: [{ type: "image", data: "aWk=".repeat(500), mimeType: "image/png" }] });
    await expectEqual(steered);
  });

  it("after an abort in the middle of a reply with a tool call", async () => {
    const stalled = gate();
    const step: ScriptStep = [
      { type: "start" },
      ...textBlock(0, ["I w"]),
      ...calls({ name: "work", args: {}, id: "c" })
        .slice(1, 3)
        .map((event) => ({ ...event, contentIndex: 1 }) as typeof event),
      stalled.wait,
    ];
    const opened = await open([step], [work]);
    const running = opened.session.prompt("go");
    await stalled.reached;
    await opened.session.abort();
    await running;
    await expectEqual(opened);
  });

  it("after a retried error", async () => {
    const opened = await open([fail("reset", { failure: { kind: "network" } }), say("ok")]);
    const running = opened.session.prompt("go");
    await expect.poll(() => opened.events.at(-1)?.type).toBe("auto_retry_start");
    opened.clock.advance(2000);
    await running;
    await expectEqual(opened);
  });

  it("after another model was chosen while a retry waits", async () => {
    const opened = await open([fail("reset", { failure: { kind: "network" } }), say("ok")]);
    await opened.session.newSession(); // which records the model it begins with
    const running = opened.session.prompt("go");
    await expect.poll(() => opened.events.at(-1)?.type).toBe("auto_retry_start");
    opened.session.setModel("galley", "planner");
    opened.clock.advance(2000);
    await running;
    const path = opened.session.sessionFile as string;
    await expectEqual(opened);
    const reopened = await openRecord(path, { cwd: "/project", agentDir: folder });
    expect(reopened.context.models.get("default")).toBe("galley/planner");
    await reopened.close();
  });

  it("after an overflow, a threshold compaction and a compaction by command", async () => {
    const opened = await open([
      say("x".repeat(40_000)),
      fail("prompt is too long", { failure: { kind: "overflow" } }),
      say("first summary"),
      say("y".repeat(30_000)),
      say("z".repeat(30_000)),
      say("second summary"),
      say("third summary, maybe in two parts"),
      say("done"),
      say("one more"),
    ]);
    await opened.session.prompt("one");
    await opened.session.prompt("two");
    await opened.session.prompt("three ".repeat(400));
    await opened.session.compact().catch(() => {}); // refused or not, memory and file agree
    expect(opened.session.messages[0]?.role).toBe("compactionSummary");
    await expectEqual(opened);
  });

  it("after a model change, a new session and a branch", async () => {
    const opened = await open([say("one"), say("two")]);
    await opened.session.prompt("first");
    opened.session.setSessionName("a name");
    await opened.session.prompt("second");
    opened.session.setModel("galley", "planner");
    const [, second] = opened.session.getUserMessagesForBranching();
    await opened.session.branch(second?.entryId ?? "");
    expect(opened.session.messages).toHaveLength(2);
    expect(opened.session.sessionName).toBe("a name");
    await expectEqual(opened);
  });

  it("after going back in the tree, and after a fork", async () => {
    const opened = await open([say("one"), say("two"), say("three")]);
    await opened.session.prompt("first");
    await opened.session.prompt("second");
    const original = opened.session.sessionFile;
    const [, second] = opened.session.getUserMessagesForBranching();
    expect(await opened.session.navigateTree(second?.entryId ?? "")).toEqual({
      editorText: "second",
      cancelled: false,
    });
    expect(opened.session.messages).toHaveLength(2);
    opened.session.setLabel(second?.entryId ?? "", "a bookmark");
    expect(opened.session.messages).toHaveLength(2); // a label does not move anything
    await opened.session.prompt("instead");
    expect(opened.session.getUserMessagesForBranching().map(({ onPath }) => onPath)).toEqual([true, false, true]);
    expect(await opened.session.fork()).toBe(true);
    expect(opened.session.sessionFile).not.toBe(original);
    await expect(opened.session.navigateTree("nope")).rejects.toThrow("Entry nope not found");
    await expectEqual(opened);
  });

  it("after a stream rule and a todo reminder", async () => {
    const file = { path: "/rules/no-any.md", text: "---\ncondition: ': any'\nscope: text\n---\nDo not use any." };
    const parsed = await parseRule(file, silentLog);
    const rules = parsed?.kind === "stream" ? [parsed.rule] : [];
    const opened = await openSession({
      model: [say("let x: any = 1"), say("let x = 1"), say("done")],
      session: { persist: true, sessionDir: folder, agentDir: folder, loadRules: async () => rules },
    });
    opened.session.setTodoPhases([{ name: "Plan", tasks: [{ content: "test it" }] }]);
    opened.session.subscribe((event) => {
      if (event.type === "todo_reminder") opened.session.setTodoPhases([]);
    });
    await opened.session.prompt("go");
    expect(opened.session.messages.map(({ role }) => role)).toEqual([
      "user",
      "custom",
      "assistant",
      "developer",
      "assistant",
    ]);
    await expectEqual(opened);
  });

  it("an image that went to a blob is an image again for the model", async () => {
    const image = { type: "image", data: Buffer.alloc(3000, 7).toString("base64"), mimeType: "image/png" } as const;
    const first = await open([say("one")]);
    await first.session.prompt("look", { images: [image] });
    const path = first.session.sessionFile as string;
    await first.session.dispose();
    expect(readFileSync(path, "utf8")).toContain("blob:sha256:");
    const second = await open([say("two")]);
    await second.session.switchSession(path);
    await second.session.prompt("again");
    expect(second.model.requests[0]?.context.messages[0]).toMatchObject({ content: [{ type: "text" }, image] });
  });
});

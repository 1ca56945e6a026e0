// What a host is told after `switch_session`: the file is read by then, and what is damaged in it was reported.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { logTo } from "../../../src/base/log.js";
import type { AgentMessage } from "../../../src/protocol/messages.js";
import { createRecord } from "../../../src/record/open-record.js";
import { serveRpc } from "../../../src/rpc/server.js";
import { openSession } from "../../../src/testing/open-session.js";
import { say } from "../../../src/testing/scripted-model.js";
import { FakeOutput, tick } from "../../kit/outbox-rig.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

async function setUp({ texts = ["one", "two"], damage = "" } = {}) {
  const home = temporaryDirectory();
  const places = { cwd: home, agentDir: join(home, "agent") };
  const record = createRecord(places, {}, join(home, "a.jsonl"));
  for (const text of texts) record.appendMessage(user(text));
  record.append({ type: "thinking_level_change", thinkingLevel: "high" });
  record.setName("A name");
  await record.flush();
  await record.close();
  const path = join(home, "a.jsonl");
  if (damage) writeFileSync(path, readFileSync(path, "utf8").replace("\n", `\n${damage}\n`));
  const logged: string[] = [];
  const log = logTo((line) => void logged.push(line));
  const opened = await openSession({ model: [say("Yes.")], session: { ...places, log, persist: true } });
  const input = new PassThrough();
  const output = new FakeOutput();
  const { clock, session } = opened;
  const server = serveRpc({ input, output, session: Promise.resolve(session), clock, log });
  onTestFinished(async () => {
    input.end();
    await server.done;
  });
  const ask = async (frame: { type: string; [name: string]: unknown }) => {
    const before = output.frames.length;
    input.write(`${JSON.stringify({ id: "q", ...frame })}\n`);
    for (;;) {
      const answer = output.frames.slice(before).find(({ id }) => id === "q");
      if (answer) return answer as unknown as { success: boolean; data: Record<string, unknown> };
      await tick();
    }
  };
  return { ...opened, ask, path, logged, output };
}

const textsOf = (messages: unknown) =>
  (messages as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text);

describe("after a switch", () => {
  it("the messages are those of the file", async () => {
    const { ask, path, session } = await setUp();
    expect((await ask({ type: "switch_session", sessionPath: path })).data).toEqual({ cancelled: false });
    const { data } = await ask({ type: "get_messages" });
    expect(textsOf(data.messages)).toEqual(["one", "two"]);
    expect(session.messages).toEqual(data.messages);
  });

  it.each([
    ["get_state", { sessionName: "A name", messageCount: 2 }],
    ["get_branch_messages", { messages: [expect.anything(), expect.anything()] }],
    ["get_session_stats", { userMessages: 2 }],
  ])("%s knows all of it", async (type, data) => {
    const { ask, path } = await setUp();
    await ask({ type: "switch_session", sessionPath: path });
    expect((await ask({ type })).data).toMatchObject(data);
  });

  it.each(['{"type":"mess', "{}"])("the damaged line %s was reported before the answer", async (damage) => {
    const { ask, path, logged } = await setUp({ damage });
    await ask({ type: "switch_session", sessionPath: path });
    expect(logged.join()).toContain("damaged lines were skipped (line 2)");
    expect(textsOf((await ask({ type: "get_messages" })).data.messages)).toEqual(["one", "two"]);
  });

  it("a prompt goes on where the conversation was", async () => {
    const { ask, path, model } = await setUp();
    await ask({ type: "switch_session", sessionPath: path });
    await ask({ type: "get_messages" });
    await ask({ type: "prompt", message: "three" });
    await ask({ type: "abort" });
    const asked = model.requests[0]?.context.messages.filter(({ role }) => role === "user");
    expect(textsOf(asked)).toEqual(["one", "two", "three"]);
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => JSON.parse(line));
    const leaf = lines.find(({ type }) => type === "thinking_level_change").id;
    expect(lines.find(({ message }) => message?.content[0].text === "three").parentId).toBe(leaf);
  });

  it("a second switch, back and forth, leaves both files as they were", async () => {
    const { ask, path, session } = await setUp();
    const before = readFileSync(path);
    for (let round = 0; round < 3; round++) {
      await ask({ type: "switch_session", sessionPath: path });
      await ask({ type: "new_session" });
    }
    expect(session.messages).toEqual([]);
    await ask({ type: "switch_session", sessionPath: path });
    expect(textsOf((await ask({ type: "get_messages" })).data.messages)).toEqual(["one", "two"]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("a long list is cut for hosts that want it so", async () => {
    const { ask, path, output } = await setUp({ texts: Array.from({ length: 40 }, (_, n) => `${n}`.repeat(30_000)) });
    await ask({ type: "negotiate_protocol", protocolVersion: 2 });
    await ask({ type: "switch_session", sessionPath: path });
    const before = output.frames.length;
    void ask({ type: "get_messages" });
    while (output.frames.length < before + 2) await tick();
    const chunks = output.frames.slice(before) as unknown as { type: string; data: string }[];
    expect(chunks.every(({ type }) => type === "rpc_chunk")).toBe(true);
    const whole = Buffer.concat(chunks.map(({ data }) => Buffer.from(data, "base64"))).toString();
    expect(JSON.parse(whole)).toMatchObject({ id: "q", command: "get_messages", success: true });
  });
});

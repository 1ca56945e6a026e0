// When what was said is safe from a power cut (S-5): a disk that notes what it has made safe, asked at the moments that
// count.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { countedIds } from "../../src/base/ids.js";
import { createRecord } from "../../src/record/open-record.js";
import { nodeDisk, type SessionDisk } from "../../src/record/store/session-disk.js";
import { openSession } from "../../src/testing/open-session.js";
import { call, gate, type ScriptStep, say } from "../../src/testing/scripted-model.js";
import { type AnyTool, textResult } from "../../src/tools/tool.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

async function setUp(model: ScriptStep[], makeTools: (safe: () => string) => AnyTool[] = () => []) {
  const folder = temporaryDirectory();
  let safeBytes = 0;
  let syncs = 0;
  const disk: SessionDisk = {
    ...nodeDisk,
    async sync(file) {
      const { bytes } = nodeDisk.status(file);
      await nodeDisk.sync(file);
      syncs++;
      safeBytes = Math.max(safeBytes, bytes);
    },
  };
  const options = { cwd: "/project", agentDir: folder, directory: folder, ids: countedIds(), disk };
  const sessionManager = createRecord(options);
  /** What would be left of the file. */
  const safe = () =>
    safeBytes === 0 ? "" : readFileSync(sessionManager.sessionFile ?? "").toString("utf8", 0, safeBytes);
  const open = await openSession({ model, tools: makeTools(safe), session: { sessionManager } });
  return { ...open, safe, syncs: () => syncs };
}

const tool = (name: string, more: Partial<AnyTool>): AnyTool => ({
  name,
  label: name,
  description: name,
  parameters: { type: "object" },
  execute: async () => textResult("done"),
  ...more,
});

it("a prompt is safe before its host hears that it was accepted, and before any event", async () => {
  const { session, safe } = await setUp([say("hello")]);
  const seen: string[] = [];
  session.subscribe(({ type }) => void seen.push(type));
  await session.prompt("remember me", {
    onAccepted: () => {
      expect(safe()).toContain("remember me");
      expect(seen).toEqual([]);
    },
  });
  expect(seen[0]).toBe("agent_start");
  expect.assertions(3);
});

it.each(["write", "exec"] as const)(
  "the reply that asks for a change is safe before a tool of tier %s",
  async (tier) => {
    let before = "";
    const { session, safe } = await setUp([call("change", { mark: "this very call" }), say("ok")], (safeNow) => [
      tool("change", {
        approval: tier,
        execute: async () => {
          before = safeNow();
          return textResult("changed it");
        },
      }),
    ]);
    await session.prompt("go");
    expect(before).toContain("this very call");
    expect(safe()).toContain("changed it");
  },
);

it("a result is made safe while the run goes on, and everything at its end", async () => {
  const stalled = gate();
  const { session, safe } = await setUp([call("look", {}), [stalled.wait, ...say("the end")]], () => [
    tool("look", { approval: "read", execute: async () => textResult("seen it") }),
  ]);
  const running = session.prompt("go");
  await stalled.reached;
  await expect.poll(safe).toContain("seen it");
  stalled.open();
  await running;
  expect(safe()).toContain("the end");
});

it("what is said outside of a run is safe after a second, or at the end of the program", async () => {
  const { session, safe, syncs } = await setUp([say("hello")]);
  await session.prompt("go");
  const before = syncs();
  session.setSessionName("a name");
  expect([safe().includes("a name"), syncs()]).toEqual([false, before]);
  await session.dispose();
  expect(safe()).toContain("a name");
});

// The question whether a session may begin at a place outside of the project: an abort calls it off, and what it asked
// about does not happen.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { gate } from "../../../src/testing/scripted-model.js";
import { serveInProcess } from "../../kit/rpc-in-process.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let base = "";
beforeEach(() => {
  base = temporaryDirectory();
  for (const name of ["project", "agent", "elsewhere"]) mkdirSync(join(base, name));
});

it.each([true, false])("an abort calls it off (during a run: %s)", async (isRunning) => {
  const waiting = gate();
  const sessionPath = join(base, "elsewhere", "new.jsonl");
  const host = await serveInProcess({
    hasUI: true,
    onDisk: true, // the workspace in memory asks no user
    model: isRunning ? [[{ type: "start" }, waiting.wait]] : [],
    session: { cwd: join(base, "project"), agentDir: join(base, "agent"), persist: true },
  });
  const before = host.open.session.sessionFile;
  const send = (frame: object) => host.send(JSON.stringify(frame));
  const until = async (matches: (frame: Record<string, unknown>) => boolean) => {
    for (;;) {
      const frame = (await host.receive()) as Record<string, unknown>;
      if (matches(frame)) return frame;
    }
  };
  if (isRunning) {
    send({ type: "prompt", id: "p", message: "Go" });
    await waiting.reached;
  }
  send({ type: "switch_session", id: "switch", sessionPath });
  const question = await until(({ type }) => type === "extension_ui_request");
  send({ type: "abort", id: "stop" });
  expect(await until(({ type }) => type === "extension_ui_request")).toMatchObject({
    method: "cancel",
    targetId: question.id,
  });
  expect(await until(({ id }) => id === "switch")).toMatchObject({ success: false, error: "Operation aborted" });
  expect(await until(({ id }) => id === "stop")).toMatchObject({ success: true });
  expect(host.open.session.isStreaming).toBe(false);
  expect([host.open.session.sessionFile, existsSync(sessionPath)]).toEqual([before, false]);
  await host.close();
});

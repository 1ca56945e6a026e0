// A disk that takes no plan: what was staged stays pending, the record says that it is not safe, and it is put there as
// soon as the disk lets it.

import { rmSync, writeFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { randomIds } from "../../../src/base/ids.js";
import { artifactDirectory } from "../../../src/record/session-paths.js";
import { createMemoryChangeWriter } from "../../../src/testing/memory-change-writer.js";
import { createMemoryWorkspace } from "../../../src/testing/memory-workspace.js";
import { openSession } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const rename = (path: string, id: string) =>
  call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: [path] }, id);
const host = { by: "host", reason: "go" } as const;

async function open(model: readonly ScriptStep[], sessionFile?: string) {
  const workspace = createMemoryWorkspace({ "a.ts": "old(1);\n", "b.ts": "old(2);\n" });
  const told: string[] = [];
  const note = (text: string) => void told.push(text);
  const opened = await openSession({
    model,
    session: {
      persist: true,
      sessionDir: folder,
      agentDir: folder,
      ids: randomIds,
      workspace,
      changeWriter: createMemoryChangeWriter(workspace),
      log: { warn: note, error: note },
      ...(sessionFile === undefined ? {} : { resume: { kind: "open", target: sessionFile } }),
    },
  });
  return { ...opened, workspace, told };
}

/** Where the plans would be there is a file: nothing can be put beside the record. */
function fillDisk(sessionFile: string): () => void {
  const inTheWay = artifactDirectory(sessionFile);
  writeFileSync(inTheWay, "");
  return () => rmSync(inTheWay);
}

async function pendingAfterRestart(sessionFile: string): Promise<string[]> {
  const { session } = await open([], sessionFile);
  const found = (await session.getPendingActions()).map(({ id, status }) => `${id} ${status}`);
  await session.dispose();
  return found;
}

it("is told, tried again, and forgotten once all of it is safe", async () => {
  const { session, told } = await open([say("Hi."), rename("a.ts", "e1"), say("Later."), say("Bye.")]);
  await session.prompt("hi");
  const file = session.sessionFile as string;
  const makeRoom = fillDisk(file);
  await session.prompt("go");
  expect(session.pendingActionCount).toBe(1);
  expect(session.persistError).toMatch(/EEXIST|ENOTDIR/);
  expect(told.filter((text) => text.includes("could not be put on record"))).toHaveLength(1);
  makeRoom();
  await session.prompt("again");
  expect(session.persistError).toBeUndefined();
  await session.dispose();
  expect(await pendingAfterRestart(file)).toEqual(["pa_1 pending"]);
});

it("is tried a last time when the session ends", async () => {
  const { session } = await open([say("Hi."), rename("a.ts", "e1"), say("Later.")]);
  await session.prompt("hi");
  const file = session.sessionFile as string;
  const makeRoom = fillDisk(file);
  await session.prompt("go");
  makeRoom();
  await session.dispose();
  expect(await pendingAfterRestart(file)).toEqual(["pa_1 pending"]);
});

it("is told as lost when the session ends without any room", async () => {
  const { session, told } = await open([say("Hi."), rename("a.ts", "e1"), say("Later.")]);
  await session.prompt("hi");
  const makeRoom = fillDisk(session.sessionFile as string);
  await session.prompt("go");
  await session.dispose();
  expect(told.filter((text) => text.includes("lost"))).toEqual([expect.stringContaining("pa_1")]);
  makeRoom();
});

it("holds up no other action, and nothing that ended", async () => {
  const model = [say("Hi."), rename("a.ts", "e1"), say("Later."), rename("b.ts", "e2"), say("Later.")];
  const { session, workspace } = await open(model);
  await session.prompt("hi");
  const file = session.sessionFile as string;
  const makeRoom = fillDisk(file);
  await session.prompt("go");
  await session.prompt("go on");
  await session.resolvePendingAction({ ...host, action: "apply", pendingId: "pa_1" });
  expect(workspace.files["a.ts"]).toBe("fresh(1);\n");
  expect(session.persistError).toBeDefined();
  await session.resolvePendingAction({ ...host, action: "discard", pendingId: "pa_2" });
  expect(session.persistError).toBeUndefined(); // nobody needs their plans any more
  makeRoom();
  await session.dispose();
  expect(await pendingAfterRestart(file)).toEqual([]);
});

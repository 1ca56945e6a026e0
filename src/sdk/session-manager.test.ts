import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { SessionManager, type SessionManagerOptions } from "./index.js";

it("keeps the published names: create, open, continueRecent, forkFrom, copyInMemory, inMemory, delete", async () => {
  const home = temporaryDirectory();
  const options: SessionManagerOptions = { cwd: join(home, "app"), agentDir: join(home, "agent"), home };
  const made: SessionManager = SessionManager.create(options);
  made.appendMessage({ role: "user", content: "hello", timestamp: 1 });
  await made.close();
  const path = made.sessionFile ?? "";

  const opened = [
    await SessionManager.open(path, options, { isReadOnly: true }),
    await SessionManager.continueRecent(options, { isInMemory: true }),
    await SessionManager.copyInMemory(path, options),
    await SessionManager.forkFrom(path, options),
  ];
  onTestFinished(async () => {
    for (const session of opened) await session.close();
  });
  for (const session of opened) expect(session.context.messages).toEqual(made.context.messages);
  expect(SessionManager.inMemory(options).sessionFile).toBeUndefined();

  await SessionManager.delete(path);
  expect(existsSync(path)).toBe(false);
});

import { mkdirSync, promises, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { systemClock } from "../../base/clock.js";
import { randomIds } from "../../base/ids.js";
import { silentLog } from "../../base/log.js";
import { Settings } from "../../config/settings/settings.js";
import { createNodeWorkspace } from "../../files/node-workspace.js";
import { createProjectChanges } from "../project-changes.js";
import { createExtensionPending } from "./extension-pending.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Files of which a tool reads the first few bytes only, unless it asks for more. */
function setUp() {
  const [cwd, agentDir] = [join(home, "project"), join(home, "agent")];
  const workspace = createNodeWorkspace({ cwd, home, agentDir, maxReadBytes: 10 });
  const place = { cwd, agentDir, clock: systemClock, log: silentLog };
  const sessions = { ...place, ids: randomIds };
  const changes = createProjectChanges({ ...place, root: cwd, workspace, settings: new Settings(), sessions });
  const pending = createExtensionPending({ workspace, changes, push: () => "", nextId: () => "" });
  const file = join(cwd, "long.txt");
  writeFileSync(file, "x".repeat(100));
  return { pending, changes, file };
}

it("a plan for a long file is made for all of it", async () => {
  const { pending, changes } = setUp();
  const planned = await pending.plan([{ path: "long.txt", after: "short\n" }]);
  expect(planned).toMatchObject([{ kind: "modify", stamp: { size: 100 } }]);
  expect(await changes.staleFiles(planned)).toEqual([]);
});

it("a preview that rests on a long file is stale with its last byte", async () => {
  const { pending, changes, file } = setUp();
  const seen = await pending.stamp(["long.txt"]);
  expect(seen).toMatchObject([{ path: file, stamp: { path: "long.txt", exists: true, size: 100 } }]);
  expect(await changes.staleFiles(seen)).toEqual([]);
  writeFileSync(file, `${"x".repeat(99)}y`);
  expect(await changes.staleFiles(seen)).toEqual(["long.txt"]);
});

it("nothing rests on a file that cannot be read", async () => {
  const { pending } = setUp();
  vi.spyOn(promises, "open").mockRejectedValueOnce(Object.assign(new Error("no"), { code: "EACCES" }));
  await expect(pending.stamp(["long.txt"])).rejects.toThrow(/^Cannot open '.*long\.txt': permission denied\.$/);
});

// What is kept for undo when files are written directly: by many at once, and where there is no room for it.

import { mkdirSync, promises, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { silentLog } from "../base/log.js";
import type { DirectChange } from "../plans/change-writer.js";
import { type Changes, createChanges } from "./changes.js";

let home: string;
let changes: Changes;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  changes = createChanges({
    root: join(home, "project"),
    agentDir: join(home, "agent"),
    log: silentLog,
    retention: () => ({ keep: 5, maxBytes: 1e6 }),
  });
});

function created(name: string): DirectChange {
  const path = join(home, "project", name);
  const file = { kind: "create", path, shownPath: name, before: null, afterHash: "0".repeat(64) } as const;
  return {
    label: name,
    sourceToolName: "write",
    by: "model",
    reason: "",
    owner: { session: "", pendingId: "" },
    files: [file],
  };
}

const kept = async () => (await changes.list()).records.map(({ label }) => label);

it("many at once keep as much as one after the other, and none of them fails", async () => {
  for (let number = 0; number < 5; number++) await changes.note(created(`first${number}`));
  const forgets = await Promise.all(Array.from({ length: 40 }, (_, number) => changes.note(created(`f${number}`))));
  expect(await kept()).toHaveLength(5);
  await Promise.all(forgets.map((forget) => forget()));
  expect((await kept()).filter((label) => label.startsWith("f") && !label.startsWith("first"))).toEqual([]);
});

it("a change that does not fit on the disk leaves nothing behind, and names the file", async () => {
  await changes.note(created("a.ts"));
  const undoDir = join(home, "agent/undo", readdirSync(join(home, "agent/undo"))[0] ?? "");
  const before = readdirSync(undoDir);
  const { writeFile } = promises;
  const full = vi.spyOn(promises, "writeFile").mockImplementationOnce(async (path, data, how) => {
    await writeFile(path, (data as Buffer).subarray(0, 9), how);
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  });
  onTestFinished(() => full.mockRestore());
  await expect(changes.note(created("b.ts"))).rejects.toThrow(
    "Cannot write b.ts: what undo needs could not be kept: the disk is full.",
  );
  expect(readdirSync(undoDir)).toEqual(before);
});

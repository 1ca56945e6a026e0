// One file, two writers in one process: a person applies a preview while the model edits. One goes after the other, and
// nothing that was reported as written is lost.

import { mkdirSync, promises, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { randomIds } from "../../../src/base/ids.js";
import { silentLog } from "../../../src/base/log.js";
import { Settings } from "../../../src/config/settings/settings.js";
import { createNodeWorkspace } from "../../../src/files/node-workspace.js";
import type { Workspace } from "../../../src/files/workspace.js";
import { withoutSession } from "../../../src/plans/change-writer.js";
import { stampOf } from "../../../src/plans/plan.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { createProjectChanges } from "../../../src/sdk/project-changes.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  for (const name of ["a.ts", "b.ts"]) writeFileSync(join(home, "project", name), "old(1);\nkeep(1);\n");
});
afterEach(() => {
  vi.restoreAllMocks();
});

const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] }, "p1");
const editOf = (...paths: string[]) =>
  call("edit", { edits: paths.map((path) => ({ path, old_text: "keep(1)", new_text: "KEPT(1)" })) }, "e1");
const text = (name: string) => readFileSync(join(home, "project", name), "utf8");

function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** The first file that is put in place of a.ts waits until somebody else has asked for a.ts, or is through with it. */
function setUp() {
  const place = { cwd: join(home, "project"), agentDir: join(home, "agent") };
  const workspace = createNodeWorkspace({ ...place, home });
  const [held, asked] = [gate(), gate()];
  let isHeld = false;
  const exclusively: typeof workspace.exclusively = (file, work) => {
    if (isHeld && file.path.endsWith("a.ts")) asked.open();
    return workspace.exclusively(file, work);
  };
  const { rename } = promises;
  vi.spyOn(promises, "rename").mockImplementation(async (from, to) => {
    if (!isHeld && String(to).endsWith("a.ts")) {
      isHeld = true;
      held.open();
      await asked.passed;
    }
    return rename(from, to);
  });
  return { place, ...onDisk(place, { ...workspace, exclusively }), held: held.passed, release: asked.open };
}

/** With the journal, which a session that is given a workspace has not by itself. */
function onDisk(place: { cwd: string; agentDir: string }, workspace: Workspace) {
  const [settings, log, clock] = [new Settings(), silentLog, systemClock];
  const sessions = { ...place, clock, log, ids: randomIds };
  return {
    workspace,
    plans: createProjectChanges({ ...place, root: place.cwd, workspace, settings, clock, log, sessions }),
  };
}

it.each([
  ["one file", ["a.ts"]],
  ["several files", ["b.ts", "a.ts"]],
])("an apply waits for an edit of %s, and is stale then", async (_, paths) => {
  const { place, workspace, plans, held, release } = setUp();
  const { session } = await createAgentSession({
    ...place,
    workspace,
    changeWriter: plans,
    env: {},
    model: scriptedProviderModel,
    streamFn: scriptedModel([preview, say("Later."), editOf(...paths), say("Done.")]).stream,
    loadRules: async () => [],
    settings: new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never }),
  });
  await session.prompt("go");
  const run = session.prompt("edit");
  await held;
  const request = { action: "apply", reason: "mine", by: "host", pendingId: "pa_1" } as const;
  const applied = session.resolvePendingAction(request).catch((error: Error) => error.message);
  void applied.then(() => release());
  await run;
  expect(await applied).toMatch(/^Preview is stale: 1 of 1 files changed/);
  for (const path of paths) expect(text(path)).toBe("old(1);\nKEPT(1);\n");
  await session.dispose();
});

it("a direct apply waits too, unless the caller already holds the file", async () => {
  const place = { cwd: join(home, "project"), agentDir: join(home, "agent") };
  const disk = createNodeWorkspace({ ...place, home });
  const asked = gate();
  const exclusively: typeof disk.exclusively = (file, work) => {
    asked.open();
    return disk.exclusively(file, work);
  };
  const { plans } = onDisk(place, { ...disk, exclusively });
  const path = join(place.cwd, "b.ts");
  const owner = { pendingId: "", label: "Change", sourceToolName: "ast_edit", by: "model", reason: "" } as const;
  const bytes = Buffer.from(text("b.ts"));
  const change = (after: string) => {
    const stamp = stampOf("b.ts", { bytes, mode: 0o644 });
    return [{ kind: "modify" as const, path, stamp, before: bytes, after: Buffer.from(after) }];
  };
  let waiting: Promise<unknown> | undefined;
  await disk.exclusively({ path }, async () => {
    waiting = plans.apply(change("later"), owner, withoutSession).catch((error: Error) => error.message);
    await Promise.race([waiting, asked.passed]);
    await plans.apply(change("now"), { ...owner, holdsFiles: true }, withoutSession);
  });
  expect(await waiting).toBe("1 of 1 files changed since the preview (b.ts).");
  expect(text("b.ts")).toBe("now");
});

// A process that dies between the files and the record: the next one finishes the story, wherever the session is.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { randomIds } from "../../../src/base/ids.js";
import { silentLog } from "../../../src/base/log.js";
import { Settings } from "../../../src/config/settings/settings.js";
import { createChanges } from "../../../src/journal/changes.js";
import type { AgentSessionEvent } from "../../../src/protocol/events.js";
import {
  type AgentSession,
  type ChangeWriter,
  type CreateAgentSessionOptions,
  createAgentSession,
  SessionManager,
} from "../../../src/sdk/index.js";
import { recoverProject } from "../../../src/sdk/pending-sessions.js";
import { createProjectChanges } from "../../../src/sdk/project-changes.js";
import { createToolResources } from "../../../src/sdk/tool-resources.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project/a.ts"), "old(1);\n");
});

const place = () => ({ cwd: join(home, "project"), agentDir: join(home, "agent") });

async function open(
  steps: Parameters<typeof scriptedModel>[0],
  target?: string,
  more: CreateAgentSessionOptions = {},
): Promise<AgentSession> {
  const { session } = await createAgentSession({
    ...place(),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(steps).stream,
    loadRules: async () => [],
    ...(target === undefined ? {} : { resume: { kind: "open", target } }),
    ...more,
  });
  return session;
}

/** A session with one plan pending; closed. */
async function staged(): Promise<string> {
  const edit = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] });
  const session = await open([edit, say("Waiting.")]);
  await session.prompt("go");
  const file = session.sessionFile as string;
  await session.dispose();
  return file;
}

const text = () => readFileSync(join(home, "project/a.ts"), "utf8");
const journals = () =>
  readdirSync(join(home, "agent/journal")).flatMap((key) => readdirSync(join(home, "agent/journal", key)));

it("plans come back with their session, and closures are told as lost", async () => {
  const file = await staged();
  const session = await open([], file);
  expect(await session.getPendingActions()).toMatchObject([{ id: "pa_1", status: "pending", kind: "plan" }]);
  session.stagePendingAction({
    label: "Elsewhere",
    sourceToolName: "t",
    work: { kind: "closure", apply: () => ({ content: [] }) },
  });
  await session.getPendingActions();
  await session.sessionManager.flush();
  // Not closed in order: as after a crash, the closure is on record and gone.
  const record = readFileSync(file, "utf8");
  await session.dispose();
  writeFileSync(file, record);
  const events: AgentSessionEvent[] = [];
  const again = await open([], file);
  again.subscribe((event) => void events.push(event));
  expect((await again.getPendingActions()).map(({ id }) => id)).toEqual(["pa_1"]);
  await again.dispose();
  const settled = (await SessionManager.open(file, place(), { isReadOnly: true })).tree.entries.flatMap((entry) =>
    entry.type === "custom" ? [JSON.stringify(entry.data)] : [],
  );
  expect(settled.at(-1)).toContain("Pending action pa_2 (Elsewhere) did not survive the restart. Run t again.");
});

/** The process dies when the files are new and the record does not know. */
async function applyUntold(file: string): Promise<void> {
  const changes = createChanges({
    root: place().cwd,
    agentDir: place().agentDir,
    log: silentLog,
    retention: () => ({ keep: 50, maxBytes: 1e9 }),
  });
  const beforeHash = createHash("sha256").update("old(1);\n").digest("hex");
  const path = join(place().cwd, "a.ts");
  const set = {
    label: "AST Edit",
    sourceToolName: "ast_edit",
    by: "user",
    reason: "looks right",
    owner: { session: file, pendingId: "pa_1" },
    ops: [{ kind: "modify" as const, path, shownPath: "a.ts", beforeHash, bytes: Buffer.from("fresh(1);\n") }],
  };
  await changes.apply(set, async () => false);
}

it("J-7: an apply whose session could not be told is settled there later", async () => {
  const file = await staged();
  await applyUntold(file);
  expect(text()).toBe("fresh(1);\n");
  expect(journals()).toHaveLength(1);
  // While somebody has the session open, its record is theirs.
  const holder = await SessionManager.open(file, place());
  await recoverProject(place());
  expect(journals()).toHaveLength(1);
  await holder.close();

  expect(await recoverProject(place())).toMatchObject([
    { result: "applied", owner: { session: file, pendingId: "pa_1" } },
  ]);
  expect(journals()).toEqual([]);
  const session = await open([], file);
  expect(await session.getPendingActions()).toEqual([]);
  await expect(
    session.resolvePendingAction({ action: "apply", reason: "", by: "user", pendingId: "pa_1" }),
  ).rejects.toThrow('No pending action with id "pa_1".');
  await session.dispose();
  expect(await recoverProject(place())).toEqual([]);
});

it("what another session left behind keeps its own reason, also under the same id", async () => {
  const file = await staged();
  rmSync(join(home, "agent/undo"), { recursive: true }); // as an earlier version left it: each session counted by itself
  writeFileSync(join(home, "project/b.ts"), "old(2);\n");
  const edit = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["b.ts"] });
  const session = await open([edit, say("Waiting.")]);
  await session.prompt("go");
  await applyUntold(file);
  await session.resolvePendingAction({ action: "apply", reason: "mine", by: "host", pendingId: "pa_1" });
  await session.dispose();
  const settled = (await SessionManager.open(file, place(), { isReadOnly: true })).tree.entries.flatMap((entry) =>
    entry.type === "custom" ? [entry.data] : [],
  );
  expect(settled.at(-1)).toMatchObject({ id: "pa_1", outcome: "applied", by: "user", reason: "looks right" });
});

it.each(["recovered by itself", "opened again"])(
  "a crash while a part is applied does not cost the rest: %s",
  async (how) => {
    writeFileSync(join(home, "project/b.ts"), "old(2);\n");
    const edit = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] });
    const first = await open([edit, say("Waiting.")]);
    await first.prompt("go");
    const file = first.sessionFile as string;
    await first.dispose();
    // The next one dies when the part is on the disk and the record does not know.
    const { workspace } = createToolResources({
      ...place(),
      env: {},
      settings: new Settings(),
      clock: systemClock,
      log: silentLog,
    });
    const sessions = { ...place(), ids: randomIds };
    const writer = createProjectChanges({
      ...{ ...place(), root: place().cwd, workspace, settings: new Settings(), clock: systemClock, log: silentLog },
      sessions,
    });
    const dying: ChangeWriter = {
      ...writer,
      async apply(changes, owner) {
        await writer.apply(changes, owner, { owner: file, recordApplied: () => Promise.reject(new Error("dead")) });
        throw new Error("dead");
      },
    };
    const second = await open([], file, { changeWriter: dying });
    const part = { action: "apply", reason: "this", by: "host", pendingId: "pa_1", files: ["a.ts"] } as const;
    await expect(second.resolvePendingAction(part)).rejects.toThrow("dead");
    expect(text()).toBe("fresh(1);\n");
    expect(journals()).toHaveLength(1);
    await second.dispose();

    if (how === "recovered by itself") await recoverProject(place());
    const third = await open([], file);
    expect(await third.getPendingActions()).toMatchObject([
      { id: "pa_1", status: "pending", files: [{ path: "b.ts" }] },
    ]);
    expect(journals()).toEqual([]);
    await third.resolvePendingAction({ action: "apply", reason: "all", by: "host" });
    expect(readFileSync(join(home, "project/b.ts"), "utf8")).toBe("fresh(2);\n");
    await third.dispose();
  },
);

// A process that dies between the files and the record: the next one finishes the story, wherever the session is.

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../base/log.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import { scriptedProviderModel } from "../testing/open-session.js";
import { call, say, scriptedModel } from "../testing/scripted-model.js";
import { createChanges } from "../workspace/changes.js";
import { type AgentSession, createAgentSession, SessionManager } from "./index.js";
import { recoverProject } from "./pending-sessions.js";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "galley-recovery-")));
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project/a.ts"), "old(1);\n");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const place = () => ({ cwd: join(home, "project"), agentDir: join(home, "agent") });

async function open(steps: Parameters<typeof scriptedModel>[0], target?: string): Promise<AgentSession> {
  const { session } = await createAgentSession({
    ...place(),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(steps).stream,
    loadRules: async () => [],
    ...(target === undefined ? {} : { resume: { kind: "open", target } }),
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

it("J-7: an apply whose session could not be told is settled there later", async () => {
  const file = await staged();
  // The process dies when the files are new and the record does not know.
  const changes = createChanges({
    root: place().cwd,
    agentDir: place().agentDir,
    log: silentLog,
    retention: () => ({ keep: 50, maxBytes: 1e9 }),
    settle: async () => false,
  });
  const beforeHash = createHash("sha256").update("old(1);\n").digest("hex");
  const path = join(place().cwd, "a.ts");
  await changes.apply({
    label: "AST Edit",
    sourceToolName: "ast_edit",
    by: "user",
    reason: "looks right",
    owner: { session: file, pendingId: "pa_1" },
    ops: [{ kind: "modify", path, shownPath: "a.ts", beforeHash, bytes: Buffer.from("fresh(1);\n") }],
  });
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

// Previews and the files they were made for, through a session on real files: what is stale is told as such, here and to
// whoever looks later, and what was made anew is on record as what it is now.

import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { randomIds } from "../../../src/base/ids.js";
import { silentLog } from "../../../src/base/log.js";
import { Settings } from "../../../src/config/settings/settings.js";
import { createNodeWorkspace } from "../../../src/files/node-workspace.js";
import { createWorkspaceChangeWriter } from "../../../src/journal/workspace-change-writer.js";
import { withoutSession } from "../../../src/plans/change-writer.js";
import { combinePlans, type PlannedChange, stampOf } from "../../../src/plans/plan.js";
import type { AgentSessionEvent } from "../../../src/protocol/events.js";
import { createAgentSession } from "../../../src/sdk/index.js";
import { listPendingSessions } from "../../../src/sdk/pending-sessions.js";
import { createProjectChanges, undoRetention } from "../../../src/sdk/project-changes.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, "project"));
});

const place = () => ({ cwd: join(home, "project"), agentDir: join(home, "agent") });
const inProject = (name: string) => join(home, "project", name);
const write = (name: string, text: string) => writeFileSync(inProject(name), text);
const read = (name: string) => readFileSync(inProject(name), "utf8");
const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "edit_1");

async function open(model: readonly ScriptStep[], values: Record<string, unknown> = {}, resume?: string) {
  const settings = new Settings({
    overrides: new Map(Object.entries({ "resolve.forcing": "off", ...values })) as never,
  });
  const { session } = await createAgentSession({
    ...place(),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(model).stream,
    loadRules: async () => [],
    settings,
    ...(resume === undefined ? {} : { resume: { kind: "open" as const, target: resume } }),
  });
  const news: AgentSessionEvent[] = [];
  session.subscribe((event) => void news.push(event));
  const decide = (action: "apply" | "discard", pendingId: string, more: object = {}) =>
    session.resolvePendingAction({ action, reason: "mine", by: "user", pendingId, ...more });
  return { session, news, decide };
}

const onDisk = async () =>
  (await listPendingSessions(place())).flatMap(({ actions }) =>
    actions.map(({ id, action: { status, label } }) => [id, status, label]),
  );

it("a preview that was made anew has its new name and numbers, also over a restart", async () => {
  write("a.ts", "old(1);\n");
  const { session, decide } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  write("a.ts", "old(1);\nold(2);\nold(3);\n");
  expect((await decide("apply", "pa_1", { extra: { refresh: true } })).details).toMatchObject({ refreshed: true });
  const anew = {
    id: "pa_1",
    status: "pending",
    label: "AST Edit: 3 replacements in 1 file",
    details: { totalReplacements: 3, filesTouched: 1 },
  };
  expect(await session.getPendingActions()).toMatchObject([anew]);
  const file = session.sessionFile as string;
  await session.dispose();
  expect(await onDisk()).toEqual([["pa_1", "pending", anew.label]]);
  const again = await open([], {}, file);
  expect(await again.session.getPendingActions()).toMatchObject([anew]);
  await again.decide("apply", "pa_1");
  expect(read("a.ts")).toBe("fresh(1);\nfresh(2);\nfresh(3);\n");
  await again.session.dispose();
});

it("listing pending actions shows stale ones, as does reopening the session", async () => {
  write("a.ts", "old(1);\n");
  const { session } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  const file = session.sessionFile as string;
  await session.dispose();
  expect((await onDisk()).map(([, status]) => status)).toEqual(["pending"]);
  write("a.ts", "old(2);\n");
  expect((await onDisk()).map(([, status]) => status)).toEqual(["stale"]);
  const again = await open([], {}, file);
  expect(await again.session.getPendingActions()).toMatchObject([{ id: "pa_1", status: "stale" }]);
  await again.session.dispose();
});

it("a stack is compared with the disk by its lowest stage", async () => {
  write("a.txt", "zero\n");
  const steps = [
    call("read", { path: "a.txt" }, "r1"),
    call("write", { path: "a.txt", content: "one\n" }, "w1"),
    call("edit", { edits: [{ path: "a.txt", old_text: "one", new_text: "two" }] }, "e1"),
    say("Waiting."),
  ];
  const { session } = await open(steps, { staging: "all" });
  await session.prompt("go");
  await session.dispose();
  expect((await onDisk()).map(([id, status]) => [id, status])).toEqual([
    ["pa_2", "pending"],
    ["pa_1", "pending"],
  ]);
  write("a.txt", "mine\n");
  expect((await onDisk()).map(([id, status]) => [id, status])).toEqual([
    ["pa_2", "stale"],
    ["pa_1", "stale"],
  ]);
});

it("a command's writes are seen, the model's and the user's", async () => {
  for (const name of ["a.ts", "b.ts"]) write(name, "old(1);\n");
  const bash = call("bash", { command: "echo x > a.ts" }, "b1");
  const { session, news } = await open([preview, bash, say("Waiting.")]);
  await session.prompt("go");
  const changed = () => news.flatMap((event) => (event.type === "pending_action_changed" ? [event] : []));
  expect(changed()).toMatchObject([{ id: "pa_1", status: "stale", files: [{ path: "a.ts" }] }]);
  await session.dispose();

  write("a.ts", "old(1);\n");
  const other = await open([preview, say("Waiting.")]);
  await other.session.prompt("go");
  await other.session.executeBash("echo x > b.ts");
  expect(await other.session.getPendingActions()).toMatchObject([{ id: "pa_2", status: "stale" }]);
  await other.session.dispose();
});

it("what a module stages has its files from the start, goes stale with them, and may set the mode of a file", async () => {
  write("a.txt", "one\n");
  const { mode } = statSync(inProject("a.txt"));
  const module = `export default (pi) => ({
    name: "stager", description: "Stages", parameters: { type: "object", properties: {} },
    async execute() {
      const apply = async () => ({ content: [] });
      pi.pushPendingAction({ label: "Rests", files: ["a.txt", "later.txt"], apply });
      await pi.pushPendingAction({ label: "Mode", plan: [{ path: "a.txt", after: "two\\n", mode: 0o755 }] });
      return { content: [] };
    },
  });`;
  const path = join(home, "agent/tools/stager.mjs");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, module);
  const { session, news, decide } = await open([call("stager", {}), say("Waiting.")]);
  await session.prompt("go");
  const added = news.flatMap((event) => (event.type === "pending_action_added" ? [event.action] : []));
  expect(added).toMatchObject([
    {
      label: "Rests",
      files: [
        { path: "a.txt", exists: true },
        { path: "later.txt", exists: false },
      ],
    },
    { label: "Mode", files: [{ path: "a.txt" }] },
  ]);
  await decide("apply", "pa_2");
  expect([read("a.txt"), statSync(inProject("a.txt")).mode & 0o777]).toEqual(["two\n", 0o755]);
  expect(await session.getPendingActions()).toMatchObject([{ id: "pa_1", status: "stale" }]);
  await session.undo({ apply: { by: "user", reason: "no" } });
  expect([read("a.txt"), statSync(inProject("a.txt")).mode]).toEqual(["one\n", mode]);
  await session.dispose();
});

it("a preview of a file with two names can be applied", async () => {
  write("a.ts", "old(1);\n");
  linkSync(inProject("a.ts"), inProject("h.ts"));
  const { session, decide } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  expect((await decide("apply", "pa_1")).details).toMatchObject({ sourceResultDetails: { hardlinkBroken: ["a.ts"] } });
  expect([read("a.ts"), read("h.ts")]).toEqual(["fresh(1);\n", "old(1);\n"]);
  await session.dispose();
});

it("what was discarded does not come back: a preview that was decided in part is not made anew", async () => {
  for (const name of ["a.ts", "b.ts"]) write(name, "old(1);\n");
  const { session, decide } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  await decide("discard", "pa_1", { files: ["b.ts"] });
  write("a.ts", "old(1);\n// mine\n");
  await expect(decide("apply", "pa_1", { extra: { refresh: true } })).rejects.toThrow("Preview is stale: 1 of 1 files");
  expect(await session.getPendingActions()).toMatchObject([{ status: "stale", files: [{ path: "a.ts" }] }]);
  expect(read("b.ts")).toBe("old(1);\n");
  await session.dispose();
});

it("a part is applied or fails: it cannot be refreshed, and no outcome is reported", async () => {
  for (const name of ["a.ts", "b.ts"]) write(name, "old(1);\n");
  const { session, decide } = await open([preview, say("Waiting."), say("So it is.")]);
  await session.prompt("go");
  write("b.ts", "old(1);\n// mine\n");
  const again = { extra: { refresh: true } };
  await expect(decide("apply", "pa_1", { files: ["b.ts"], ...again })).rejects.toThrow(
    "Preview is stale: 1 of 1 files",
  );
  // All of it, named file by file, is the whole, and can be made anew: nothing is written by that either.
  const whole = await decide("apply", "pa_1", { files: ["a.ts", "b.ts"], ...again });
  expect(whole.details).toMatchObject({ refreshed: true });
  await session.prompt("and?");
  expect(JSON.stringify(session.messages)).not.toContain("pending-action-outcome");
  await session.dispose();
});

it("what is left after a part was discarded is as stale as it was", async () => {
  for (const name of ["a.ts", "b.ts"]) write(name, "old(1);\n");
  const { session, decide } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  write("a.ts", "mine\n");
  await expect(decide("apply", "pa_1")).rejects.toThrow("Preview is stale");
  await decide("discard", "pa_1", { files: ["b.ts"] });
  expect(await session.getPendingActions()).toMatchObject([{ id: "pa_1", status: "stale" }]);
  await session.dispose();
});

it("a lower stage that stops the one above is stale itself", async () => {
  for (const name of ["f.txt", "g.txt"]) write(name, "one\n");
  const edit = (path: string, old_text: string, new_text: string) => ({ path, old_text, new_text });
  const steps = [
    call("edit", { edits: [edit("f.txt", "one", "two"), edit("g.txt", "one", "two")] }, "e1"),
    call("edit", { edits: [edit("f.txt", "two", "three")] }, "e2"),
    say("Waiting."),
  ];
  const { session, decide } = await open(steps, { staging: "all" });
  await session.prompt("go");
  write("f.txt", "mine\n");
  await expect(decide("apply", "pa_2", { withDeps: true })).rejects.toThrow("Preview is stale");
  expect((await session.getPendingActions()).map(({ id, status }) => [id, status])).toEqual([
    ["pa_2", "stale"],
    ["pa_1", "stale"],
  ]);
  await session.dispose();
});

it("what is no file cannot be what a callback rests on, and what is not there can", async () => {
  mkdirSync(inProject("sub"));
  symlinkSync("nowhere", inProject("dangling"));
  const module = `export default (pi) => ({
    name: "stager", description: "Stages", parameters: { type: "object", properties: { file: { type: "string" } } },
    async execute(id, { file }) {
      pi.pushPendingAction({ label: file, files: [file], apply: async () => ({ content: [] }) });
      return { content: [] };
    },
  });`;
  const path = join(home, "agent/tools/stager.mjs");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, module);
  const names = ["sub", "dangling", "later.txt"];
  const { session } = await open([...names.map((file) => call("stager", { file }, file)), say("Waiting.")]);
  await session.prompt("go");
  await session.executeBash("true");
  const actions = await session.getPendingActions();
  expect(actions.map(({ label, status }) => [label, status])).toEqual([["later.txt", "pending"]]);
  const told = JSON.stringify(session.messages.filter(({ role }) => role === "toolResult"));
  for (const name of ["sub", "dangling"])
    expect(told).toContain(`The pending action depends on ${name}, which is not a file.`);
  await session.dispose();
});

it.each([
  ["auto", "true", "viaModule(1);\n", "stale"],
  ["all", "Every change is staged here", "old(1);\n", "pending"],
])("what a module writes with astEdit goes by the rules of staging: %s", async (staging, told, left, status) => {
  write("a.ts", "old(1);\n");
  const module = `export default (pi) => ({
    name: "writer", description: "Writes", parameters: { type: "object", properties: {} }, deferrable: true,
    async execute() {
      const ops = [{ pat: "old($A)", out: "viaModule($A)" }];
      const { applied } = await pi.pi.astEdit({ ops, path: "a.ts", dryRun: false });
      return { content: [{ type: "text", text: String(applied) }] };
    },
  });`;
  const path = join(home, "agent/tools/writer.mjs");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, module);
  const { session } = await open([preview, call("writer", {}, "w1"), say("Waiting.")], { staging });
  await session.prompt("go");
  const result = session.messages.find((message) => message.role === "toolResult" && message.toolName === "writer");
  expect(JSON.stringify(result)).toContain(told);
  expect(read("a.ts")).toBe(left);
  expect(await session.getPendingActions()).toMatchObject([{ id: "pa_1", status }]);
  await session.dispose();
});

const inItsPlace: [string, (path: string) => void][] = [
  ["a directory", (path) => mkdirSync(path)],
  ["a FIFO", (path) => execFileSync("mkfifo", [path])],
  ["a link that leads nowhere", (path) => symlinkSync("nowhere", path)],
  [
    "a file where its directory was",
    (path) => {
      rmSync(dirname(path), { recursive: true });
      write("sub", "");
    },
  ],
];

it.each(inItsPlace)("%s makes a preview stale, however often it is tried", async (_, put) => {
  mkdirSync(inProject("sub"));
  write("a.ts", "old(1);\n");
  write("sub/b.ts", "old(2);\n");
  const { session, decide } = await open([preview, say("Waiting.")]);
  await session.prompt("go");
  rmSync(inProject("sub/b.ts"));
  put(inProject("sub/b.ts"));
  for (let attempt = 1; attempt <= 6; attempt++)
    await expect(decide("apply", "pa_1")).rejects.toMatchObject({
      code: "stale_preview",
      message:
        "Preview is stale: 1 of 2 files changed since the preview (sub/b.ts). Nothing was written. Run ast_edit again or discard.",
    });
  expect(session.pendingActions).toMatchObject([{ id: "pa_1", status: "stale", attempts: 0 }]);
  expect(read("a.ts")).toBe("old(1);\n");
  await session.dispose();
});

const settings = new Settings();
const writers = {
  "the journal": () => {
    const parts = { ...place(), clock: systemClock, log: silentLog };
    const workspace = createNodeWorkspace({ ...place(), home });
    return createProjectChanges({
      ...parts,
      root: parts.cwd,
      workspace,
      settings,
      sessions: { ...parts, ids: randomIds },
    });
  },
  "a workspace of the host": () =>
    createWorkspaceChangeWriter({
      workspace: createNodeWorkspace({ ...place(), home }),
      clock: systemClock,
      retention: () => undoRetention(settings),
    }),
};

it.each(Object.entries(writers))(
  "a file that plans create and delete again must be absent still: %s",
  async (_, make) => {
    write("a.ts", "1");
    const [bytes, none] = [Buffer.from("x"), new Uint8Array()];
    const [path, absent] = [inProject("new.ts"), stampOf("new.ts", undefined)];
    const seen = { bytes: Buffer.from("1"), mode: 0o644 };
    const changes = combinePlans(
      [
        { kind: "modify", path: inProject("a.ts"), stamp: stampOf("a.ts", seen), before: seen.bytes, after: bytes },
        { kind: "create", path, stamp: absent, before: none, after: bytes },
        { kind: "delete", path, stamp: stampOf("new.ts", { bytes, mode: 0o644 }), before: bytes, after: none },
      ].map((change) => ({ changes: [change as PlannedChange], applied: { text: "" } })),
    );
    const owner = { pendingId: "", label: "Change", sourceToolName: "test", by: "model", reason: "" } as const;
    const apply = () => make().apply(changes, owner, withoutSession);
    write("new.ts", "of another program");
    await expect(apply()).rejects.toMatchObject({ code: "stale_preview", details: { files: ["new.ts"], total: 2 } });
    expect([read("a.ts"), read("new.ts")]).toEqual(["1", "of another program"]);
    rmSync(path);
    await apply();
    expect(read("a.ts")).toBe("x");
    expect(existsSync(path)).toBe(false);
  },
);

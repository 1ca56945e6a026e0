// What a model previews and applies, through a whole session on real files: the exact bytes or nothing, and one story
// on record, also where the process died in between.

import {
  chmodSync,
  mkdirSync,
  promises,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { Settings } from "../../../src/config/settings/settings.js";
import type { ToolResult } from "../../../src/protocol/events.js";
import { type AgentSession, createAgentSession, SessionManager } from "../../../src/sdk/index.js";
import { recoverProject } from "../../../src/sdk/pending-sessions.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
let project: string;
beforeEach(() => {
  home = temporaryDirectory();
  project = join(home, "project");
  mkdirSync(project);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const place = () => ({ cwd: project, agentDir: join(home, "agent") });
const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "edit_1");
const resolve = (action: "apply" | "discard", id = "resolve_1") => call("resolve", { action, reason: "agreed" }, id);

async function open(model: readonly ScriptStep[], more: Parameters<typeof createAgentSession>[0] = {}) {
  const { session } = await createAgentSession({
    ...place(),
    env: {},
    persist: true,
    model: scriptedProviderModel,
    streamFn: scriptedModel(model).stream,
    loadRules: async () => [],
    ...more,
  });
  return session;
}

const texts = (session: AgentSession) =>
  (
    session.messages.filter((message) => message.role === "toolResult" && message.toolName === "resolve") as never[]
  ).map(({ content, isError }: ToolResult) => `${isError ? "!" : ""}${(content[0] as { text: string }).text}`);
const write = (name: string, text: string | Uint8Array) => writeFileSync(join(project, name), text);
const read = (name: string) => readFileSync(join(project, name), "latin1");
/** Names, bytes and modes of everything that is there. */
const state = () =>
  readdirSync(project).map((name) => [name, read(name), statSync(join(project, name)).mode.toString(8)]);
const five = () => {
  for (const n of [1, 2, 3, 4, 5]) write(`f${n}.ts`, `old(${n});\n`);
};
const journals = () =>
  readdirSync(join(home, "agent/journal")).flatMap((key) => readdirSync(join(home, "agent/journal", key)));

describe("an apply", () => {
  it("writes what was shown and nothing else: BOM, line ends, the missing last one, modes, links", async () => {
    write("bom.ts", Buffer.from("\u00ef\u00bb\u00bfold(1);\r\nx();\n old(2)", "latin1"));
    write("run.ts", "#!/usr/bin/env node\nold(3);\n");
    chmodSync(join(project, "run.ts"), 0o751);
    mkdirSync(join(home, "project/real"));
    write("real/target.ts", "old(4);\n");
    symlinkSync("real/target.ts", join(project, "link.ts"));
    const sources = () => ["bom.ts", "run.ts", "real/target.ts"].map(read);
    const old = sources();
    let shown: string[] = [];
    const look: ScriptStep = [
      () => {
        shown = sources();
      },
      ...resolve("apply"),
    ];
    const session = await open([preview, look, say("Done.")]);
    await session.prompt("go");
    await session.dispose();
    expect(shown).toEqual(old);
    expect(sources()).toEqual(old.map((text) => text.replaceAll("old(", "fresh(")));
    expect(statSync(join(project, "run.ts")).mode & 0o7777).toBe(0o751);
    expect(readFileSync(join(project, "link.ts"), "utf8")).toBe("fresh(4);\n");
    expect(journals()).toEqual([]);
  });

  it("touches no file that came after the preview", async () => {
    write("a.ts", "old(1);\n");
    const meanwhile: ScriptStep = [() => write("b.ts", "old(2);\n"), ...resolve("apply")];
    const session = await open([preview, meanwhile, say("Done.")]);
    await session.prompt("go");
    await session.dispose();
    expect([read("a.ts"), read("b.ts")]).toEqual(["fresh(1);\n", "old(2);\n"]);
  });
});

describe("when the last of five files cannot be written", () => {
  const inTheWay: [string, () => void, () => void, string][] = [
    [
      "because it is read-only",
      () => chmodSync(join(project, "f5.ts"), 0o444),
      () => chmodSync(join(project, "f5.ts"), 0o644),
      "!Apply failed: f5.ts: it is read-only. Nothing was written.",
    ],
    [
      "because a directory took its place",
      () => {
        rmSync(join(project, "f5.ts"));
        mkdirSync(join(project, "f5.ts"));
      },
      () => {
        rmSync(join(project, "f5.ts"), { recursive: true });
        write("f5.ts", "old(5);\n");
      },
      "!Preview is stale: 1 of 5 files changed since the preview (f5.ts). Nothing was written. Run ast_edit again or discard.",
    ],
  ];

  it.each(inTheWay)("%s, nothing is written; it can be applied afterwards", async (_, block, clear, said) => {
    five();
    const old = state();
    const blocked: ScriptStep = [block, ...resolve("apply")];
    const cleared: ScriptStep = [
      () => {
        clear();
        expect(state()).toEqual(old);
      },
      ...resolve("apply", "resolve_2"),
    ];
    const session = await open([preview, blocked, cleared, say("Done.")]);
    await session.prompt("go");
    await session.dispose();
    expect(texts(session)).toEqual([said, "Applied 5 replacements in 5 files."]);
    expect(read("f5.ts")).toBe("fresh(5);\n");
  });

  it.each(["EACCES", "EIO", "EROFS"])(
    "the disk says %s after four renames: all five are as they were",
    async (code) => {
      five();
      const old = state();
      const { rename } = promises;
      let renames = 0;
      vi.spyOn(promises, "rename").mockImplementation(async (from, to) => {
        if (/f\d\.ts$/.test(String(to)) && String(from).endsWith(".new") && ++renames === 5)
          throw Object.assign(new Error(`${code}: no`), { code });
        return rename(from, to);
      });
      const session = await open([preview, resolve("apply"), resolve("discard", "resolve_2"), say("Done.")]);
      await session.prompt("go");
      await session.dispose();
      expect(renames).toBe(5);
      expect(texts(session)[0]).toMatch(/^!Apply failed: f5\.ts: .*\. All files were restored\.$/);
      expect(state()).toEqual(old);
      expect(journals()).toEqual([]);
    },
  );
});

describe("a chain of stages", () => {
  const staged = async () => {
    write("a.txt", "one\n");
    const settings = new Settings({ overrides: new Map([["staging", "all"]]) as never });
    const session = await open(
      [
        call("write", { path: "a.txt", content: "two\n" }, "w1"),
        call("edit", { edits: [{ path: "a.txt", old_text: "two", new_text: "three" }] }, "e1"),
        say("Staged."),
      ],
      { settings },
    );
    await session.prompt("go");
    return session;
  };
  const settledIn = async (file: string) => {
    const record = await SessionManager.open(file, place(), { isReadOnly: true });
    await record.close();
    return record.tree.entries.flatMap((entry) => {
      const data = (entry.type === "custom" ? entry.data : {}) as Record<string, string>;
      return data.event === "settled" ? [`${data.id} ${data.outcome} by ${data.by}: ${data.reason}`] : [];
    });
  };
  const both = ["pa_1 applied by user: Needed by pa_2.", "pa_2 applied by user: looks right"];
  const apply = { action: "apply", reason: "looks right", by: "user", pendingId: "pa_2", withDeps: true } as const;

  it("is on record as applied, the lower one as well, before the journal forgets", async () => {
    const session = await staged();
    await session.resolvePendingAction(apply);
    const file = session.sessionFile as string;
    await session.dispose();
    expect(await settledIn(file)).toEqual(both);
  });

  it("whose process dies once the files are new is settled as a whole by the next one", async () => {
    const session = await staged();
    const file = session.sessionFile as string;
    // The process dies before its record: the files are new, the journal is there, the session file knows nothing.
    const record = readFileSync(file);
    const { unlink } = promises;
    let journal = { path: "", bytes: Buffer.alloc(0) };
    vi.spyOn(promises, "unlink").mockImplementation(async (path) => {
      if (String(path).endsWith(".gj")) {
        const real = realpathSync(String(path));
        journal = { path: real, bytes: readFileSync(real) };
      }
      return unlink(path);
    });
    await session.resolvePendingAction(apply);
    await session.dispose();
    vi.restoreAllMocks();
    writeFileSync(file, record);
    writeFileSync(journal.path, journal.bytes);
    expect(read("a.txt")).toBe("three\n");

    expect(await recoverProject(place())).toMatchObject([
      { result: "applied", owner: { session: file, pendingId: "pa_2", alsoApplied: ["pa_1"] } },
    ]);
    expect(await settledIn(file)).toEqual(both);
    const again = await open([], { resume: { kind: "open", target: file } });
    expect(await again.getPendingActions()).toEqual([]);
    await again.dispose();
    expect([read("a.txt"), journals()]).toEqual(["three\n", []]);

    // Half of it on record: only the other half is added.
    writeFileSync(journal.path, journal.bytes);
    const entries = readFileSync(file, "utf8").split("\n");
    writeFileSync(
      file,
      `${entries.slice(0, entries.findIndex((line) => line.includes("Needed by pa_2.")) + 1).join("\n")}\n`,
    );
    const third = await open([], { resume: { kind: "open", target: file } });
    await third.getPendingActions();
    await third.dispose();
    expect(await settledIn(file)).toEqual(both);
    expect(journals()).toEqual([]);
  });
});

describe("two of three hunks", () => {
  const lines = (one: string, two: string, three: string) =>
    [`${one}(1);`, ...Array(20).fill("x();"), `${two}(2);`, ...Array(20).fill("x();"), `${three}(3);`, ""].join("\n");

  it("are written, the rest stays pending, also over a restart, and the model is told", async () => {
    write("a.ts", lines("old", "old", "old"));
    const settings = new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never });
    const first = await open([preview, say("Waiting.")], { settings });
    await first.prompt("go");
    const part = { action: "apply", reason: "those two", by: "user", pendingId: "pa_1" } as const;
    const wrong: Record<string, number[]>[] = [{ "a.ts": [4] }, { "b.ts": [1] }];
    for (const hunks of wrong)
      await expect(first.resolvePendingAction({ ...part, hunks })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(read("a.ts")).toBe(lines("old", "old", "old"));
    expect(await first.resolvePendingAction({ ...part, hunks: { "a.ts": [1, 3] } })).toMatchObject({
      text: "Applied 2 of 3 hunks in 1 of 1 files (a.ts).",
      details: { partial: true, settled: [{ path: "a.ts", hunks: [1, 3] }] },
    });
    expect(read("a.ts")).toBe(lines("fresh", "old", "fresh"));
    const file = first.sessionFile as string;
    await first.dispose();

    const model = scriptedModel([say("Good.")]);
    const again = await open([], { resume: { kind: "open", target: file }, settings, streamFn: model.stream });
    expect(await again.getPendingActions()).toMatchObject([{ id: "pa_1", status: "pending", files: [{ hunks: 1 }] }]);
    await again.resolvePendingAction({ ...part, reason: "the last one too" });
    expect(read("a.ts")).toBe(lines("fresh", "fresh", "fresh"));
    await again.prompt("go on");
    const told = JSON.stringify(model.requests[0]?.context.messages);
    expect(told).toContain("was applied by the user: Applied the remaining 1 hunk in 1 file.");
    await again.dispose();
  });

  it("are told to the model with its next request", async () => {
    write("a.ts", lines("old", "old", "old"));
    const settings = new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never });
    const model = scriptedModel([preview, say("Waiting."), say("Good.")]);
    const session = await open([], { settings, streamFn: model.stream });
    await session.prompt("go");
    await session.resolvePendingAction({ action: "apply", reason: "", by: "user", hunks: { "a.ts": [1, 3] } });
    await session.prompt("go on");
    expect(JSON.stringify(model.requests.at(-1)?.context.messages)).toContain(
      "pa_1 (AST Edit: 3 replacements in 1 file) was partly applied by the user: Applied 2 of 3 hunks in 1 of 1 files (a.ts).",
    );
    await session.dispose();
  });
});

describe("what a change did", () => {
  const rewrite = (content: string, id: string) => call("write", { path: "a.txt", content }, id);
  const shown = async (session: AgentSession) =>
    (await session.getChanges({ withDiff: true })).map(({ label, files }) => [
      label,
      ...files.map(({ added, removed, diff }) => [added, removed, diff?.replace(/^(---|\+\+\+|@@).*\n/gm, "")]),
    ]);

  it("is told as it was, whatever became of the file since", async () => {
    write("a.txt", "one\n");
    let now = 0;
    const clock = { ...systemClock, now: () => ++now };
    const steps = [rewrite("two\n", "w1"), rewrite("three\nmore\n", "w2"), say("Done.")];
    const session = await open(steps, { clock });
    await session.prompt("go");
    const first = ["Write: a.txt", [1, 1, "-one\n+two\n"]];
    const second = ["Write: a.txt", [2, 1, "-two\n+three\n+more\n"]];
    expect(await shown(session)).toEqual([second, first]);
    for (const reason of ["back", "further"]) await session.undo({ apply: { by: "user", reason } });
    expect(read("a.txt")).toBe("one\n");
    expect(await shown(session)).toEqual([
      ["Undo: Write: a.txt", [1, 1, "-two\n+one\n"]],
      ["Undo: Write: a.txt", [1, 2, "-three\n-more\n+two\n"]],
      second,
      first,
    ]);
    await session.dispose();
  });

  it("is not guessed when another program changed the file afterwards", async () => {
    const session = await open([rewrite("one\n", "w1"), rewrite("two\n", "w2"), say("Done.")]);
    await session.prompt("go");
    write("a.txt", "elsewhere\n");
    const changes = await session.getChanges({ withDiff: true });
    expect(changes.flatMap(({ files }) => files)).toEqual(
      expect.arrayContaining([
        { path: "a.txt", kind: "modify" },
        { path: "a.txt", kind: "create", added: 1, removed: 0, diff: expect.stringContaining("+one") },
      ]),
    );
    await session.dispose();
  });
});

it("no more changes are kept than the setting says, the oldest go first", async () => {
  write("a.ts", "old(1);\n");
  const settings = new Settings({ overrides: new Map([["undo.keep", 1]]) as never });
  const back = call("ast_edit", { ops: [{ pat: "fresh($A)", out: "last($A)" }], paths: ["."] }, "edit_2");
  const ids: string[] = [];
  const note: ScriptStep = [async () => void ids.push(...(await session.getChanges()).map(({ id }) => id)), ...back];
  const session = await open([preview, resolve("apply"), note, resolve("apply", "resolve_2"), say("Done.")], {
    settings,
  });
  await session.prompt("go");
  expect(ids).toHaveLength(1);
  expect(await session.getChanges()).toHaveLength(1);
  await expect(session.undo({ changeId: ids[0] })).rejects.toThrow(`Change ${ids[0]} can no longer be undone.`);
  await session.undo({ apply: { by: "user", reason: "back" } });
  expect(read("a.ts")).toBe("fresh(1);\n");
  await session.dispose();
});

it("where an action was staged is known again after a restart", async () => {
  write("a.ts", "old(1);\n");
  const session = await open([preview, say("Later.")]);
  await session.prompt("go");
  const [before] = await session.getPendingActions();
  expect(before?.entryId).toEqual(expect.any(String));
  const file = session.sessionFile as string;
  await session.dispose();
  const again = await open([], { resume: { kind: "open", target: file } });
  expect(await again.getPendingActions()).toMatchObject([{ id: "pa_1", entryId: before?.entryId }]);
  await again.dispose();
});

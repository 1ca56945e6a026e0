// A workspace that the host brings: everything that a session writes goes through it, and the disk stays as it is.

import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import type { Workspace } from "../../../src/files/workspace.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/index.js";
import { createMemoryWorkspace, type MemoryWorkspace } from "../../../src/testing/memory-workspace.js";
import { scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, type ScriptStep, say, scriptedModel } from "../../../src/testing/scripted-model.js";
import { temporaryDirectory } from "../../kit/temporary-directory.js";

let home: string;
let cwd: string;
let agentDir: string;
beforeEach(() => {
  home = temporaryDirectory();
  [cwd, agentDir] = [join(home, "project"), join(home, "agent")];
  mkdirSync(cwd);
});

const inMemory = (files: Record<string, string>) => createMemoryWorkspace(files, { cwd, home });

async function open(workspace: Workspace, model: readonly ScriptStep[], more: CreateAgentSessionOptions = {}) {
  const { session } = await createAgentSession({
    ...{ cwd, agentDir, workspace, env: {}, model: scriptedProviderModel, streamFn: scriptedModel(model).stream },
    settings: new Settings({ overrides: new Map([["resolve.forcing", "off"]]) as never }),
    loadRules: async () => [],
    ...more,
  });
  return session;
}

const files = { "a.ts": "old(1);\n", "b.ts": "old(2);\n" };
const fresh = { "a.ts": "fresh(1);\n", "b.ts": "fresh(2);\n" };
const edit = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["."] }, "e1");
const host = { by: "host", reason: "go" } as const;
const apply = { ...host, action: "apply", pendingId: "pa_1" } as const;

async function staged(workspace: Workspace) {
  const session = await open(workspace, [edit, say("Done.")]);
  await session.prompt("go");
  return session;
}

describe("a plan", () => {
  it("is applied and undone in it, not in the files of the same name on the disk", async () => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    rmSync(join(cwd, "b.ts")); // a stale check against the disk would find it gone
    const workspace = inMemory(files);
    const session = await staged(workspace);
    await session.resolvePendingAction(apply);
    expect(workspace.files).toEqual(fresh);
    const { answer } = await session.undo({ apply: host });
    expect(answer?.text).toBe("Undone: AST Edit: 2 replacements in 2 files.");
    expect(workspace.files).toEqual(files);
    await session.redo({ apply: host });
    expect(workspace.files).toEqual(fresh);
    await session.dispose();
    expect(readdirSync(cwd)).toEqual(["a.ts"]);
    expect(existsSync(agentDir)).toBe(false); // neither a journal nor undo records
  });

  it("is stale where a file of it changed, byte for byte", async () => {
    const workspace = inMemory(files);
    const session = await staged(workspace);
    const target = await workspace.resolve("b.ts", "write");
    await workspace.writeFile(target, { bytes: Buffer.from("old(3);\n") });
    await expect(session.resolvePendingAction(apply)).rejects.toThrow(
      /^Preview is stale: 1 of 2 files changed .*b\.ts/,
    );
    expect(workspace.files).toEqual({ ...files, "b.ts": "old(3);\n" });
    await session.dispose();
  });

  it("leaves every file as it was when one cannot be written", async () => {
    const workspace = inMemory(files);
    const session = await staged(failing(workspace, ({ path }) => path.endsWith("b.ts")));
    await expect(session.resolvePendingAction(apply)).rejects.toThrow(
      "Apply failed: b.ts cannot be written here. All files were restored.",
    );
    expect(workspace.files).toEqual(files);
    await session.dispose();
  });

  it("names what could not be restored, because there is no journal", async () => {
    const workspace = inMemory(files);
    let writes = 0;
    const session = await staged(failing(workspace, () => ++writes > 1));
    await expect(session.resolvePendingAction(apply)).rejects.toThrow(
      "Apply failed: b.ts cannot be written here. These files could not be restored: a.ts. The workspace of this session has no journal.",
    );
    expect(workspace.files).toEqual({ ...files, "a.ts": fresh["a.ts"] });
    await session.dispose();
  });

  it("restores a file that was written although the workspace reported a failure", async () => {
    const workspace = inMemory(files);
    let isFirst = true;
    const writeFile: Workspace["writeFile"] = async (target, request) => {
      const outcome = await workspace.writeFile(target, request);
      if (target.path.endsWith("b.ts") && isFirst) {
        isFirst = false;
        throw new Error("written, but not synced.");
      }
      return outcome;
    };
    const session = await staged({ ...workspace, writeFile });
    await expect(session.resolvePendingAction(apply)).rejects.toThrow("not synced. All files were restored.");
    expect(workspace.files).toEqual(files);
    await session.dispose();
  });
});

describe("undo", () => {
  it("takes a new file away again, and brings the mode back with the content", async () => {
    const workspace = inMemory({ "run.sh": "old\n" });
    const script = await workspace.resolve("run.sh", "write");
    await workspace.writeFile(script, { bytes: Buffer.from("old\n"), mode: 0o755 });
    const session = await open(workspace, [
      call("write", { path: "new.txt", content: "hello\n" }, "w1"),
      call("edit", { edits: [{ path: "run.sh", old_text: "old", new_text: "new" }] }, "w2"),
      say("Done."),
    ]);
    await session.prompt("go");
    expect(workspace.files).toEqual({ "new.txt": "hello\n", "run.sh": "new\n" });
    await session.undo({ apply: host });
    await session.undo({ apply: host });
    expect(workspace.files).toEqual({ "run.sh": "old\n" });
    expect(await workspace.stat(await workspace.resolve("run.sh", "read"))).toMatchObject({ mode: 0o755 });
    await session.redo({ apply: host });
    expect(workspace.files).toEqual({ "new.txt": "hello\n", "run.sh": "old\n" });
    await session.dispose();
  });

  it("says how long changes are kept where it finds none", async () => {
    const session = await open(inMemory(files), []);
    const limit = "The workspace of this session keeps changes only while the process runs.";
    await expect(session.undo()).rejects.toThrow(`Nothing to undo. ${limit}`);
    await expect(session.undo({ changeId: "ch_12345678" })).rejects.toThrow(
      `Change ch_12345678 can no longer be undone. ${limit}`,
    );
    await session.dispose();
  });

  it("keeps as many changes as the setting says", async () => {
    const workspace = inMemory(files);
    const settings = new Settings({ overrides: new Map([["undo.keep", 1]]) as never });
    const writes = ["one", "two"].map((name) => call("write", { path: name, content: name }, name));
    const session = await open(workspace, [...writes, say("Done.")], { settings });
    await session.prompt("go");
    expect((await session.getChanges()).map(({ files: [file] }) => file?.path)).toEqual(["two"]);
    await session.dispose();
  });
});

describe("an export", () => {
  it("is written into it, for its owner only, and replaces an earlier export only", async () => {
    const workspace = inMemory({ "notes.html": "mine" });
    const session = await open(workspace, [say("Good morning.")], { persist: true });
    await session.prompt("hello");
    expect(await session.exportToHtml("out/page.html")).toBe(join(cwd, "out/page.html"));
    expect(pageIn(workspace)).toContain("Good morning.");
    expect((await workspace.stat(await workspace.resolve("out/page.html", "read"))).mode).toBe(0o600);
    await session.exportToHtml("out/page.html");
    await expect(session.exportToHtml("notes.html")).rejects.toThrow(
      "notes.html exists and is not an earlier export; it is left as it is",
    );
    expect(workspace.files["notes.html"]).toBe("mine");
    expect(Object.keys(workspace.files)).toEqual(["notes.html", "out/page.html"]);
    await session.dispose();
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("does not replace a page that changed while it was made", async () => {
    const workspace = inMemory({});
    const changing: Workspace = {
      ...workspace,
      async writeFile(target, request) {
        if (target.kind === "file") await workspace.writeFile(target, { bytes: Buffer.from("<!doctype html>\n") });
        return workspace.writeFile(target, request);
      },
    };
    const session = await open(changing, [], { persist: true });
    await session.exportToHtml("page.html");
    await expect(session.exportToHtml("page.html")).rejects.toMatchObject({
      code: "file_changed",
      message: "page.html was changed by another program meanwhile; nothing was written",
    });
    await session.dispose();
  });
});

it("has no built-in tools for another directory, which would be on the disk", async () => {
  let refusal: unknown;
  const session = await open(inMemory({}), [], {
    extensions: [
      async (pi) => {
        const { createWriteTool } = pi.pi as unknown as { createWriteTool(cwd: string): unknown };
        expect(createWriteTool(cwd)).toMatchObject({ name: "write" });
        try {
          createWriteTool(home);
        } catch (error) {
          refusal = error;
        }
      },
    ],
  });
  await session.whenReady();
  expect(refusal).toMatchObject({
    code: "unsupported",
    message:
      "The host provides the workspace of this session, so tools can be made only for the session's own directory.",
  });
  await session.dispose();
});

function failing(workspace: Workspace, fails: (target: { path: string }) => boolean): Workspace {
  return {
    ...workspace,
    async writeFile(target, request) {
      if (fails(target)) throw new Error(`${target.displayPath} cannot be written here.`);
      return workspace.writeFile(target, request);
    },
  };
}

function pageIn({ files }: MemoryWorkspace): string {
  return String(files["out/page.html"]);
}

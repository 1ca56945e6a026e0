// The review verbs of the command line, each call a process of its own: what one leaves, the next one finds.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HelloProject } from "../kit/hello-project.js";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { galleyBin, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const project = new HelloProject();
const { galley, json, home, env } = project;
afterAll(project.remove);
beforeEach(() => project.renew());

const change = /ch_[0-9a-f]{8}/g;
const told = (text: string) => text.replace(change, "ch_X");

describe("a preview", () => {
  it("is applied, undone and redone from processes of their own: bytes, modes and times", async () => {
    const original = project.state();
    expect((await project.preview()).code).toBe(0);
    expect(project.state()).toEqual(original);
    const applied = await galley("apply", "pa_1");
    expect({ ...applied, stdout: told(applied.stdout) }).toEqual({
      code: 0,
      stdout:
        "Applied pa_1 as ch_X: AST Edit: 4 replacements in 2 files\n  modified  hello/greet.ts  +3 -5\n  modified  hello/main.ts   +2 -2\n",
      stderr: "",
    });
    const changed = project.state();
    expect(changed.map(({ mode }) => mode)).toEqual(original.map(({ mode }) => mode));
    expect(changed.map(({ text }) => text)).not.toEqual(original.map(({ text }) => text));
    const undone = (await galley("undo")).stdout;
    expect(undone).toMatch(/^--- a\/hello\/greet\.ts\n\+\+\+ b\/hello\/greet\.ts\n@@ /);
    expect(undone).toContain('-  logger.debug("greeting", name);\n');
    expect(undone).toMatch(
      /\n\nUndone: AST Edit: 4 replacements in 2 files\.\n {2}modified {2}hello\/greet\.ts {2}\+5 -3\n {2}modified {2}hello\/main\.ts {3}\+2 -2\n$/,
    );
    expect(project.state()).toEqual(original);
    const redone = (await galley("redo")).stdout;
    expect(redone).toContain('+  logger.debug("greeting", name);\n');
    expect(redone).toContain("\n\nRedone: AST Edit: 4 replacements in 2 files.\n");
    expect(project.state().map(({ text }) => text)).toEqual(changed.map(({ text }) => text));
    expect(await galley("redo")).toEqual({ code: 3, stdout: "", stderr: "galley: Nothing to redo.\n" });
  });

  it("is stale once another program wrote, and so is its undo: both say which file", async () => {
    await project.preview();
    const path = join(project.cwd, "hello/main.ts");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}// more\n`);
    const before = project.state();
    const stale = await galley("apply", "pa_1");
    expect(stale.code).toBe(3);
    expect(stale.stderr).toBe(
      "galley: Preview is stale: 1 of 2 files changed since the preview (hello/main.ts). Nothing was written. Run ast_edit again or discard. To make it anew for the files as they are: galley rebase pa_1\n",
    );
    expect((await galley("pending")).stdout).toMatch(/^pa_1 {2}stale ! /);
    expect(project.state()).toEqual(before);
    const sentence = stale.stderr.slice("galley: ".length, -1);
    expect(await json("apply", "pa_1")).toEqual({
      results: [{ id: "pa_1", outcome: "stale", text: sentence, error: sentence }],
    });
    writeFileSync(path, text);
    expect((await galley("apply", "pa_1")).code).toBe(0);
    writeFileSync(path, "mine\n");
    const undone = await galley("undo");
    expect([undone.code, told(undone.stderr)]).toEqual([
      3,
      "galley: Cannot undo ch_X: hello/main.ts was edited. Nothing was written. Another one can be undone by its id: galley changes lists them.\n",
    ]);
    expect(readFileSync(path, "utf8")).toBe("mine\n");
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("tells once what there is to say of the place, however many sessions it looks at", async () => {
    mkdirSync(join(project.cwd, ".galley/tools"), { recursive: true });
    writeFileSync(join(project.cwd, ".galley/tools/own.ts"), "export default () => [];\n");
    await project.preview();
    await galley("apply", "pa_1");
    const { code, stderr } = await galley("undo");
    expect([code, stderr.match(/not trusted/g)?.length]).toEqual([0, 1]);
  });

  it("keeps as many changes as the setting says", async () => {
    await galley("config", "set", "undo.keep", "1");
    await project.preview();
    await galley("apply", "pa_1");
    await project.preview("logger.debug($$$A)", "trace($$$A)");
    await galley("apply", "--all");
    expect((await galley("undo")).code).toBe(0);
    await galley("config", "set", "undo.keep", "50");
    expect(await galley("undo", "ch_00000000")).toMatchObject({
      code: 2,
      stderr:
        'galley: There is no change with id "ch_00000000" in this project. galley changes lists those that are kept.\n',
    });
  });
});

describe("every verb", () => {
  it("speaks text and JSON", async () => {
    expect(await galley("pending")).toEqual({ code: 0, stdout: "Nothing pending.\n", stderr: "" });
    await project.preview();
    expect((await galley("pending")).stdout).toBe(
      "pa_1  pending o  hello/greet.ts (+1)  +5 -7  ast_edit  just now  replace console.log($$$A) with logger.debug($$$A…\n",
    );
    expect(await json("pending")).toMatchObject({
      actions: [
        {
          id: "pa_1",
          name: "pa_1",
          status: "pending",
          session: expect.any(String),
          prompt: "replace console.log($$$A) with logger.debug($$$A) in hello",
          restsOn: [],
        },
      ],
    });
    const shown = await galley("show", "pa_1");
    expect(shown.stdout).toMatch(
      /^pa_1 {2}pending o {2}AST Edit: 4 replacements in 2 files\nast_edit, just now: replace console/,
    );
    expect(shown.stdout).toContain("\n\n  modify  hello/greet.ts  +3 -5  1 hunk\n");
    expect(shown.stdout).toContain('-  console.log("greeting", name);\n+  logger.debug("greeting", name);\n');
    expect(shown.stdout).not.toContain("\u001b");
    expect(await json("show", "pa_1")).toMatchObject({
      action: { files: [{ path: "hello/greet.ts", hunks: 1, diff: expect.stringMatching(/^--- a\/hello/) }, {}] },
    });
    expect((await galley("show", "1", "--stat")).stdout).toBe(
      "  modify  hello/greet.ts  +3 -5  1 hunk\n  modify  hello/main.ts   +2 -2  1 hunk\n2 files, +5 -7\n",
    );
    expect((await galley("show", "1", "--files", "hello/m*.ts")).stdout).toBe("hello/main.ts\n");
    expect(await json("apply", "pa_1", "--files", "hello/main.ts", "--reason", "main first")).toEqual({
      results: [
        {
          id: "pa_1",
          outcome: "applied",
          text: "Applied 1 of 2 hunks in 1 of 2 files (hello/main.ts).",
          changeId: expect.stringMatching(change),
          files: [{ path: "hello/main.ts", kind: "modify", added: 2, removed: 2 }],
        },
      ],
    });
    expect(await json("discard", "--all")).toMatchObject({ results: [{ id: "pa_1", outcome: "discarded" }] });
    const staged = await galley("undo", "--preview");
    expect(staged.code).toBe(0);
    expect(staged.stdout).toMatch(/^pa_2 {2}pending o {2}Undo: AST Edit: /);
    expect(staged.stdout).toMatch(/\nStaged as pa_2 – files NOT modified\. Apply it with: galley apply pa_2\n$/);
    const { text, change: undo } = await json("undo");
    expect([text, undo]).toMatchObject([expect.stringMatching(/^Undone: /), { sourceToolName: "undo" }]);
    const { changes = [] } = (await json("changes")) as { changes?: readonly { id: string }[] };
    expect(changes).toMatchObject([
      { state: "applied", by: "user", files: [{ path: "hello/main.ts" }] },
      { state: "undone", by: "user", reason: "main first" },
    ]);
    expect(told((await galley("changes")).stdout)).toMatch(
      /^ch_X {2}just now {2}user {2}applied v {2}\+2 -2 {2}hello\/main\.ts {2}Undo: .*\nch_X {2}just now {2}user {2}undone < {3}\+2 -2 {2}hello\/main\.ts {2}AST Edit: .*\n$/,
    );
    const [, { id } = { id: "" }] = changes;
    const ofChange = await galley("show", id.slice(0, 7));
    expect(ofChange.stdout).toMatch(
      /^ch_[0-9a-f]{8} {2}undone < {2}AST Edit: .*\ndecided by the user, just now: main first\n/,
    );
    expect(ofChange.stdout).toContain("+++ b/hello/main.ts\n");
    expect((await galley("show", id, "--files")).stdout).toBe("hello/main.ts\n");
  });

  it.each([
    [["show"], "Name one pending action or change to show."],
    [["apply"], "Name what to apply, or use --all."],
    [["discard", "pa_1", "--all"], "Name what to discard, or use --all."],
    [["apply", "pa_7"], 'No pending action with id "pa_7". Pending: none.'],
    [["show", "7"], 'No pending action with id "7". Pending: none.'],
    [["show", "ch_12"], 'There is no change with id "ch_12" in this project.'],
    [["apply", "src/x.ts"], 'No pending action with id "src/x.ts". Pending: none.'],
    [["pending", "--frob"], "Unknown option --frob."],
    [["pending", "pa_1"], "galley pending takes no names."],
    [["undo", "ch_1", "ch_2"], "galley undo takes one change at most."],
    [["undo", "ch_1", "--run"], "Name a change, or use --run."],
    [["apply", "--reason"], "--reason needs a value."],
    [["apply", "pa_1", "--hunks", "x.ts"], "--hunks x.ts is not of the form PATH:1,3."],
    [["rebase"], "Name one pending action to rebase."],
  ])("%j is wrong usage: 2", async (args, text) => {
    const { code, stdout, stderr } = await galley(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(text);
  });

  it("decides about files, directories, globs and hunks, and refuses what is not there before anything is decided", async () => {
    writeFileSync(join(project.cwd, "hello/far.ts"), `old(1);\n${"// far\n".repeat(20)}old(2);\n`);
    await project.preview();
    await project.preview("old($A)", "fresh($A)");
    const before = project.state();
    for (const [args, text] of [
      [
        ["pa_1", "hello/gone.ts"],
        'No file of pa_1 is meant by "hello/gone.ts". It has: hello/greet.ts, hello/main.ts.',
      ],
      [["pa_2", "--hunks", "hello/far.ts:3"], "hello/far.ts has no hunk 3; it has 2."],
      [["--all", "*.md"], 'No file of what is pending is meant by "*.md".'],
    ] as const) {
      const refused = await galley("apply", ...args);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toContain(text);
    }
    expect(project.state()).toEqual(before);
    expect(told((await galley("apply", "2", "--hunks", "hello/far.ts:2")).stdout)).toBe(
      "Applied a part of pa_2 as ch_X: AST Edit: 1 replacement in 1 file\n  modified  hello/far.ts  +1 -1\nThe rest is pending as pa_2: 1 file, +1 -1.\n",
    );
    expect(project.read("hello/far.ts")).toMatch(/^old\(1\);\n(?:\/\/ far\n){20}fresh\(2\);\n$/);
    const both = await galley("apply", "pa_1", "hello/greet.ts", "2", "hello/f*.ts");
    expect(told(both.stdout)).toMatch(
      /^Applied a part of pa_1 as ch_X: .*\n {2}modified {2}hello\/greet\.ts .*\nThe rest is pending as pa_1: 1 file, \+2 -2\.\nApplied pa_2 as ch_X: .*\n {2}modified {2}hello\/far\.ts .*\n$/,
    );
    expect((await galley("discard", "--all", "hello")).stdout).toMatch(/^Discarded pa_1: /);
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it.each(["flag", "variable", "setting"])("finds sessions in the directory that a %s chose", async (way) => {
    const { cwd } = project;
    const chosen = join(cwd, "kept");
    const flag = way === "flag" ? ["--session-dir", chosen] : [];
    const own = { ...env, GALLEY_AGENT_DIR: join(cwd, "agent") };
    const chosenEnv = way === "variable" ? { ...own, GALLEY_SESSION_DIR: chosen } : own;
    const there = (...args: string[]) => run(process.execPath, [galleyBin, ...args, ...flag], { env: chosenEnv, cwd });
    if (way === "setting") await there("config", "set", "sessionDir", chosen);
    const staged = await there("-p", "replace console.log($$$A) with logger.debug($$$A) in hello");
    expect(staged.code).toBe(0);
    const also = way === "flag" ? ` --session-dir ${chosen}` : "";
    expect(staged.stderr).toContain(`Decide with  galley apply pa_1${also}  or  galley discard pa_1${also}\n`);
    expect((await there("pending")).stdout).toMatch(/^pa_1 {2}pending /);
    expect((await there("sessions", "list")).stdout).toMatch(/ messages {2}replace console/);
    expect((await there("sessions", "list", "--all")).stdout).toMatch(/ messages {2}replace console/);
    expect((await there("sessions", "gc")).stdout).toMatch(/^Removed 0 images/);
    expect((await there("apply", "pa_1")).stdout).toMatch(/^Applied pa_1 as ch_/);
    expect((await there("undo")).stdout).toContain("\n\nUndone: AST Edit: 4 replacements in 2 files.\n");
    expect((await there("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("tells what it did, whatever stopped the rest", async () => {
    const held = new RpcHost({
      args: ["--cwd", project.cwd],
      env: { HOME: home, GALLEY_AGENT_DIR: join(home, ".galley/agent") },
    });
    try {
      await project.preview();
      held.send({ id: "p", type: "prompt", message: "replace shout($A) with loud($A) in hello" });
      await held.waitForType("agent_settled");
      const applied = await galley("apply", "--all", "--json");
      expect(applied.code).toBe(3);
      const open = expect.stringMatching(/^Session is open in another galley/);
      expect(JSON.parse(applied.stdout)).toMatchObject({
        results: [
          { id: "pa_1", outcome: "applied", text: "Applied 4 replacements in 2 files." },
          { id: "pa_2", outcome: "failed", text: open, error: open },
        ],
      });
      expect(applied.stderr).toMatch(/^galley: Session is open in another galley.*\n$/m);
      await project.preview("logger.debug($$$A)", "trace($$$A)");
      held.send({ id: "q", type: "prompt", message: "help" }); // so that the one that is open comes first
      await held.waitForType("agent_settled");
      const discarded = await galley("discard", "--all", "--json");
      expect(discarded.code).toBe(3);
      const { results } = JSON.parse(discarded.stdout) as { results: { outcome: string }[] };
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(["discarded", "failed"]);
    } finally {
      await held.dispose();
    }
  });

  it("ends with 6 where the place may not be written any more", async () => {
    const elsewhere = join(home, `elsewhere${project.number}`);
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "x.ts"), "old(1);\n");
    await galley("config", "set", "workspace.roots", JSON.stringify([elsewhere]));
    expect((await galley("-p", `replace old($A) with fresh($A) in ${elsewhere}/x.ts`)).code).toBe(0);
    await galley("config", "set", "workspace.roots", "[]");
    for (const part of [[], ["--files", join(elsewhere, "x.ts")]])
      expect(await galley("apply", "pa_1", ...part)).toMatchObject({ code: 6, stdout: "" });
    await galley("config", "set", "workspace.roots", JSON.stringify([elsewhere]));
    expect((await galley("apply", "pa_1")).code).toBe(0);
    await galley("config", "set", "workspace.roots", "[]");
    expect(await galley("undo")).toMatchObject({ code: 6, stdout: "" });
    expect(readFileSync(join(elsewhere, "x.ts"), "utf8")).toBe("fresh(1);\n");
  });

  it("says why a session may only be read, and that it is open elsewhere only where it is", async () => {
    const kept = ["--session-dir", join(project.cwd, "kept")];
    await galley("-p", "replace shout($A) with loud($A) in hello", ...kept);
    const [name = ""] = readdirSync(join(project.cwd, "kept")).filter((file) => file.endsWith(".jsonl"));
    const path = join(project.cwd, "kept", name);
    writeFileSync(path, readFileSync(path, "utf8").replace('"version":3', '"version":4'));
    const { code, stderr } = await galley("apply", "pa_1", ...kept);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^galley: The session cannot be changed here: Session version 4 is newer than supported \(3\)\. Nothing was decided\.$/m,
    );
    expect(stderr).not.toContain("another galley");
  });

  it("takes back what a session did whose files are gone: in a new one, which keeps a preview of it", async () => {
    const original = project.state();
    const kept = ["--session-dir", join(project.cwd, "kept")];
    await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello", ...kept);
    rmSync(join(project.cwd, "kept"), { recursive: true });
    const staged = await galley("undo", "--preview", ...kept);
    const [, id = ""] = /\nStaged as (pa_\d+) /.exec(staged.stdout) ?? [];
    expect((await galley("apply", id, ...kept)).stdout).toMatch(
      /^Applied pa_\d+ as ch_\w+: Undo: AST Edit: 4 replacements/,
    );
    expect(project.state()).toEqual(original);
    rmSync(join(project.cwd, "kept"), { recursive: true });
    expect((await galley("redo", ...kept)).code).toBe(0);
    expect(project.state()).not.toEqual(original);
  });

  it("the hint of a preview finds it, wherever the sessions of the change and of the preview are kept", async () => {
    const kept = ["--session-dir", "my kept"];
    await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello", ...kept);
    const there = await galley("undo", "--preview", ...kept);
    expect(there.stdout).toMatch(/Apply it with: galley apply pa_2 --session-dir 'my kept'\n$/);
    const here = await json("undo", "--preview");
    const [, hint = ""] = /Apply it with: galley (.+)$/.exec(here.text ?? "") ?? [];
    expect((await galley(...hint.split(" "))).stdout).toMatch(
      /^Applied pa_3 as ch_\w+: Undo: AST Edit: 4 replacements/,
    );
  });

  it("takes back what a session without a file did, and what the SDK's function did", async () => {
    const original = project.state();
    await galley("--no-session", "--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello");
    expect(project.state()).not.toEqual(original);
    expect((await galley("undo")).stdout).toContain("\n\nUndone: AST Edit: 4 replacements in 2 files.\n");
    expect(project.state()).toEqual(original);
    const ops = [{ pat: "console.log($$$A)", out: "trace($$$A)" }];
    const script = `import { astEdit } from ${JSON.stringify(join(projectRoot, "dist/sdk.js"))};
      console.log((await astEdit(${JSON.stringify({ ops, dryRun: false })})).totalReplacements);`;
    const args = ["--input-type=module", "-e", script];
    const { cwd } = project;
    expect(await run(process.execPath, args, { env, cwd })).toEqual({ code: 0, stdout: "4\n", stderr: "" });
    expect((await galley("undo")).code).toBe(0);
    expect(project.state()).toEqual(original);
  });

  it("a run with --yes applies what it staged, and --stage leaves everything to the user", async () => {
    expect((await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello")).code).toBe(0);
    expect(project.read("hello/greet.ts")).toContain("trace(");
    const before = project.state();
    await galley("--stage", "-p", "run touch made");
    expect(project.state()).toEqual(before);
    expect((await galley("--access", "full", "-p", "run touch made")).code).toBe(0);
    expect(readdirSync(project.cwd)).toContain("made");
  });
});

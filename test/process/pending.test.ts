// The pending verbs of the command line, each call a process of its own: what one leaves, the next one finds.

import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, type Outcome, projectRoot, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

let cwd = "";
let number = 0;
beforeEach(() => {
  cwd = join(home, `project${++number}`);
  mkdirSync(cwd);
  cpSync(join(projectRoot, "examples/hello"), join(cwd, "hello"), { recursive: true });
  chmodSync(join(cwd, "hello/greet.ts"), 0o755);
  // Whole microseconds, as times are set back: of what is finer a copy would have some, and be rounded up or down.
  for (const name of readdirSync(join(cwd, "hello")))
    utimesSync(join(cwd, "hello", name), 1_600_000_000.123456, 1_600_000_000.123456);
});

const galley = (...args: string[]): Promise<Outcome> => run(process.execPath, [galleyBin, ...args], { env, cwd });
const json = async (...args: string[]) => JSON.parse((await galley(...args, "--json")).stdout) as Record<string, never>;
const preview = (pattern = "console.log($$$A)", out = "logger.debug($$$A)") =>
  galley("-p", `replace ${pattern} with ${out} in hello`);

function state() {
  return readdirSync(join(cwd, "hello")).map((name) => {
    const path = join(cwd, "hello", name);
    const { mode, mtimeMs } = statSync(path);
    return { name, text: readFileSync(path, "utf8"), mode, modified: Math.round(mtimeMs * 1000) };
  });
}

describe("a preview", () => {
  it("is applied, undone and redone from processes of their own: bytes, modes and times", async () => {
    const original = state();
    expect((await preview()).code).toBe(5);
    expect(state()).toEqual(original);
    expect(await galley("apply", "pa_1")).toEqual({
      code: 0,
      stdout: "Applied 4 replacements in 2 files.\n",
      stderr: "",
    });
    const changed = state();
    expect(changed.map(({ mode }) => mode)).toEqual(original.map(({ mode }) => mode));
    expect(changed.map(({ text }) => text)).not.toEqual(original.map(({ text }) => text));
    const undone = (await galley("undo")).stdout;
    expect(undone).toMatch(/^--- a\/hello\/greet\.ts\n\+\+\+ b\/hello\/greet\.ts\n@@ /);
    expect(undone).toContain('-  logger.debug("greeting", name);\n');
    expect(undone).toMatch(/\n\nUndone: AST Edit: 4 replacements in 2 files\.\n$/);
    expect(state()).toEqual(original);
    const redone = (await galley("redo")).stdout;
    expect(redone).toContain('+  logger.debug("greeting", name);\n');
    expect(redone).toMatch(/\n\nRedone: AST Edit: 4 replacements in 2 files\.\n$/);
    expect(state().map(({ text }) => text)).toEqual(changed.map(({ text }) => text));
    expect(await galley("redo")).toEqual({ code: 3, stdout: "", stderr: "galley: Nothing to redo.\n" });
  });

  it("is stale once somebody edited, and its undo as well", async () => {
    await preview();
    const path = join(cwd, "hello/main.ts");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}// more\n`);
    const before = state();
    const stale = await galley("apply", "pa_1");
    expect(stale.code).toBe(3);
    expect(stale.stderr).toBe(
      "galley: Preview is stale: 1 of 2 files changed since the preview (hello/main.ts). Nothing was written. Run ast_edit again or discard.\n",
    );
    expect(state()).toEqual(before);
    const sentence = stale.stderr.slice("galley: ".length, -1);
    expect(await json("apply", "pa_1")).toEqual({
      results: [{ id: "pa_1", outcome: "stale", text: sentence, error: sentence }],
    });
    writeFileSync(path, text);
    expect((await galley("apply", "pa_1")).code).toBe(0);
    writeFileSync(path, "mine\n");
    expect((await galley("undo")).code).toBe(3);
    expect(readFileSync(path, "utf8")).toBe("mine\n");
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("tells once what there is to say of the place, however many sessions it looks at", async () => {
    mkdirSync(join(cwd, ".galley/tools"), { recursive: true });
    writeFileSync(join(cwd, ".galley/tools/own.ts"), "export default () => [];\n");
    await preview();
    await galley("apply", "pa_1");
    const { code, stderr } = await galley("undo");
    expect([code, stderr.match(/not trusted/g)?.length]).toEqual([0, 1]);
  });

  it("keeps as many changes as the setting says", async () => {
    await galley("config", "set", "undo.keep", "1");
    await preview();
    await galley("apply", "pa_1");
    await preview("logger.debug($$$A)", "trace($$$A)");
    await galley("apply", "--all");
    expect((await galley("undo")).code).toBe(0);
    await galley("config", "set", "undo.keep", "50");
    expect(await galley("undo", "ch_00000000")).toMatchObject({
      code: 3,
      stderr: "galley: Change ch_00000000 can no longer be undone.\n",
    });
  });
});

describe("every verb", () => {
  it("speaks text and JSON", async () => {
    expect(await galley("pending")).toEqual({ code: 0, stdout: "Nothing pending.\n", stderr: "" });
    await preview();
    expect((await galley("pending")).stdout).toBe(
      "pa_1  pending  AST Edit: 4 replacements in 2 files  (ast_edit, just now)\n",
    );
    expect(await json("pending")).toMatchObject({
      actions: [{ id: "pa_1", status: "pending", session: expect.any(String) }],
    });
    const shown = await galley("show", "pa_1");
    expect(shown.stdout).toContain("  modify hello/greet.ts (+3 -5)\n");
    expect(shown.stdout).toContain('-  console.log("greeting", name);\n+  logger.debug("greeting", name);\n');
    expect(shown.stdout).not.toContain("\u001b");
    expect(await json("show", "pa_1")).toMatchObject({ action: { files: [{ path: "hello/greet.ts", hunks: 1 }, {}] } });
    expect(await json("apply", "pa_1", "--files", "hello/main.ts", "--reason", "main first")).toEqual({
      results: [{ id: "pa_1", outcome: "applied", text: "Applied 1 of 2 hunks in 1 of 2 files (hello/main.ts)." }],
    });
    expect(await json("discard", "--all")).toMatchObject({ results: [{ id: "pa_1", outcome: "discarded" }] });
    const staged = await galley("undo", "--preview");
    expect(staged.code).toBe(5);
    expect(staged.stdout).toContain("Undo: AST Edit: 2 replacements in 1 file\n  modify hello/main.ts (+2 -2)\n");
    expect(await json("undo")).toMatchObject({
      text: expect.stringMatching(/^Undone: /),
      change: { sourceToolName: "undo" },
    });
  });

  it.each([
    [["show"], "Name one pending action to show."],
    [["apply"], "Name what to apply, or use --all."],
    [["discard", "pa_1", "--all"], "Name what to discard, or use --all."],
    [["apply", "pa_7"], 'No pending action with id "pa_7". Pending: none.'],
    [["show", "pa_7"], 'No pending action with id "pa_7". Pending: none.'],
    [["pending", "--frob"], "Unknown option --frob."],
    [["undo", "a", "b"], "galley undo takes one change at most."],
    [["apply", "--reason"], "--reason needs a value."],
  ])("%j is wrong usage: 2", async (args, text) => {
    const { code, stdout, stderr } = await galley(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(text);
  });

  it("asks which session is meant where two have the same id", async () => {
    await preview();
    await preview("shout($A)", "loud($A)");
    const ambiguous = await galley("show", "pa_1");
    expect(ambiguous.code).toBe(2);
    const [, name = ""] = /Name one: ([^,]+),/.exec(ambiguous.stderr) ?? [];
    expect((await galley("show", name)).code).toBe(0);
    expect((await galley("discard", "--all")).stdout.match(/^Discarded: /gm)).toHaveLength(2);
  });

  it.each(["flag", "variable", "setting"])("finds sessions in the directory that a %s chose", async (way) => {
    const chosen = join(cwd, "kept");
    const flag = way === "flag" ? ["--session-dir", chosen] : [];
    const own = { ...env, GALLEY_AGENT_DIR: join(cwd, "agent") };
    const chosenEnv = way === "variable" ? { ...own, GALLEY_SESSION_DIR: chosen } : own;
    const there = (...args: string[]) => run(process.execPath, [galleyBin, ...args, ...flag], { env: chosenEnv, cwd });
    if (way === "setting") await there("config", "set", "sessionDir", chosen);
    const staged = await there("-p", "replace console.log($$$A) with logger.debug($$$A) in hello");
    expect(staged.code).toBe(5);
    const also = way === "flag" ? `, each with --session-dir ${chosen}` : "";
    expect(staged.stderr).toContain(`decide with galley apply ID or galley discard ID${also}.\n`);
    expect((await there("pending")).stdout).toMatch(/^pa_1 {2}pending /);
    expect((await there("sessions", "list")).stdout).toMatch(/ messages {2}replace console/);
    expect((await there("sessions", "list", "--all")).stdout).toMatch(/ messages {2}replace console/);
    expect((await there("sessions", "gc")).stdout).toMatch(/^Removed 0 images/);
    expect((await there("apply", "pa_1")).stdout).toBe("Applied 4 replacements in 2 files.\n");
    expect((await there("undo")).stdout).toMatch(/\n\nUndone: AST Edit: 4 replacements in 2 files\.\n$/);
    expect((await there("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("tells what it did, whatever stopped the rest", async () => {
    const held = new RpcHost({
      args: ["--cwd", cwd],
      env: { HOME: home, GALLEY_AGENT_DIR: join(home, ".galley/agent") },
    });
    try {
      held.send({ id: "p", type: "prompt", message: "replace shout($A) with loud($A) in hello" });
      await held.waitForType("agent_settled");
      await preview();
      const applied = await galley("apply", "--all", "--json");
      expect(applied.code).toBe(3);
      const open = expect.stringMatching(/^Session is open in another galley/);
      expect(JSON.parse(applied.stdout)).toEqual({
        results: [
          { id: "pa_1", outcome: "applied", text: "Applied 4 replacements in 2 files." },
          { id: "pa_1", outcome: "failed", text: open, error: open },
        ],
      });
      expect(applied.stderr).toMatch(/^galley: Session is open in another galley.*\n$/m);
      await preview("logger.debug($$$A)", "trace($$$A)");
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
    const elsewhere = join(home, `elsewhere${number}`);
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "x.ts"), "old(1);\n");
    await galley("config", "set", "workspace.roots", JSON.stringify([elsewhere]));
    expect((await galley("-p", `replace old($A) with fresh($A) in ${elsewhere}/x.ts`)).code).toBe(5);
    await galley("config", "set", "workspace.roots", "[]");
    for (const part of [[], ["--files", join(elsewhere, "x.ts")]])
      expect(await galley("apply", "pa_1", ...part)).toMatchObject({ code: 6, stdout: "" });
    await galley("config", "set", "workspace.roots", JSON.stringify([elsewhere]));
    expect((await galley("apply", "pa_1")).code).toBe(0);
    await galley("config", "set", "workspace.roots", "[]");
    expect(await galley("undo")).toMatchObject({ code: 6, stdout: "" });
    expect(readFileSync(join(elsewhere, "x.ts"), "utf8")).toBe("fresh(1);\n");
  });

  it("says why a session may only be read, and who has it open only where somebody has", async () => {
    const kept = ["--session-dir", join(cwd, "kept")];
    await galley("-p", "replace shout($A) with loud($A) in hello", ...kept);
    const [name = ""] = readdirSync(join(cwd, "kept")).filter((file) => file.endsWith(".jsonl"));
    const path = join(cwd, "kept", name);
    writeFileSync(path, readFileSync(path, "utf8").replace('"version":3', '"version":4'));
    const { code, stderr } = await galley("apply", "pa_1", ...kept);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^galley: The session cannot be changed here: Session version 4 is newer than supported \(3\)\. Nothing was decided\.$/m,
    );
    expect(stderr).not.toContain("another galley");
  });

  it("takes back what a session did whose files are gone: in a new one, which keeps a preview of it", async () => {
    const original = state();
    const kept = ["--session-dir", join(cwd, "kept")];
    await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello", ...kept);
    rmSync(join(cwd, "kept"), { recursive: true });
    expect((await galley("undo", "--preview", ...kept)).code).toBe(5);
    expect((await galley("apply", "pa_1", ...kept)).stdout).toMatch(/^Undone: AST Edit: 4 replacements/);
    expect(state()).toEqual(original);
    rmSync(join(cwd, "kept"), { recursive: true });
    expect((await galley("redo", ...kept)).code).toBe(0);
    expect(state()).not.toEqual(original);
  });

  it.each(["undo", "redo"])("%s --preview of another directory's session is found and applied here", async (verb) => {
    const inHello = (...args: string[]) =>
      run(process.execPath, [galleyBin, ...args], { env, cwd: join(cwd, "hello") });
    mkdirSync(join(cwd, ".git"));
    await inHello("--yes", "-p", "replace console.log($$$A) with trace($$$A) in .");
    if (verb === "redo") await inHello("undo");
    const before = state();
    const { code, stdout } = await galley(verb, "--preview");
    expect(code).toBe(5);
    const [, hint = ""] = /Apply it with: galley (.+)\n$/.exec(stdout) ?? [];
    await preview("shout($A)", "loud($A)"); // another session with an action of this number
    expect((await galley("pending")).stdout.match(/^pa_1 /gm)).toHaveLength(2);
    expect((await galley(...hint.split(" "))).code).toBe(0);
    expect(state()).not.toEqual(before);
    expect((await inHello("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("the hint of a preview finds it, wherever the sessions of the change and of the preview are kept", async () => {
    const kept = ["--session-dir", "my kept"];
    await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello", ...kept);
    const there = await galley("undo", "--preview", ...kept);
    expect(there.stdout).toMatch(/Apply it with: galley apply pa_2 --session-dir 'my kept'\n$/);
    const here = await json("undo", "--preview");
    const [, hint = ""] = /Apply it with: galley (.+)$/.exec(here.text ?? "") ?? [];
    expect((await galley(...hint.split(" "))).stdout).toMatch(/^Undone: AST Edit: 4 replacements/);
  });

  it("takes back what a session without a file did, and what the SDK's function did", async () => {
    const original = state();
    await galley("--no-session", "--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello");
    expect(state()).not.toEqual(original);
    expect((await galley("undo")).stdout).toMatch(/\n\nUndone: AST Edit: 4 replacements in 2 files\.\n$/);
    expect(state()).toEqual(original);
    const ops = [{ pat: "console.log($$$A)", out: "trace($$$A)" }];
    const script = `import { astEdit } from ${JSON.stringify(join(projectRoot, "dist/sdk.js"))};
      console.log((await astEdit(${JSON.stringify({ ops, dryRun: false })})).totalReplacements);`;
    const args = ["--input-type=module", "-e", script];
    expect(await run(process.execPath, args, { env, cwd })).toEqual({ code: 0, stdout: "4\n", stderr: "" });
    expect((await galley("undo")).code).toBe(0);
    expect(state()).toEqual(original);
  });

  it("tells of what was settled along with another action", async () => {
    for (const action of ["discard", "apply"]) {
      await galley("--stage", "-p", "replace shout($A) with mid($A) in hello");
      await galley("--stage", "--continue", "-p", "replace mid($A) with loud($A) in hello");
      const [upper, lower] = action === "apply" ? ["pa_2", "pa_1"] : ["pa_1", "pa_2"];
      const { results } = await json(action, upper, ...(action === "apply" ? [lower] : []));
      const outcome = action === "apply" ? "applied" : "discarded";
      expect(results).toMatchObject([
        { id: upper, outcome, text: expect.stringContaining(` with it: ${lower} AST Edit`) },
        { id: lower, outcome, text: action === "apply" ? `Needed by ${upper}.` : `Depends on ${upper}.` },
      ]);
      expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
    }
  });

  it("a run with --yes applies what it staged, and --stage leaves everything to the user", async () => {
    expect((await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello")).code).toBe(0);
    expect(readFileSync(join(cwd, "hello/greet.ts"), "utf8")).toContain("trace(");
    const refused = await galley("--stage", "-p", "run touch made");
    expect(refused.stderr).toContain("Refused: commands bypass staging. Use --allow-exec to permit them.");
    expect((await galley("--stage", "--allow-exec", "-p", "run touch made")).code).toBe(0);
    expect(readdirSync(cwd)).toContain("made");
  });
});

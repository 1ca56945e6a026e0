// A plan as a staged command makes it, in the hands of the review verbs: types are shown, git's own data is one line, what
// is protected needs the user's word, and the shown diff is one that `git apply` takes.

import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Plan } from "../../src/plans/plan.js";
import { withSessionFile } from "../../src/sdk/pending-sessions.js";
import { keepSession } from "../../src/sdk/review/stage-undo.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";
import { directory, file, link, lookBelow, planBetween, type Tree, treeOf } from "../kit/typed-trees.js";

beforeAll(ensureBuilt, 150_000);

const hasGit = spawnSync("git", ["--version"]).status === 0;
const before = treeOf({
  "cart.ts": file("one\ntwo\nthree\n"),
  "old/two.txt": file("gone\n", 0o755),
  "run.sh": file("#!/bin/sh\n"),
  "logo.png": file("\0\u0001\u0002"),
  "price.ts": file("was a file\n"),
  ".git/HEAD": file("ref: refs/heads/main\n"),
  ".git/config": file("[core]\n"),
  ".git/refs/heads/main": file(`${"1a2b3c4".padEnd(40, "0")}\n`),
});
const after = treeOf({
  "cart.ts": file("one\n2\nthree\n"),
  "money.ts": file("export {};\n"),
  "run.sh": file("#!/bin/sh\n", 0o755),
  "logo.png": file("\0\u0001\u0002\u0003"),
  "price.ts": link("money.ts"),
  empty: directory(0o700),
  ".git/HEAD": file("ref: refs/heads/main\n"),
  ".git/config": file("[core]\n"),
  ".git/refs/heads/main": file(`${"5d6e7f8".padEnd(40, "0")}\n`),
  ".git/index": file("DIRC"),
  ".git/objects/5d/6e7f8": file("x"),
  ".git/objects/aa/bbbbb": file("y"),
});

describe("E-9: the plan of a command", () => {
  let cwd = "";
  let env: NodeJS.ProcessEnv = {};
  let agentDir = "";

  beforeEach(() => {
    const made = emptyHome();
    env = { ...made.env, TMPDIR: process.env.TMPDIR };
    // Sessions are filed by what these say, and some are made in this process.
    vi.stubEnv("HOME", made.home);
    cwd = join(made.home, "shop");
    agentDir = join(made.home, ".galley/agent");
    mkdirSync(cwd);
    makeTree(before);
  });

  afterEach(() => void vi.unstubAllEnvs());

  function makeTree(tree: Tree): void {
    for (const path of Object.keys(tree).sort()) {
      const { type, text, mode } = tree[path] as Tree[string];
      if (type === "directory") mkdirSync(join(cwd, path), { mode });
      else if (type === "symlink") symlinkSync(text, join(cwd, path));
      else writeFileSync(join(cwd, path), Buffer.from(text, "latin1"), { mode });
    }
  }

  const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });

  async function stage(tree: Tree, more: (plan: Plan) => Plan = (plan) => plan): Promise<void> {
    const changes = planBetween(cwd, before, tree);
    const plan = more({ changes, applied: { text: "Done." }, fromCommand: true });
    await withSessionFile({ cwd, agentDir }, undefined, async (session) => {
      const work = { kind: "plan" as const, plan };
      session.stagePendingAction({ label: "bash: make", sourceToolName: "bash", work, isForReview: true });
      keepSession(session, "make");
    });
  }

  const withoutGit = (tree: Tree): Tree =>
    Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith(".git")));

  it("is shown with types, modes and sizes, and git's data in one line", async () => {
    await stage(after);
    const { stdout, code } = await galley("show", "pa_1");
    expect(code).toBe(0);
    for (const row of [
      /create {2}empty\/ +mode 700/,
      /modify {2}price\.ts -> money\.ts/,
      /modify {2}run\.sh .*mode 644 → 755/,
      / {2}git: main 1a2b3c4 → 5d6e7f8, 2 objects, index\n/,
      /\ndeleted file mode 100755\n/,
      /\nnew file mode 120000\n/,
      /\nBinary files a\/logo\.png and b\/logo\.png differ \(3 → 4 bytes\)\n/,
      /\nDirectory empty: created, mode 700\n/,
    ])
      expect(stdout).toMatch(row);
    expect(stdout).not.toContain(".git/objects");
  });

  it("is applied whole, git's data included, and an undo restores every byte, type, mode and empty directory", async () => {
    await stage(after);
    expect(lookBelow(cwd)).toEqual(before);
    const applied = await galley("apply", "--all");
    expect([applied.code, applied.stderr]).toEqual([0, ""]);
    expect(lookBelow(cwd)).toEqual(after);
    const undone = await galley("undo");
    expect([undone.code, undone.stderr]).toEqual([0, ""]);
    expect(lookBelow(cwd)).toEqual(before);
  });

  it.skipIf(!hasGit)("has a shown diff that git apply turns into the same tree (skipped without git)", async () => {
    const text: Tree = { ...withoutGit(after), "logo.png": before["logo.png"] as Tree[string] };
    await stage({ ...text, ...Object.fromEntries(Object.entries(before).filter(([path]) => path.startsWith(".git"))) });
    const { stdout } = await galley("show", "pa_1");
    const copy = `${cwd}-copy`;
    cpSync(cwd, copy, { recursive: true, verbatimSymlinks: true });
    rmSync(join(copy, ".git"), { recursive: true });
    execFileSync("git", ["init", "-q", copy]);
    const done = spawnSync("git", ["apply", "-"], { cwd: copy, input: stdout, encoding: "utf8" });
    expect(done.stderr).toBe("");
    rmSync(join(copy, ".git"), { recursive: true });
    const { empty: _, ...wanted } = text; // git knows no empty directories
    const names = Object.keys(wanted).filter((path) => path !== "old");
    expect(Object.keys(lookBelow(copy)).sort()).toEqual(names.sort());
    expect(readlinkSync(join(copy, "price.ts"))).toBe("money.ts");
    expect(lstatSync(join(copy, "run.sh")).mode & 0o111).not.toBe(0);
    expect(readFileSync(join(copy, "cart.ts"), "utf8")).toBe("one\n2\nthree\n");
  });

  it("is written with protected paths only by the user's own word", async () => {
    const tree = treeOf({ ...after, ".envrc": file("export X=1\n"), ".git/config": file("[alias]\n") });
    const guarded = [".envrc", ".git/config"];
    const mark = (plan: Plan): Plan => ({
      ...plan,
      changes: plan.changes.map((change) =>
        guarded.includes(change.stamp.path) ? { ...change, protected: true as const } : change,
      ),
    });
    await stage(tree, mark);
    expect((await galley("show", "pa_1")).stdout).toMatch(/create {2}\.envrc .*protected/);
    const refusals = [
      ["apply", "pa_1"],
      ["apply", "--all"],
      ["apply", "pa_1", ".envrc"],
    ];
    for (const words of refusals) {
      const { code, stderr } = await galley(...words);
      expect([words, code]).toEqual([words, 6]);
      expect(stderr).toContain("protected paths (.envrc");
      expect(stderr).toContain("To write them too: galley apply pa_1 --protected");
      expect(lookBelow(cwd)).toEqual(before);
    }
    expect((await galley("apply", "--all", "--protected")).code).toBe(2);
    // What is not protected can be written without them.
    expect((await galley("apply", "pa_1", "money.ts")).code).toBe(0);
    expect(existsSync(join(cwd, "money.ts"))).toBe(true);
    expect((await galley("apply", "pa_1", "--protected")).code).toBe(0);
    expect(lookBelow(cwd)).toEqual(tree);
    const undo = await galley("undo");
    expect([undo.code, lookBelow(cwd)]).toEqual([6, tree]);
    expect((await galley("undo", "--protected")).code).toBe(0);
    expect(readFileSync(join(cwd, ".git/config"), "utf8")).toBe("[core]\n");
  });

  it("does not get past protection by being a command's: what is not marked, and is not git's own data, is refused", async () => {
    const hook = treeOf({ ...before, ".git/hooks/pre-commit": file("#!/bin/sh\n", 0o755) });
    await stage(hook);
    const refused = await galley("apply", "pa_1", "--protected");
    expect([refused.code, lookBelow(cwd)]).toEqual([6, before]);
    expect(refused.stderr).toContain(
      "Cannot write .git/hooks/pre-commit: it is protected and only the user may change it.",
    );
  });

  it("takes the directories that a chosen file needs", async () => {
    const tree = treeOf({
      ...before,
      made: directory(0o700),
      "made/deep/x.txt": file("x\n"),
      "price.ts": directory(),
      "price.ts/y.txt": file("y\n"),
    });
    await stage(tree);
    expect((await galley("apply", "pa_1", "made/deep/x.txt", "price.ts/y.txt")).code).toBe(0);
    expect(lookBelow(cwd)).toEqual(tree);
  });
});

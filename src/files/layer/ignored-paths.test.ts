import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRig, noViews, type Rig, shortForm, stagedAfter, type Tree, viewTitle } from "./layer.test-kit.js";
import type { RunInView } from "./view-programs.js";

function git(root: string, ...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: root,
    env,
    stdio: "pipe",
  });
}

async function createRepository(tree: Tree, options: Parameters<typeof createRig>[1] = {}): Promise<Rig> {
  const rig = await createRig(tree, options);
  git(rig.root, "init", "-q");
  git(rig.root, "add", "-A");
  git(rig.root, "commit", "-q", "-m", "start");
  return rig;
}

const noGit: RunInView = () => Promise.reject(new Error("no git here"));
const withoutGit = (effects: string[]) => effects.filter((text) => !/ \.git(\/|$)/.test(text));

describe.skipIf(noViews !== undefined)(`ignored files${viewTitle}`, () => {
  const tree = { ".gitignore": "build/\n*.log\n", "src/a": "1\n" };

  it.each([
    ["git", {}],
    ["no git", { runInView: noGit }],
  ])("are in the view and not in the plan: %s", async (_, options) => {
    const { root, run, view } = await createRepository(tree, options);
    const first = await run(
      "mkdir -p build/x sub; echo out > build/x/o; echo l > sub/a.log; echo s > sub/s; echo m >> src/a",
    );
    expect(shortForm(first, root)).toEqual(["M src/a", "A sub/s"]);
    expect(first.kept).toEqual({ files: 2, bytes: 6 });
    expect(view.keptPaths()).toEqual([join(root, "build/x/o"), join(root, "sub/a.log")]);
    expect(readFileSync(view.keptFile(join(root, "build/x/o")) ?? "", "utf8")).toBe("out\n");
    expect(view.keptFile(join(root, "src/a"))).toBeUndefined();
    expect(view.keptFile(join(root, "build/x"))).toBeUndefined();
    const next = await run("cat build/x/o sub/a.log src/a; rm sub/a.log", { staged: stagedAfter(first.effects) });
    expect(next).toMatchObject({ effects: [], output: "out\nl\n1\nm\n", kept: { files: 1, bytes: 4 } });
    // After a discard: the directory of a kept file is no effect of a command.
    const last = await run("ls -A . build/x");
    expect(last.effects).toEqual([]);
    expect(last.output).toContain("build/x:\no\n");
  });

  it("knows that a tracked file is not ignored", async () => {
    const { root, run } = await createRepository({ ...tree, "x.log": "tracked\n", "build/keep": "tracked\n" });
    git(root, "add", "-f", "x.log", "build/keep");
    git(root, "commit", "-q", "-m", "more");
    const found = await run("echo 2 > x.log; echo 2 > build/keep; echo 2 > build/new; rm -f src/a");
    expect(shortForm(found, root)).toEqual(["M build/keep", "D src/a", "M x.log"]);
    expect(found.kept.files).toBe(1);
  });

  it("follows the rules as the command leaves them", async () => {
    const { root, run } = await createRepository(tree);
    const found = await run("echo 'dist/' >> .gitignore; mkdir dist; echo d > dist/d; echo l > dist/.log");
    expect(shortForm(found, root)).toEqual(["M .gitignore"]);
    expect(found.kept.files).toBe(2);
  });

  it("keeps a deleted ignored file on the disk, and its directory", async () => {
    const { root, run } = await createRepository(tree);
    writeFileSync(join(root, "src/x.log"), "log");
    const found = await run("rm -r src; ls");
    expect(shortForm(found, root)).toEqual(["D src/a"]);
    expect(found.output).toBe("");
  });

  it("can be planned, or dropped", async () => {
    const planned = await createRepository(tree, { ignored: "plan" });
    const all = await planned.run("mkdir build; echo o > build/o; echo l > a.log");
    expect(shortForm(all, planned.root)).toEqual(["A a.log", "A build/o"]);
    const dropping = await createRepository(tree, { ignored: "drop" });
    expect(await dropping.run("mkdir build; echo o > build/o; echo 2 > src/a")).toMatchObject({
      kept: { files: 0 },
      effects: [{}],
    });
    expect((await dropping.run("ls")).output).toBe("src\n");
  });

  it("are not the effects of a later command when their rule was discarded, unless it changes them", async () => {
    const { root, run } = await createRepository(tree);
    const first = await run("echo dist/ >> .gitignore; mkdir dist; echo d > dist/d; echo e > dist/e");
    expect(first.kept.files).toBe(2);
    // The user discards the first command's action.
    expect(await run("cat dist/d")).toMatchObject({ effects: [], output: "d\n", kept: { files: 2 } });
    expect(shortForm(await run("echo more >> dist/d"), root)).toEqual(["A dist/d", "A dist/e"]);
  });

  it("starts no program that the repository names", async () => {
    const { root, run } = await createRepository(tree);
    const trap = join(root, "..", "trapped");
    const config = ["core.fsmonitor", "core.pager", "core.sshCommand", "pager.check-ignore"];
    for (const key of config) git(root, "config", key, `touch ${trap}; false`);
    git(root, "config", "core.hooksPath", root);
    const found = await run(`git config core.fsmonitor 'touch ${trap}'; echo l > a.log; echo n > n`);
    expect(withoutGit(shortForm(found, root))).toEqual(["A n"]);
    expect(found.kept.files).toBe(1);
    expect(() => readFileSync(trap)).toThrow("ENOENT");
  });

  it("asks about odd names, and about what lies behind a link now", async () => {
    const { root, run } = await createRepository({ ...tree, "d/x": "1", "d/y.log": "2", "*weird": "3" });
    const found = await run(
      "rm -r d; ln -s src d; echo x > ':(top)a'; echo x > '[z].log'; echo x > ' sp ace.log'; rm '*weird'",
    );
    expect(withoutGit(shortForm(found, root))).toEqual([
      "D *weird",
      "A :(top)a",
      "M d directory > symlink",
      "D d/x",
      "D d/y.log",
    ]);
    expect(found.kept.files).toBe(2);
  });

  it("works with a repository in the repository", async () => {
    const { root, run } = await createRepository({ ...tree, "x.log": "1" });
    git(root, "add", "-f", "x.log");
    const found = await run("mkdir build; echo 1 > build/1; git init -q sub; echo x > sub/x; echo 2 > x.log");
    expect(withoutGit(shortForm(found, root)).filter((text) => !text.includes("/.git/"))).toEqual([
      "A sub/x",
      "M x.log",
    ]);
  });

  it("stages what git does, and a look at the repository stages nothing", async () => {
    const { root, run } = await createRepository({ ...tree, b: "2\n" });
    expect(await run("touch b; git status --short; git log --oneline | wc -l")).toMatchObject({
      effects: [],
      output: "1\n",
    });
    const found = await run(
      `git config user.name t; git config user.email t@example.com; echo 3 > b; git add -A; git commit -qm two; git status --short`,
    );
    expect(found.output).toBe("");
    const paths = shortForm(found, root);
    expect(paths).toContain("M .git/index");
    expect(paths).toContain("M .git/config");
    expect(paths.some((text) => /^A \.git\/objects\/../.test(text))).toBe(true);
    expect(withoutGit(paths)).toEqual(["M b"]);
  });
});

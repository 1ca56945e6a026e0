// What programs do in the staged view, applied, is what they do on a plain copy: bytes, types, permissions, links and
// empty directories. Before that, and after a discard, nothing has moved; an undo restores what was there; the diff that
// is shown makes the same tree with `git apply`. With the built program, as root and as an ordinary user.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { diskTree } from "../kit/disk-tree.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { openDirectory } from "../kit/temporary-directory.js";
import { actAs, noOrdinaryUser, users } from "../kit/two-users.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});
if (noOrdinaryUser !== undefined) it.skip(`skipped: as an ordinary user, because ${noOrdinaryUser}`, () => {});

beforeAll(ensureBuilt, 150_000);

/** Commits made twice have the same name. */
const gitDates = "export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z;";

const commands: Record<string, string> = {
  "sed -i": "sed -i s/total/sum/ src/cart.js README.md",
  tar: "tar cf all.tar src && mkdir out && tar xf all.tar -C out && rm all.tar",
  make: "make -s",
  "a formatter": `node -e 'const fs=require("fs");for(const f of fs.readdirSync("src")){const p="src/"+f;fs.writeFileSync(p,fs.readFileSync(p,"utf8").replace(/\\s+$/gm,"")+"\\n")}'`,
  "a script with a pipe":
    "printf '#!/bin/sh\\ncat src/*.js | wc -l > lines.txt\\n' > count.sh && chmod +x count.sh && ./count.sh",
  "moves of directories": "mv src lib && mkdir src && mv lib/cart.js src/ && cp -r docs manual && rm -r docs",
  "changes of type":
    "rm link && mkdir link && echo x > link/x && rm README.md && ln -s src/cart.js README.md && rm -r docs && echo d > docs",
  "modes and empty directories":
    "chmod 755 src/cart.js && mkdir -p a/b/c && chmod 700 a/b && rm src/tax.js && : > empty",
  "binary files and odd names":
    "head -c 3000 /dev/zero > zero.bin && echo x > 'two words.txt' && echo y > 'ümlaut' && printf 'no end' > no-end",
  "git branch and commit": `${gitDates} git checkout -q -b next && echo n >> src/cart.js && git add -A && git commit -qm next`,
  "git merge": `${gitDates} git checkout -q -b side && echo s > side.txt && git add -A && git commit -qm side && git checkout -q - && git merge -q --no-edit --no-ff side`,
  "git stash": `${gitDates} echo w >> src/cart.js && git stash -q && echo v >> README.md`,
};

function makeProject(cwd: string): void {
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  for (const name of ["src", "docs/deep"]) mkdirSync(join(cwd, name), { recursive: true });
  write("src/cart.js", "export function total(items) {  \n  return items.length;\n}\n");
  write("src/tax.js", "export const tax = 0.19;\n\n\n");
  write("docs/deep/page.md", "# Page\n");
  write("README.md", "total of a cart\n");
  write("Makefile", "all: out.txt\nout.txt: src/cart.js\n\tcp src/cart.js out.txt\n");
  execFileSync("ln", ["-s", "src/cart.js", "link"], { cwd });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "init.defaultBranch=main", ...args], { cwd, env: gitEnvironment });
  git("init", "-q", ".");
  git("config", "user.email", "a@example.com");
  git("config", "user.name", "A");
  git("config", "gc.auto", "0");
  git("add", "-A");
  git("commit", "-qm", "first");
}

const gitEnvironment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

/** The index holds times and inodes, which differ between any two copies; git's own words tell what it says. */
function treeOf(root: string, { withTimes = false } = {}): string[] {
  return diskTree(root, { withTimes, except: (name) => !withTimes && name === ".git/index" });
}

describe.each(users)("as %s", (user) => {
  function rig() {
    const top = openDirectory();
    const [home, cwd, copy, applied] = ["home", "shop", "copy/shop", "applied/shop"].map((name) => join(top, name)) as [
      string,
      string,
      string,
      string,
    ];
    for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
    makeProject(cwd);
    for (const path of [copy, applied]) cpSync(cwd, path, { recursive: true, verbatimSymlinks: true });
    const { start, ...acting } = actAs(user, { top, home });
    const galley = (...args: string[]) => acting.galley(args, cwd);
    const git = (at: string, ...args: string[]) => start(["git", ...args], at);
    return { cwd, copy, applied, start, galley, git };
  }

  // What differs between users is owners and rights: these three touch all of it.
  const rights = ["changes of type", "modes and empty directories", "git merge"];
  const tried = Object.entries(commands).filter(([name]) => user !== users[1] || rights.includes(name));
  it.skipIf(noView !== undefined).each(tried)("%s", async (_name, command) => {
    const { cwd, copy, applied, start, galley, git } = rig();
    const status = (await git(cwd, "status", "--porcelain")).stdout; // brings the index up to date
    const before = treeOf(cwd, { withTimes: true });
    const plain = treeOf(cwd);

    const staged = await galley("exec", "--stage", "--", "sh", "-c", command);
    expect(staged.stderr).toMatch(/^Staged as pa_1 – not written yet: /);
    expect([staged.code, staged.stdout]).toEqual([0, ""]);
    expect(treeOf(cwd, { withTimes: true })).toEqual(before);

    const expected = await start(["sh", "-c", command], copy);
    expect(expected).toMatchObject({ code: 0, stdout: "" });

    const isPlainFiles = !/\.git\//.test(
      treeOf(copy)
        .filter((row) => !plain.includes(row))
        .join("\n"),
    );
    if (isPlainFiles) {
      const { diff } = await shown(galley);
      writeFileSync(join(applied, "../diff"), diff);
      expect(await git(applied, "apply", "--whitespace=nowarn", "../diff")).toMatchObject({ code: 0, stderr: "" });
      const isKept = (row: string) => !/^(a(\/b){0,2}(\/c)?|empty-directory) /.test(row) && !/^zero\.bin /.test(row);
      expect(treeOf(applied).filter(isKept)).toEqual(treeOf(copy).filter(isKept));
    }

    expect(await galley("apply", "1")).toMatchObject({ code: 0, stderr: "" });
    expect(treeOf(cwd)).toEqual(treeOf(copy));
    const told = ["status", "--porcelain", "--branch"]; // which refreshes the index, and an undo does not mind
    expect((await git(cwd, ...told)).stdout).toBe((await git(copy, ...told)).stdout);
    expect((await git(cwd, "fsck")).code).toBe(0);

    expect(await galley("undo")).toMatchObject({ code: 0, stderr: "" });
    expect(treeOf(cwd)).toEqual(plain);
    expect((await git(cwd, "status", "--porcelain")).stdout).toBe(status);
  });

  it.skipIf(noView !== undefined)("a discard moves nothing, and what is protected needs the user's word", async () => {
    const { cwd, galley } = rig();
    const before = treeOf(cwd, { withTimes: true });
    await galley("exec", "--stage", "--", "sh", "-c", "echo x > .envrc; echo y >> src/cart.js; rm docs/deep/page.md");
    expect((await galley("discard", "1")).code).toBe(0);
    expect(treeOf(cwd, { withTimes: true })).toEqual(before);

    const plain = treeOf(cwd);
    await galley("exec", "--stage", "--", "sh", "-c", "echo x > .envrc; echo y >> src/cart.js");
    for (const words of [
      ["apply", "2"],
      ["apply", "--all"],
    ]) {
      const refused = await galley(...words);
      expect([refused.code, refused.stdout]).toEqual([6, ""]);
      expect(refused.stderr).toContain("protected paths (.envrc)");
    }
    expect(treeOf(cwd, { withTimes: true })).toEqual(before);
    expect((await galley("apply", "2", "--protected")).code).toBe(0);
    expect(readFileSync(join(cwd, ".envrc"), "utf8")).toBe("x\n");
    const refused = await galley("undo");
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.stderr).toMatch(/To write them too: galley undo --protected\n$/);
    expect((await galley("undo", "--protected")).code).toBe(0);
    expect(treeOf(cwd)).toEqual(plain);
  });
});

async function shown(galley: (...args: string[]) => Promise<{ stdout: string }>): Promise<{ diff: string }> {
  const { stdout } = await galley("show", "1", "--json");
  const { action } = JSON.parse(stdout) as { action: { files: { diff?: string }[] } };
  return { diff: action.files.map(({ diff = "" }) => diff).join("") };
}

// A command cannot plant code that the user's next git runs: what the repository's own configuration names inside the
// project is protected like its hooks. The same list holds for a confined command on the disk and for a staged one. With
// the built program.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAi, startScriptedServer } from "../../src/testing/index.js";
import { ensureBuilt, modelsAt } from "../kit/rpc-host.js";
import { galleyBin, run } from "../kit/run-galley.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

await ensureBuilt();
const { noSandbox, noView } = sandboxAbility();
const reason = noSandbox ?? noView;
if (reason !== undefined) it.skip(`skipped: commands cannot be confined or staged here: ${reason}`, () => {});

function rig(config: Record<string, string>, files: Record<string, string>) {
  const home = temporaryDirectory();
  const cwd = join(home, "project");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  };
  write("readme", "text\n");
  const git = { cwd, env: { PATH: process.env.PATH, HOME: "/nonexistent" } };
  execFileSync("git", ["init", "-q", "."], git);
  for (const [key, value] of Object.entries(config)) execFileSync("git", ["config", key, value], git);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const env = { PATH: process.env.PATH, HOME: home, GALLEY_OFFLINE: "1" };
  const galleyIn = (directory: string, ...args: string[]) =>
    run(process.execPath, [galleyBin, ...args], { cwd: directory, env });
  return { cwd, galleyIn, galley: (...args: string[]) => galleyIn(cwd, ...args) };
}

/** The configuration, and what of the project it makes git run or read. */
const settings: Record<string, readonly [value: string, path: string]> = {
  "core.hooksPath": ["tools/hooks", "tools/hooks/pre-commit"],
  "include.path": ["../more.gitconfig", "more.gitconfig"],
  "includeIf.onbranch:main.path": ["../if.gitconfig", "if.gitconfig"],
  "core.attributesFile": ["own.attributes", "own.attributes"],
  "filter.lint.clean": ["python3 tools/clean.py %f", "tools/clean.py"],
  "filter.lint.process": ['"./tools/my filter"', "tools/my"],
  "diff.external": ["tools/diff.sh", "tools/diff.sh"],
  "diff.image.textconv": ["$(git rev-parse --show-toplevel)/tools/text.sh", "tools/text.sh"],
  "diff.other.command": ["./tools/other-diff", "tools/other-diff"],
  "merge.own.driver": ["sh tools/merge.sh %O %A %B", "tools/merge.sh"],
  "core.fsmonitor": [".tools/monitor", ".tools/monitor"],
  "diff.pwd.command": ["$PWD/tools/pwd-diff", "tools/pwd-diff"],
  "core.askPass": ["~/project/tools/ask", "tools/ask"],
  "sequence.editor": ['"$HOME"/project/tools/sequence', "tools/sequence"],
  "core.pager": ["tools/pager | less", "tools/pager"],
  "core.editor": ["./editor", "editor"],
  "core.sshCommand": ["tools/ssh -q", "tools/ssh"],
  "gpg.program": ["./tools/gpg", "tools/gpg"],
  "credential.helper": ["!sh ./tools/credential", "tools/credential"],
  "remote.origin.uploadpack": ["tools/upload", "tools/upload"],
  "alias.go": ["!./tools/go", "tools/go"],
};
const always = [".githooks/pre-commit", ".husky/pre-commit", ".husky/_/h"];

describe("file tools", () => {
  it("protect the same", async () => {
    const write = (path: string) =>
      openAi.toolCalls([{ id: path, name: "write", arguments: { path, content: "planted\n" } }]);
    const bare = ["data/config", "data/objects/x", "data/refs/x", "data/HEAD"];
    const calls = ["tools/hooks/pre-commit", "tools/commit", "readme", ...bare].map(write);
    const server = await startScriptedServer([...calls, openAi.text("Done.")]);
    const { cwd, galley } = rig({ "core.hooksPath": "tools/hooks" }, { "tools/commit": "old\n" });
    symlinkSync("../../tools/commit", join(cwd, ".git/hooks/post-commit"));
    mkdirSync(join(cwd, "../.galley/agent"), { recursive: true });
    writeFileSync(join(cwd, "../.galley/agent/models.yml"), modelsAt(server.url));
    const { stderr } = await galley("-p", "go");
    await server.close();
    const refused = [...stderr.matchAll(/^ {2}write (\S+): .* is protected and only the user may change it/gm)];
    expect(refused.map(([, path]) => path)).toEqual(["tools/hooks/pre-commit", "tools/commit", "data/HEAD"]);
    expect(readFileSync(join(cwd, "readme"), "utf8")).toBe("planted\n");
  });
});

describe.skipIf(reason !== undefined)("what a repository's configuration names", () => {
  it.each([
    ["is there", true],
    ["is not there", false],
  ])("and %s", async (_, isThere) => {
    const names = [...Object.values(settings).map(([, path]) => path), ...always];
    const config = Object.fromEntries(Object.entries(settings).map(([key, [value]]) => [key, value]));
    const { cwd, galley } = rig(config, isThere ? Object.fromEntries(names.map((name) => [name, "old\n"])) : {});
    const plant = names.map((name) => `mkdir -p '${dirname(name)}'; echo planted > '${name}'; `).join("");
    const now = () => names.map((name) => [name, existsSync(join(cwd, name)) && readFileSync(join(cwd, name), "utf8")]);
    const before = now();

    const confined = await galley("exec", "--", "sh", "-c", `${plant} echo more >> readme`);
    expect(now()).toEqual(before);
    const removed = [...confined.stderr.matchAll(/^Removed (.*): protected path\.$/gm)].map(([, path]) => `${path}`);
    const isSaid = (name: string) => removed.some((path) => name === path || name.startsWith(`${path}/`));
    expect(names.filter(isSaid)).toEqual(isThere ? [] : names);
    expect(readFileSync(join(cwd, "readme"), "utf8")).toBe("text\nmore\n");

    await galley("exec", "--stage", "--", "sh", "-c", plant);
    const shown = await galley("show", "1", "--json");
    const { files } = (JSON.parse(shown.stdout) as { action: { files: { path: string; protected?: boolean }[] } })
      .action;
    const marked = files.filter((file) => file.protected).map(({ path }) => path);
    expect(marked.sort()).toEqual([...names].sort());
    const refused = await galley("apply", "--all");
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("protected paths")]);
    expect(now()).toEqual(before);
  });

  it.each([
    ["at once", ["mkdir -p data/objects data/refs; echo x > data/refs/x; echo x > data/objects/x; {head}; {config}"]],
    [
      "over two commands",
      ["mkdir -p data/objects data/refs; echo x > data/refs/x; echo x > data/objects/x; {head}", "{config}"],
    ],
  ])("and a repository with another name than .git, made %s", async (_, commands) => {
    const head = "echo ref: refs/heads/main > data/HEAD";
    const config = "printf '[core]\\n\\tbare = true\\n\\tfsmonitor = ./evil\\n' > data/config";
    const { cwd, galley } = rig({}, {});
    for (const command of commands) {
      const text = command.replace("{head}", head).replace("{config}", config);
      expect(await galley("exec", "--stage", "--", "sh", "-c", text)).toMatchObject({ code: 0 });
    }
    const refused = await galley("apply", "--all");
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("protected paths")]);
    expect(existsSync(join(cwd, "data/config"))).toBe(false);
  });

  it("and what a rebase that is under way would run: commits stay in its list, programs do not", async () => {
    const list = ".git/rebase-merge/git-rebase-todo";
    const { cwd, galley } = rig({}, { [list]: "pick 1234567 one\nexec make\n" });
    const confined = await galley("exec", "--", "sh", "-c", `printf 'pick 89abcde two\\nx ./evil\\n' >> ${list}`);
    expect(confined.stderr).toBe(`Removed exec lines in ${list}: protected path.\n`);
    expect(readFileSync(join(cwd, list), "utf8")).toBe("pick 1234567 one\nexec make\npick 89abcde two\n");
    await galley("exec", "--stage", "--", "sh", "-c", `echo 'exec ./evil' >> ${list}`);
    expect((await galley("apply", "--all")).code).toBe(6);
  });

  it("and what runs in a bare repository: its hooks and settings stay on the disk", async () => {
    const { cwd, galley } = rig({}, {});
    execFileSync("git", ["init", "-q", "--bare", "bare"], { cwd });
    const plant = "echo planted >> config; echo planted > hooks/update; echo x > description";
    const before = readFileSync(join(cwd, "bare/config"), "utf8");
    await galley("exec", "--cwd", "bare", "--", "sh", "-c", plant);
    expect(readFileSync(join(cwd, "bare/config"), "utf8")).toBe(before);
    expect(existsSync(join(cwd, "bare/hooks/update"))).toBe(false);
    expect(readFileSync(join(cwd, "bare/description"), "utf8")).toBe("x\n");
  });

  /** From both sides. Whether the text of a file stayed as it was. */
  async function isKept(
    { cwd, galley }: Pick<ReturnType<typeof rig>, "cwd" | "galley">,
    path: string,
    before = "old\n",
  ): Promise<boolean[]> {
    const look = () => existsSync(join(cwd, path)) && readFileSync(join(cwd, path), "utf8") === before;
    const plant = `mkdir -p "$(dirname ${path})"; echo planted > ${path}`;
    await galley("exec", "--", "sh", "-c", plant);
    const first = look();
    writeFileSync(join(cwd, path), before);
    await galley("exec", "--stage", "--", "sh", "-c", plant);
    await galley("apply", "--all");
    return [first, look()];
  }

  it.each([
    ["a directory of hooks", { "core.hooksPath": "hooks" }, "hooks", "tools/hooks", "tools/hooks/pre-commit"],
    ["a hook of such a directory", { "core.hooksPath": "hooks" }, "hooks/pre-push", "../tools/push", "tools/push"],
    ["a hook of git's own", {}, ".git/hooks/pre-commit", "../../tools/commit", "tools/commit"],
    ["a hook of .husky", {}, ".husky/pre-commit", "../tools/husky", "tools/husky"],
  ])("and what a link leads to that stands for %s", async (_, config, link, target, path) => {
    const place = rig(config, { [path]: "old\n" });
    mkdirSync(dirname(join(place.cwd, link)), { recursive: true });
    symlinkSync(target, join(place.cwd, link));
    expect(await isKept(place, path)).toEqual([true, true]);
  });

  it("of one working tree alone, with the settings that are its own", async () => {
    const place = rig({ "extensions.worktreeConfig": "true" }, {});
    const git = (cwd: string, ...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd });
    git(place.cwd, "commit", "-q", "--allow-empty", "-m", "one");
    git(place.cwd, "worktree", "add", "-q", "../linked");
    const cwd = join(place.cwd, "../linked");
    git(cwd, "config", "--worktree", "core.hooksPath", "tools/hooks");
    const there = { cwd, galley: (...args: string[]) => place.galleyIn(cwd, ...args) };
    mkdirSync(join(cwd, "tools/hooks"), { recursive: true });
    writeFileSync(join(cwd, "tools/hooks/pre-commit"), "old\n");
    expect(await isKept(there, "tools/hooks/pre-commit")).toEqual([true, true]);
  });

  it("of a repository in the project, where a command is staged", async () => {
    const place = rig({}, {});
    execFileSync("git", ["init", "-q", "inner"], { cwd: place.cwd });
    execFileSync("git", ["config", "core.hooksPath", "tools/hooks"], { cwd: join(place.cwd, "inner") });
    mkdirSync(join(place.cwd, "inner/tools/hooks"), { recursive: true });
    const [, isKeptWhenStaged] = await isKept(place, "inner/tools/hooks/pre-commit");
    expect(isKeptWhenStaged).toBe(true);
  });

  it("further files that an included one names", async () => {
    const { cwd, galley } = rig(
      { "include.path": "../more.gitconfig" },
      { "more.gitconfig": "[core]\n\tfsmonitor = tools/monitor # ours\n", "tools/monitor": "old\n" },
    );
    await galley("exec", "--", "sh", "-c", "echo planted > tools/monitor");
    expect(readFileSync(join(cwd, "tools/monitor"), "utf8")).toBe("old\n");
  });

  it("and nothing else: names of people, branches and directories protect no file", async () => {
    const config = { "user.name": "src", "branch.main.remote": "src", "core.pager": "cd src && less" };
    const { cwd, galley } = rig(config, { "src/a": "old\n" });
    expect(await galley("exec", "--", "sh", "-c", "echo new > src/a")).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(cwd, "src/a"), "utf8")).toBe("new\n");
  });
});

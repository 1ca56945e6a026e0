// Where a model may write, on a real disk full of links.

import { execFileSync } from "node:child_process";
import { link, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createNodeWorkspace } from "../node-workspace.js";
import type { PermitQuestion } from "../workspace.js";

let base: string;
let cwd: string;
let home: string;
let asked: PermitQuestion[];

beforeEach(async () => {
  base = temporaryDirectory();
  cwd = join(base, "project");
  home = join(base, "me");
  asked = [];
  await mkdir(join(cwd, "src"), { recursive: true });
  await mkdir(join(base, "project-evil"));
  await mkdir(join(home, ".galley/agent"), { recursive: true });
  await writeFile(join(cwd, "src/a.ts"), "a");
});

type Options = Partial<Parameters<typeof createNodeWorkspace>[0]>;
const resolve = (input: string, options: Options = {}) =>
  createNodeWorkspace({ cwd, home, ...options }).resolve(input, "write");
const answering = (answer: unknown): Options => ({
  permit: async (question) => {
    asked.push(question);
    if (answer instanceof Error) throw answer;
    return answer as boolean;
  },
});
const outside = (shown: string, what = "it") =>
  `Cannot write ${shown}: ${what} lies outside of ${cwd}. Write there, or ask the user to add the directory to the setting workspace.roots.`;
const guarded = (shown: string, what = "it") =>
  `Cannot write ${shown}: ${what} is protected and only the user may change it. Ask the user to do so.`;

describe("W-2: what is there and what is not", () => {
  it("finds a file, and a place for a new one", async () => {
    const { dev, ino } = await stat(join(cwd, "src/a.ts"), { bigint: true });
    expect(await resolve("src/../src//a.ts")).toEqual({
      path: join(cwd, "src/a.ts"),
      displayPath: "src/a.ts",
      kind: "file",
      identity: `${dev}:${ino}`,
    });
    expect(await resolve("new/deep/b.ts")).toEqual({
      path: join(cwd, "new/deep/b.ts"),
      displayPath: "new/deep/b.ts",
      kind: "absent",
    });
  });

  it("takes a mention for a mention, unless the name is really there", async () => {
    await mkdir(join(cwd, "@scope"));
    expect(await resolve("@new.ts")).toMatchObject({ path: join(cwd, "new.ts") });
    expect(await resolve("@src/new.ts")).toMatchObject({ path: join(cwd, "src/new.ts") });
    expect(await resolve("@scope/new.ts")).toMatchObject({ path: join(cwd, "@scope/new.ts") });
    expect(await resolve("my\u202fnew file")).toMatchObject({ path: join(cwd, "my new file") });
  });

  it.each([
    ["src", "Cannot write src: it is a directory."],
    ["src/", "Cannot write src: it is a directory."],
    ["new/", "Cannot write new: it is a directory."],
    [".", "Cannot write .: it is a directory."],
    ["src/a.ts/b", "Cannot write src/a.ts/b: src/a.ts is not a directory."],
    ["pipe", "Cannot write pipe: it is a FIFO, not a regular file."],
    ["", "Path must not be empty."],
    ["a\0", "Path 'a\\u0000' contains a control character."],
    ["~bob/x", "Path '~bob/x' names another user's home."],
    ["x".repeat(256), `Path '${"x".repeat(200)}…' has a component longer than 255 bytes.`],
  ])("W-1, W-7: refuses %j", async (input, message) => {
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    await expect(resolve(input)).rejects.toMatchObject({ code: "file_refused", message });
  });
});

describe("W-2: the writable roots", () => {
  it.each([
    ["../project-evil/x", () => join(base, "project-evil/x")],
    ["../x", () => join(base, "x")],
    ["~/x", () => join(home, "x")],
    ["src/../../x", () => join(base, "x")],
  ])("refuses %s and says what to do", async (input, shown) => {
    await expect(resolve(input)).rejects.toMatchObject({ code: "file_refused", message: outside(shown()) });
  });

  it("reach up to the repository's root, but not to home or above", async () => {
    await mkdir(join(cwd, ".git"));
    expect(await resolve("../new", { cwd: join(cwd, "src") })).toMatchObject({ path: join(cwd, "new") });
    await mkdir(join(home, ".git"));
    await mkdir(join(home, "work"));
    await expect(resolve("../new", { cwd: join(home, "work") })).rejects.toThrow("lies outside of");
  });

  it("do not grow when a repository appears around the session", async () => {
    const workspace = createNodeWorkspace({ cwd: join(cwd, "src"), home });
    await mkdir(join(cwd, ".git"));
    await expect(workspace.resolve("../new", "write")).rejects.toThrow("lies outside of");
  });

  it("include the temporary directory and what the user's setting names, through links as well", async () => {
    await symlink(join(base, "project-evil"), join(base, "alias"));
    const tempDir = join(home, ".galley/agent/tmp");
    const options = { roots: ["../alias", "~/notes"], tempDir };
    expect(await resolve("../project-evil/x", options)).toMatchObject({ kind: "absent" });
    expect(await resolve("~/notes/x", options)).toMatchObject({ kind: "absent" });
    expect(await resolve(join(tempDir, "x"), options)).toMatchObject({ kind: "absent" });
    await expect(resolve("~/other", options)).rejects.toThrow("lies outside of");
  });

  it("are left only with a plain yes", async () => {
    const question = { intent: "write", path: join(base, "x"), displayPath: join(base, "x"), reason: "outside_roots" };
    expect(await resolve("../x", answering(true))).toMatchObject({ path: join(base, "x") });
    expect(asked).toEqual([question]);
    for (const answer of [false, "yes", 1, undefined, new Error("no dialog")])
      await expect(resolve("../x", answering(answer))).rejects.toThrow("lies outside of");
    asked = [];
    await resolve("src/new", answering(true));
    expect(asked).toEqual([]);
  });
});

describe("J-11: links", () => {
  it("lead to the file that is replaced, as long as it lies inside", async () => {
    await symlink("src/a.ts", join(cwd, "link.ts"));
    await symlink("src", join(cwd, "dir"));
    expect(await resolve("link.ts")).toMatchObject({
      path: join(cwd, "src/a.ts"),
      displayPath: "link.ts",
      kind: "file",
    });
    expect(await resolve("dir/new.ts")).toMatchObject({ path: join(cwd, "src/new.ts"), displayPath: "dir/new.ts" });
  });

  it("are refused where they lead outside, nowhere or round in a circle", async () => {
    await writeFile(join(base, "victim"), "");
    await symlink(join(base, "victim"), join(cwd, "out"));
    await symlink("..", join(cwd, "up"));
    await symlink("nowhere", join(cwd, "dangling"));
    await symlink("loop", join(cwd, "loop"));
    await expect(resolve("out")).rejects.toThrow(outside("out", `it leads to ${join(base, "victim")}, which`));
    await expect(resolve("up/x")).rejects.toThrow(outside("up/x", `it leads to ${join(base, "x")}, which`));
    await expect(resolve("dangling")).rejects.toThrow("Cannot write dangling: it is a link that leads nowhere.");
    await expect(resolve("dangling/x")).rejects.toThrow(
      "Cannot write dangling/x: dangling is a link that leads nowhere.",
    );
    await expect(resolve("loop")).rejects.toThrow("Cannot write loop: too many symbolic links.");
    await expect(resolve("loop/x")).rejects.toThrow("Cannot write loop/x: too many symbolic links.");
  });
});

describe("W-4, W-5: protected", () => {
  it.each([".git/hooks/pre-commit", ".galley/settings.json", "sub/.vscode/tasks.json", ".MCP.json", ".envrc"])(
    "%s, although nothing is there yet",
    async (input) => {
      await expect(resolve(input)).rejects.toThrow(guarded(input));
    },
  );

  it("the user may say yes", async () => {
    expect(await resolve(".mcp.json", answering(true))).toMatchObject({ kind: "absent" });
    expect(asked).toMatchObject([{ reason: "protected", displayPath: ".mcp.json" }]);
  });

  it("asks as protected what is also outside", async () => {
    await expect(resolve("~/.ssh/config", answering(false))).rejects.toThrow(guarded(join(home, ".ssh/config")));
    expect(asked).toMatchObject([{ reason: "protected" }]);
  });

  it("also where it is reached by a link into it", async () => {
    await mkdir(join(cwd, ".git"));
    await symlink(".git", join(cwd, "g"));
    await expect(resolve("g/config")).rejects.toThrow(
      guarded("g/config", `it leads to ${join(cwd, ".git/config")}, which`),
    );
  });

  it("also where a link leads out of it", async () => {
    await mkdir(join(cwd, ".git/hooks"), { recursive: true });
    await writeFile(join(cwd, "src/hook.sh"), "");
    await symlink("../../src/hook.sh", join(cwd, ".git/hooks/pre-commit"));
    await expect(resolve("src/hook.sh")).rejects.toThrow(guarded("src/hook.sh"));
    await mkdir(join(cwd, "editor"));
    await symlink("editor", join(cwd, ".vscode"));
    await expect(resolve("editor/tasks.json")).rejects.toThrow(guarded("editor/tasks.json"));
    await writeFile(join(cwd, "bashrc"), "");
    await symlink(join(cwd, "bashrc"), join(home, ".bashrc"));
    await expect(resolve("bashrc")).rejects.toThrow(guarded("bashrc"));
    await symlink("loop", join(cwd, ".git/hooks/loop")); // harms nobody else
    expect(await resolve("src/a.ts")).toMatchObject({ kind: "file" });
  });

  it("also under another name of the same file", async () => {
    await writeFile(join(home, ".galley/agent/auth.json"), "{}");
    await link(join(home, ".galley/agent/auth.json"), join(cwd, "hard"));
    await writeFile(join(cwd, ".envrc"), "");
    await link(join(cwd, ".envrc"), join(cwd, "hard2"));
    await expect(resolve("hard")).rejects.toThrow(guarded("hard"));
    await expect(resolve("hard2")).rejects.toThrow(guarded("hard2"));
    await link(join(cwd, "src/a.ts"), join(cwd, "b.ts"));
    expect(await resolve("b.ts")).toMatchObject({ kind: "file" });
  });
});

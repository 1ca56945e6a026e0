// Hostile things on a real disk.

import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { createWorkspace } from "./create-workspace.js";
import { oneByOne } from "./disk/disk.js";
import { nodeDisk } from "./disk/node-disk.js";
import { createNodeWorkspace } from "./node-workspace.js";
import type { Workspace } from "./workspace.js";

let cwd: string;
let home: string;
let workspace: Workspace;

beforeEach(async () => {
  const root = temporaryDirectory();
  cwd = join(root, "project");
  home = join(root, "me");
  await mkdir(join(home, ".galley/agent"), { recursive: true });
  await mkdir(cwd);
  workspace = createNodeWorkspace({ cwd, home });
});
afterEach(() => rm(join(cwd, ".."), { recursive: true }));

const read = async (path: string) => workspace.readFile(await workspace.resolve(path, "read"));

describe("special files are refused before they are opened", () => {
  it("a FIFO", async () => {
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    await expect(read("pipe")).rejects.toMatchObject({
      code: "file_refused",
      message: "Refused to open 'pipe': it is a FIFO, not a regular file.",
    });
  });

  it("a device, also through a link", async () => {
    await symlink("/dev/zero", join(cwd, "zero"));
    const message = (path: string) => `Refused to open '${path}': it is a device, not a regular file.`;
    await expect(read("/dev/zero")).rejects.toThrow(message("/dev/zero"));
    await expect(read("zero")).rejects.toThrow(message("zero"));
  });

  it("a socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(cwd, "socket"), resolve));
    await expect(read("socket")).rejects.toThrow("Refused to open 'socket': it is a socket, not a regular file.");
    await new Promise((resolve) => server.close(resolve));
  });
});

it("resolveCwd gives the same result as resolving the working directory", async () => {
  const target = { path: cwd, displayPath: ".", kind: "directory" };
  expect(await workspace.resolveCwd()).toEqual(await workspace.resolve(cwd, "read"));
  expect(await workspace.resolveCwd()).toMatchObject(target);
  await symlink(cwd, join(cwd, "../link"));
  const linked = createNodeWorkspace({ cwd: join(cwd, "../link"), home });
  expect(await linked.resolveCwd()).toMatchObject(target);
  expect(await linked.resolveCwd()).toEqual(await linked.resolve(".", "read"));
  await writeFile(join(cwd, "file"), "");
  expect(await createNodeWorkspace({ cwd: join(cwd, "file"), home }).resolveCwd()).toMatchObject({ kind: "file" });
  for (const place of ["gone", "file/gone"]) {
    const missing = createNodeWorkspace({ cwd: join(cwd, place), home });
    await expect(missing.resolveCwd()).rejects.toMatchObject({ code: "not_found" });
  }
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await expect(createNodeWorkspace({ cwd: join(cwd, "pipe"), home }).resolveCwd()).rejects.toThrow("it is a FIFO");
});

it("refuses a loop of links", async () => {
  await symlink("b", join(cwd, "a"));
  await symlink("a", join(cwd, "b"));
  await expect(read("a")).rejects.toMatchObject({
    code: "file_refused",
    message: "Cannot open 'a': too many symbolic links.",
  });
});

it("refuses the environment of a process under every spelling", async () => {
  const reason = "it shows the environment or the memory of a process.";
  await expect(read("/proc/self/environ")).rejects.toThrow(`Refused to open '/proc/self/environ': ${reason}`);
  await expect(read(`/proc/${process.pid}/environ`)).rejects.toThrow(reason);
  await expect(read(`/proc/self/root/proc/${process.pid}/environ`)).rejects.toThrow(reason);
  await symlink("/proc/self/environ", join(cwd, "harmless.txt"));
  await expect(read("harmless.txt")).rejects.toThrow(`Refused to open 'harmless.txt': ${reason}`);
});

it("refuses the credential file by name, link and hard link, also while walking", async () => {
  const file = join(home, ".galley/agent/auth.json");
  await writeFile(file, "{}");
  await symlink(file, join(cwd, "link.json"));
  await link(file, join(cwd, "hard.json"));
  await expect(read("~/.galley/agent/auth.json")).rejects.toThrow("it holds credentials.");
  await expect(read("link.json")).rejects.toThrow("Refused to open 'link.json': it holds credentials.");
  await expect(read("hard.json")).rejects.toThrow("Refused to open 'hard.json': it holds credentials.");
  await writeFile(join(cwd, "a.json"), "{}");
  expect(await walk()).toEqual(["a.json"]);
});

it("refuses what the credential file leads to, from the moment it is there", async () => {
  await writeFile(join(home, "kept.json"), "{}");
  await link(join(home, "kept.json"), join(cwd, "hard.json"));
  expect(Buffer.from((await read("hard.json")).bytes).toString()).toBe("{}");
  await symlink(join(home, "kept.json"), join(home, ".galley/agent/auth.json"));
  await expect(read("~/kept.json")).rejects.toThrow("it holds credentials.");
  await expect(read("hard.json")).rejects.toThrow("it holds credentials.");
});

it("knows a working directory in another user's home by both names", async () => {
  const canonical = (path: string) => path.replace(cwd, "/home/somebody/project");
  const back = (path: string) => path.replace("/home/somebody/project", cwd);
  const disk = oneByOne({
    ...nodeDisk,
    realpath: async (path: string) => canonical(await nodeDisk.realpath(back(path))),
    lstat: (path: string) => nodeDisk.lstat(back(path)),
  });
  const linked = createWorkspace(disk, { cwd, home, agentDir: join(home, ".galley/agent") });
  await writeFile(join(cwd, "a"), "a");
  for (const name of ["a", "/home/somebody/project/a"])
    expect(await linked.resolve(name, "read")).toMatchObject({ path: "/home/somebody/project/a" });
  await expect(linked.resolve("/home/somebody/b", "read")).rejects.toThrow("it lies in another user's home");
});

it("reads a file whose size is reported as 0", async () => {
  const { bytes, isTruncated } = await read("/proc/self/status");
  expect(Buffer.from(bytes).toString()).toMatch(/^Name:/);
  expect(isTruncated).toBe(false);
  const target = await workspace.resolve("/proc/self/status", "read");
  expect((await workspace.readFile(target, { maxBytes: 5 })).bytes).toHaveLength(5);
});

it("keeps within the bound on a 100 MB sparse file", async () => {
  const file = await open(join(cwd, "sparse"), "w");
  await file.truncate(100 * 1024 * 1024);
  await file.close();
  const { bytes, isTruncated } = await read("sparse");
  expect(bytes.length).toBe(50 * 1024 * 1024);
  expect(isTruncated).toBe(true);
  const target = await workspace.resolve("sparse", "read");
  expect((await workspace.readFile(target, { maxBytes: 1000 })).bytes.length).toBe(1000);
});

it("does not read what was put in the place of the checked file", async () => {
  await writeFile(join(cwd, "a"), "checked");
  await writeFile(join(cwd, "secret"), "secret");
  const target = await workspace.resolve("a", "read");
  await rename(join(cwd, "secret"), join(cwd, "a"));
  const message = "Refused to open 'a': it changed while it was opened.";
  await expect(workspace.readFile(target)).rejects.toThrow(message);
  await expect(workspace.stat(target)).rejects.toThrow(message);
  await rm(join(cwd, "a"));
  await symlink("/etc/hostname", join(cwd, "a"));
  await expect(workspace.readFile(target)).rejects.toMatchObject({ code: "file_refused" });
  await rm(join(cwd, "a"));
  await expect(workspace.readFile(target)).rejects.toMatchObject({ code: "not_found" });
});

it("does not wait for a writer when a FIFO took the place of the checked file", async () => {
  await writeFile(join(cwd, "a"), "checked");
  const target = await workspace.resolve("a", "read");
  await rm(join(cwd, "a"));
  execFileSync("mkfifo", [join(cwd, "a")]);
  await expect(workspace.readFile(target)).rejects.toThrow("it changed while it was opened");
});

it("walks past links, special files, odd names and what vanished", async () => {
  await mkdir(join(cwd, "real"));
  await writeFile(join(cwd, "real/x.ts"), "");
  await symlink("real", join(cwd, "linked"));
  await symlink("real/x.ts", join(cwd, "y.ts"));
  await symlink(".", join(cwd, "self"));
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await writeFile(join(cwd, "new\nline.ts"), "");
  expect(await walk()).toEqual(["new\\nline.ts", "real/x.ts"]);
  expect((await workspace.list(await workspace.resolve(".", "read"), { limit: 9 })).entries).toMatchObject([
    { name: "linked", kind: "link" },
    { name: "new\nline.ts", kind: "file" },
    { name: "pipe", kind: "special" },
    { name: "real", kind: "directory" },
    { name: "self", kind: "link" },
    { name: "y.ts", kind: "link" },
  ]);
});

it("follows a link that is named, and shows the name that was used", async () => {
  await mkdir(join(cwd, "real"));
  await writeFile(join(cwd, "real/x.ts"), "x");
  await symlink("real", join(cwd, "linked"));
  expect(await workspace.resolve("linked/x.ts", "read")).toMatchObject({
    path: join(cwd, "real/x.ts"),
    displayPath: "linked/x.ts",
  });
});

// Root may read everything, so there is nothing to see.
it.skipIf(process.getuid?.() === 0)(
  "tells of a directory it may not list, and goes on (skipped as root, who may)",
  async () => {
    await mkdir(join(cwd, "locked"));
    await writeFile(join(cwd, "z.ts"), "");
    await chmod(join(cwd, "locked"), 0);
    const unreadable: string[] = [];
    const root = await workspace.resolve(".", "read");
    const found: string[] = [];
    for await (const file of workspace.walk(root, { onUnreadable: (path) => unreadable.push(path) }))
      found.push(file.displayPath);
    expect({ found, unreadable }).toEqual({ found: ["z.ts"], unreadable: ["locked"] });
    const locked = await workspace.resolve("locked", "read");
    await expect(workspace.list(locked, { limit: 1 })).rejects.toThrow("Cannot open 'locked': permission denied.");
    await chmod(join(cwd, "locked"), 0o700);
  },
);

describe("a survey", () => {
  const surveyOf = async (path: string) => workspace.survey(await workspace.resolve(path, "read"));
  const include = (path: string) => path.endsWith(".ts");

  it("picks what a walk finds from a list of names", async () => {
    await mkdir(join(cwd, "sub"));
    for (const name of [".gitignore", "sub/.gitignore", "b.ts", "sub/a.ts", "sub/no.ts", "x.js", "id_a.ts", "out.ts"])
      await writeFile(join(cwd, name), { ".gitignore": "out.ts\n", "sub/.gitignore": "no.ts\n" }[name] ?? "1");
    const names = [
      "sub/no.ts",
      "b.ts",
      ".gitignore",
      "sub/a.ts",
      "gone.ts",
      "x.js",
      "sub/.gitignore",
      "id_a.ts",
      "out.ts",
    ];
    const picked = await (await surveyOf("."))?.pick(names, { include });
    expect(picked?.map(({ displayPath, isSeen }) => [displayPath, isSeen])).toEqual([
      ["b.ts", true],
      ["sub/a.ts", true],
    ]);
    const wanted = Promise.resolve(new Set(["sub/a.ts", "id_a.ts", "gone.ts"]));
    const some = await (await surveyOf("."))?.pick(names, { include, wanted });
    expect(some?.filter(({ isSeen }) => isSeen)).toEqual(picked?.slice(1));
    expect(some?.filter(({ isSeen }) => !isSeen).map(({ displayPath, identity }) => [displayPath, identity])).toEqual([
      ["b.ts", ""],
    ]);
    const stopped = (await surveyOf("."))?.pick(names, { include, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
  });

  it("leaves out what is in an ignored directory, whatever stands in there", async () => {
    await mkdir(join(cwd, "gen-1/deep"), { recursive: true });
    await writeFile(join(cwd, ".gitignore"), "gen-*/\n");
    await writeFile(join(cwd, "gen-1/.gitignore"), "!a.ts\n!deep/\n");
    for (const name of ["b.ts", "gen-1/a.ts", "gen-1/deep/a.ts"]) await writeFile(join(cwd, name), "1");
    const names = [".gitignore", "gen-1/.gitignore", "gen-1/a.ts", "gen-1/deep/a.ts", "b.ts"];
    const picked = await (await surveyOf("."))?.pick(names, { include });
    expect(picked?.map(({ displayPath }) => displayPath)).toEqual(["b.ts"]);
    expect(await walk()).toEqual([".gitignore", "b.ts"]);
  });

  it("names directories that need no listing, and gives up where one of them may come back", async () => {
    await mkdir(join(cwd, "sub"));
    const lines = ["dist/", "/build", "a b", "*.log", "sub/x", "keep", "# c", "!lib/keep/"];
    await writeFile(join(cwd, ".gitignore"), lines.join("\n"));
    await writeFile(join(cwd, "sub/.gitignore"), "!dist\n");
    await writeFile(join(cwd, "a.ts"), "");
    expect((await surveyOf("."))?.leftOut).toEqual(["dist/", "/build/"]);
    expect(await (await surveyOf("."))?.pick(["a.ts"], { include })).toHaveLength(1);
    expect(await (await surveyOf("."))?.pick(["a.ts", "sub/.gitignore"], { include })).toBeUndefined();
    await writeFile(join(cwd, ".gitignore"), "dist/\n!*\n");
    expect((await surveyOf("."))?.leftOut).toEqual([]);
  });

  it("is left to a walk where it would enter what is usually skipped, or a path is very long", async () => {
    await mkdir(join(cwd, "node_modules/m"), { recursive: true });
    expect(await surveyOf("node_modules/m")).toBeUndefined();
    expect(await surveyOf("/")).toBeUndefined();
    expect(await (await surveyOf("."))?.pick([`${"d/".repeat(500)}a.ts`], { include })).toBeUndefined();
  });
});

async function walk(): Promise<string[]> {
  const found: string[] = [];
  for await (const file of workspace.walk(await workspace.resolve(".", "read"))) found.push(file.displayPath);
  return found;
}

import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createWorkspace } from "../create-workspace.js";
import type { Disk } from "../disk/disk.js";
import { nodeDisk } from "../disk/node-disk.js";
import { protectedTest } from "./protected-paths.js";

const isProtected = protectedTest({
  homes: ["/home/me", "/data/me"],
  configDirectories: ["/home/me/.galley", "/srv/agent"],
  projects: ["/p"],
  tempDirs: ["/srv/agent/tmp/1"],
});

describe("W-5: known by its words, there or not", () => {
  it.each([
    "/p/.git",
    "/p/.git/hooks/pre-commit",
    "/p/sub/.git/config",
    "/p/.galley/settings.json",
    "/p/.pi/tools/x.ts",
    "/p/.vscode/tasks.json",
    "/p/.idea/x.xml",
    "/p/.gitmodules",
    "/p/.mcp.json",
    "/p/sub/.envrc",
    "/home/me/.ssh/authorized_keys",
    "/data/me/.ssh/config",
    "/home/me/.bashrc",
    "/data/me/.zshenv",
    "/home/me/.config/autostart/x.desktop",
    "/home/me/Library/LaunchAgents/x.plist",
    "/srv/agent/auth.json",
    "/srv/agent/tmp/1/.git/config",
    // Other spellings of the same.
    "/p/.GIT/config",
    "/p/.Mcp.JSON",
    "/p/.v\u017fcode/tasks.json",
    "/p/.g\u200cit/config",
    "/p/.git./config",
    "/p/.git /config",
    "/p/.git::$INDEX_ALLOCATION/config",
    "/p/GIT~1/config",
    "/HOME/Me/.SSH/config",
  ])("%j is protected", (path) => {
    expect(isProtected(path)).toBe(true);
  });

  it.each([
    "/p/a.ts",
    "/p/.github/workflows/ci.yml",
    "/p/.gitignore",
    "/p/git/config",
    "/p/.bashrc",
    "/p/.ssh/config",
    "/p/...",
    "/home/me/notes",
    "/srv/agents/x",
    "/srv/agent/tmp/1/a",
  ])("%j is not", (path) => {
    expect(isProtected(path)).toBe(false);
  });
});

describe("W-4: known by what it leads to", () => {
  let base: string;
  beforeEach(async () => {
    base = temporaryDirectory();
    await mkdir(join(base, "project/.git/hooks"), { recursive: true });
    await mkdir(join(base, "me/.ssh"), { recursive: true });
    for (const name of ["a.ts", "b.ts", "c.ts"]) await writeFile(join(base, "project", name), "");
  });

  const on = (disk: Partial<Disk>, more: object = {}) =>
    createWorkspace(
      { ...nodeDisk, ...disk },
      { cwd: join(base, "project"), home: join(base, "me"), agentDir: join(base, "me/.galley/agent"), ...more },
    );
  const failing = (method: "list" | "realpath" | "lstat", name: string, code = "EACCES"): Partial<Disk> => ({
    [method]: async (path: string, most: number) => {
      if (path === join(base, name)) throw Object.assign(new Error(code), { code });
      return nodeDisk[method](path, most);
    },
  });

  it.each([
    ["list", "me", "EACCES"],
    ["list", "me/.ssh", "EACCES"],
    ["list", "me/.ssh", "EIO"],
    ["realpath", "me/.ssh", "EACCES"],
    ["list", "project/.git/hooks", "EPERM"],
  ] as const)("denies where %s of %s fails with %s, whatever is asked", async (method, name, code) => {
    const disk = failing(method, name, code);
    await expect(on(disk).resolve("a.ts", "write")).rejects.toMatchObject({
      code: "file_refused",
      message: `Cannot write a.ts: it may be protected: ${join(base, name)} cannot be read (${code}), so its target is unknown. Ask the user to make it readable.`,
    });
    await expect(on(disk).resolveAll(["a.ts", "b.ts"], "write")).rejects.toThrow("a.ts: it may be protected");
    expect(await on(disk, { permit: async () => true }).resolve("a.ts", "write")).toMatchObject({ kind: "file" });
  });

  it("does not ask about the session's own temporary directory", async () => {
    await mkdir(join(base, "temp"));
    const workspace = on(failing("list", "me"), { tempDir: join(base, "temp") });
    expect(await workspace.resolve(join(base, "temp/x"), "write")).toMatchObject({ kind: "absent" });
  });

  it("denies a file with a second hard link where the other name cannot be found", async () => {
    await writeFile(join(base, "me/.ssh/config"), "");
    await link(join(base, "project/b.ts"), join(base, "project/other.ts"));
    const workspace = on(failing("lstat", "me/.ssh/config"));
    await expect(workspace.resolve("b.ts", "write")).rejects.toThrow("b.ts: it may be protected");
    expect(await workspace.resolve("a.ts", "write")).toMatchObject({ kind: "file" });
  });

  it("counts what is not there as absent", async () => {
    for (const code of ["ENOENT", "ENOTDIR", "ELOOP"])
      expect(await on(failing("list", "me/.ssh", code)).resolve("a.ts", "write")).toMatchObject({ kind: "file" });
  });

  it("denies where a list is cut: the name that matters may be missing", async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => ({ name: `${index}`, kind: "file" as const }));
    const disk = { list: async (path: string) => (path === join(base, "me") ? many : nodeDisk.list(path, 1000)) };
    await expect(on(disk).resolve("a.ts", "write")).rejects.toThrow(`${join(base, "me")} holds too many names`);
  });

  it("is looked up once for many targets, after all of them were followed", async () => {
    const calls: string[] = [];
    const disk: Partial<Disk> = {
      async realpath(path) {
        if (path.endsWith(".ts")) calls.push("follow");
        return nodeDisk.realpath(path);
      },
      async list(path, most) {
        calls.push(path.slice(base.length));
        return nodeDisk.list(path, most);
      },
    };
    const workspace = on(disk);
    await workspace.resolve("a.ts", "write"); // the borders are known from here on
    calls.length = 0;
    const found = await workspace.resolveAll(["c.ts", "a.ts", "b.ts"], "write");
    expect(found.map(({ displayPath }) => displayPath)).toEqual(["c.ts", "a.ts", "b.ts"]);
    expect(calls.slice(0, 3)).toEqual(["follow", "follow", "follow"]);
    expect(calls.filter((call) => call === "/project")).toHaveLength(1);
    // A link that came since the last look counts.
    await symlink("../../b.ts", join(base, "project/.git/hooks/pre-commit"));
    await expect(workspace.resolveAll(["a.ts", "b.ts"], "write")).rejects.toThrow("Cannot write b.ts: it is protected");
  });
});

// The contract, played on the real disk and in memory: both must tell the same story.

import { createHash } from "node:crypto";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import type { ErrorCode } from "../base/errors.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createNodeWorkspace } from "./node-workspace.js";
import type { Permit, Target, WalkOptions, Workspace } from "./workspace.js";

type Files = Record<string, string | Uint8Array>;

const makers: Record<string, (files: Files, options?: { permit: Permit }) => Promise<Workspace>> = {
  async "on disk"(files, options) {
    const cwd = temporaryDirectory();
    for (const [name, content] of Object.entries(files)) {
      const path = join(cwd, name);
      await mkdir(name.endsWith("/") ? path : dirname(path), { recursive: true });
      if (name.endsWith("/")) continue;
      await writeFile(path, content);
      await utimes(path, 0, 0);
    }
    return createNodeWorkspace({ cwd, home: "/home/tester", ...options });
  },
  "in memory": async (files, options) => createMemoryWorkspace(files, options),
};

describe.each(Object.entries(makers))("a workspace %s", (_name, make) => {
  it("resolves to a canonical target and shows it relative to cwd", async () => {
    const workspace = await make({ "src/a.ts": "a" });
    expect(await workspace.resolve("./src/../src//a.ts", "read")).toMatchObject({
      path: join(workspace.cwd, "src/a.ts"),
      displayPath: "src/a.ts",
      kind: "file",
    });
    expect(await workspace.resolve(".", "read")).toMatchObject({ displayPath: ".", kind: "directory" });
    expect(await workspace.resolve("/", "read")).toMatchObject({ path: "/", displayPath: "/", kind: "directory" });
  });

  it("tries the literal spelling first, then without @ and unusual spaces", async () => {
    const workspace = await make({ "@scope/a": "scoped", "scope/b": "plain", "my file": "space" });
    const read = async (path: string) => text(workspace, await workspace.resolve(path, "read"));
    expect(await read("@scope/a")).toBe("scoped");
    expect(await read("@scope/b")).toBe("plain");
    expect(await read("@my\u202ffile")).toBe("space");
  });

  it.each<[string, string, ErrorCode, string]>([
    ["empty", "", "file_refused", "Path must not be empty."],
    ["NUL", "a\0b", "file_refused", "Path 'a\\u0000b' contains a control character."],
    ["another home", "~bob/x", "file_refused", "Path '~bob/x' names another user's home."],
    ["missing", "nope.ts", "not_found", "Path 'nope.ts' not found"],
    ["below a file", "a.ts/x", "not_found", "Path 'a.ts/x' not found"],
    ["a key", "id_rsa", "file_refused", "Refused to open 'id_rsa': it is a private key."],
  ])("refuses a path: %s", async (_case, input, code, message) => {
    const workspace = await make({ "a.ts": "", id_rsa: "x" });
    await expect(workspace.resolve(input, "read")).rejects.toMatchObject({ code, message });
  });

  it("reads within a bound and says when there is more", async () => {
    const workspace = await make({ a: "0123456789", empty: "" });
    const target = await workspace.resolve("a", "read");
    expect(await text(workspace, target)).toBe("0123456789");
    expect(await workspace.readFile(target, { maxBytes: 10 })).toMatchObject({ isTruncated: false });
    expect(await workspace.readFile(target, { maxBytes: 4 })).toEqual({
      bytes: bytesLike("0123"),
      isTruncated: true,
    });
    expect(await text(workspace, await workspace.resolve("empty", "read"))).toBe("");
    expect(await workspace.stat(target)).toMatchObject({ sizeBytes: 10, modifiedMs: 0 });
  });

  it("reads what is wanted, and asks about whole files only", async () => {
    const workspace = await make({ a: "0123456789" });
    const target = await workspace.resolve("a", "read");
    const asked: string[] = [];
    const answer = (isWanted: boolean) => (bytes: Uint8Array) => {
      asked.push(Buffer.from(bytes).toString());
      return isWanted;
    };
    expect(await workspace.readIf(target, answer(true))).toEqual({
      bytes: bytesLike("0123456789"),
      isTruncated: false,
    });
    expect(await workspace.readIf(target, answer(false))).toBeUndefined();
    expect(await workspace.readIf(target, answer(false), { maxBytes: 4 })).toEqual({
      bytes: bytesLike("0123"),
      isTruncated: true,
    });
    expect(asked).toEqual(["0123456789", "0123456789"]);
  });

  it("refuses a private key by its content, wanted or not", async () => {
    const workspace = await make({ notes: "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n" });
    const target = await workspace.resolve("notes", "read");
    const isRefused = { code: "file_refused", message: "Refused to open 'notes': it is a private key." };
    await expect(workspace.readFile(target)).rejects.toMatchObject(isRefused);
    await expect(workspace.readIf(target, () => false)).rejects.toMatchObject(isRefused);
  });

  it("tells a file from a directory", async () => {
    const workspace = await make({ "d/a": "" });
    const directory = await workspace.resolve("d", "read");
    const file = await workspace.resolve("d/a", "read");
    await expect(workspace.readFile(directory)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(workspace.list(file, { limit: 1 })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("lists sorted without regard to case, up to the limit, and counts all", async () => {
    const workspace = await make({ "B.ts": "", "a.ts": "", "C/x": "", "empty/": "" });
    const root = await workspace.resolve(".", "read");
    const listing = await workspace.list(root, { limit: 3 });
    expect(listing.entries.map(({ name, kind }) => [name, kind])).toEqual([
      ["a.ts", "file"],
      ["B.ts", "file"],
      ["C", "directory"],
    ]);
    expect(listing.total).toBe(4);
    const empty = await workspace.resolve("empty", "read");
    expect(await workspace.list(empty, { limit: 3 })).toEqual({ entries: [], total: 0 });
  });

  it("walks sorted by whole path, hidden files included, .git and node_modules left out", async () => {
    const workspace = await make({
      "b.ts": "",
      "a/z.ts": "",
      "a.ts": "",
      "a-b.ts": "",
      ".hidden/h.ts": "",
      ".git/config": "",
      "node_modules/m/index.js": "",
      "a/node_modules/n.js": "",
      id_rsa: "",
    });
    expect(await walk(workspace, ".")).toEqual([".hidden/h.ts", "a-b.ts", "a.ts", "a/z.ts", "b.ts"]);
    expect(await walk(workspace, "a")).toEqual(["a/z.ts"]);
    expect(await walk(workspace, "node_modules")).toEqual(["node_modules/m/index.js"]);
    expect(await walk(workspace, "a", { mentioned: ["node_modules"] })).toEqual(["a/node_modules/n.js", "a/z.ts"]);
    expect(await walk(workspace, "a", { include: (path) => path !== "z.ts" })).toEqual([]);
  });

  it("honours .gitignore above, at and below the walked directory", async () => {
    const workspace = await make({
      ".gitignore": "*.log\n/out/\nnode_modules\n",
      "out/o.ts": "",
      "a.log": "",
      "sub/.gitignore": "!keep.log\nsecret/\n",
      "sub/keep.log": "",
      "sub/b.log": "",
      "sub/out/p.ts": "",
      "sub/secret/s.ts": "",
      "node_modules/m.js": "",
    });
    expect(await walk(workspace, ".")).toEqual([".gitignore", "sub/.gitignore", "sub/keep.log", "sub/out/p.ts"]);
    expect(await walk(workspace, "sub")).toEqual(["sub/.gitignore", "sub/keep.log", "sub/out/p.ts"]);
    // Asked for by name, an ignored directory is walked.
    expect(await walk(workspace, "out")).toEqual(["out/o.ts"]);
    expect(await walk(workspace, ".", { mentioned: ["node_modules"] })).toContain("node_modules/m.js");
  });

  it("does not choke on a .gitignore made to be slow", async () => {
    const workspace = await make({
      ".gitignore": `${"*a".repeat(40)}b\n*.log\n`,
      [`${"a".repeat(200)}`]: "",
      "x.log": "",
    });
    expect(await walk(workspace, ".")).toEqual([".gitignore", "a".repeat(200)]);
  });

  it("stops when told to", async () => {
    const workspace = await make({ a: "x", b: "" });
    const stop = new AbortController();
    const root = await workspace.resolve(".", "read");
    const walking = (async () => {
      for await (const _ of workspace.walk(root, { signal: stop.signal })) stop.abort();
    })();
    await expect(walking).rejects.toMatchObject({ code: "aborted", message: "Operation aborted" });
    const file = await workspace.resolve("a", "read");
    await expect(workspace.readFile(file, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
    await expect(workspace.list(root, { limit: 9, signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
  });

  it("W-6: reads what may hold secrets only if the user says so, and never while walking", async () => {
    const files = { ".env": "KEY=1", "sub/server.pem": "x", "a.ts": "" };
    const workspace = await make(files);
    await expect(workspace.resolve(".env", "read")).rejects.toMatchObject({
      code: "file_refused",
      message: "Refused to open '.env': it may hold secrets (setting secrets.paths) and the user did not allow it.",
    });
    const asked: unknown[] = [];
    const permitted = await make(files, {
      permit: async (question) => {
        asked.push(question);
        return question.displayPath === ".env";
      },
    });
    expect(await text(permitted, await permitted.resolve(".env", "read"))).toBe("KEY=1");
    await expect(permitted.resolve("sub/server.pem", "read")).rejects.toThrow("it may hold secrets");
    const path = join(permitted.cwd, ".env");
    expect(asked[0]).toEqual({ intent: "read", path, displayPath: ".env", reason: "secret" });
    expect(await walk(permitted, ".")).toEqual(["a.ts"]);
    expect(asked).toHaveLength(2);
  });

  it("writes what was given, new or in the place of what the caller saw", async () => {
    const workspace = await make({ "a.ts": "old" });
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0, 13, 255);
    const created = await workspace.resolve("new/dir/b", "write");
    expect(created).toMatchObject({ kind: "absent", displayPath: "new/dir/b" });
    expect(await workspace.writeFile(created, { bytes, expected: "absent" })).toEqual({ created: true });
    const read = await workspace.readFile(await workspace.resolve("new/dir/b", "read"));
    expect([...read.bytes]).toEqual([...bytes]);
    const target = await workspace.resolve("a.ts", "write");
    expect(await workspace.writeFile(target, { bytes: Buffer.from("new"), expected: hashOf("old") })).toEqual({
      created: false,
    });
    expect(await text(workspace, await workspace.resolve("a.ts", "read"))).toBe("new");
    expect(await walk(workspace, ".")).toEqual(["a.ts", "new/dir/b"]);
  });

  it("refuses to write over what the caller did not see, outside, and to what is protected", async () => {
    const workspace = await make({ "a.ts": "old", "d/x": "" });
    const bytes = Buffer.from("new");
    const target = await workspace.resolve("a.ts", "write");
    const changed = {
      code: "file_changed",
      message: "File changed since it was last read: a.ts. Read it again.",
    };
    await expect(workspace.writeFile(target, { bytes, expected: hashOf("else") })).rejects.toMatchObject(changed);
    await expect(workspace.writeFile(target, { bytes, expected: "absent" })).rejects.toMatchObject(changed);
    await expect(workspace.writeFile(target, { bytes, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
    expect(await text(workspace, await workspace.resolve("a.ts", "read"))).toBe("old");
    await expect(workspace.resolve("d", "write")).rejects.toThrow("Cannot write d: it is a directory.");
    await expect(workspace.resolve("a.ts/b", "write")).rejects.toThrow("a.ts is not a directory");
    await expect(workspace.resolve("../x", "write")).rejects.toThrow("lies outside of");
    await expect(workspace.resolve(".git/config", "write")).rejects.toThrow("is protected");
  });

  it("gives a file the mode that is asked for, and else leaves it", async () => {
    const workspace = await make({ "a.ts": "old" });
    const modeOf = async (path: string) => (await workspace.stat(await workspace.resolve(path, "read"))).mode;
    const write = async (path: string, mode?: number) =>
      workspace.writeFile(await workspace.resolve(path, "write"), {
        bytes: Buffer.from("x"),
        ...(mode === undefined ? {} : { mode }),
      });
    for (const path of ["a.ts", "new.sh"]) {
      await write(path, 0o750);
      expect(await modeOf(path)).toBe(0o750);
      await write(path);
      expect(await modeOf(path)).toBe(0o750);
    }
  });

  it("removes a file that is as the caller saw it, and no other", async () => {
    const workspace = await make({ "d/a.ts": "old", "read-only.ts": "old" });
    const target = await workspace.resolve("d/a.ts", "write");
    await expect(workspace.removeFile(target, { expected: hashOf("else") })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(await text(workspace, await workspace.resolve("d/a.ts", "read"))).toBe("old");
    await workspace.removeFile(target, { expected: hashOf("old") });
    await expect(workspace.resolve("d/a.ts", "read")).rejects.toMatchObject({ code: "not_found" });
    expect(await workspace.resolve("d", "read")).toMatchObject({ kind: "directory" });
    for (const again of [target, await workspace.resolve("d/a.ts", "write")])
      await expect(workspace.removeFile(again, { expected: hashOf("old") })).rejects.toMatchObject({
        code: "file_changed",
      });
    const kept = await workspace.resolve("read-only.ts", "write");
    await workspace.writeFile(kept, { bytes: Buffer.from("old"), mode: 0o444 });
    await expect(workspace.removeFile(kept, { expected: hashOf("old") })).rejects.toThrow(
      "Cannot write read-only.ts: it is read-only.",
    );
  });

  it("L-3: lets one work at a time on a file", async () => {
    const workspace = await make({ n: "0" });
    const addOne = async () => {
      const target = await workspace.resolve("n", "write");
      return workspace.exclusively(target, async () => {
        const seen = await text(workspace, await workspace.resolve("n", "read"));
        const fresh = await workspace.resolve("n", "write");
        return workspace.writeFile(fresh, { bytes: Buffer.from(String(Number(seen) + 1)), expected: hashOf(seen) });
      });
    };
    await Promise.all(Array.from({ length: 20 }, addOne));
    expect(await text(workspace, await workspace.resolve("n", "read"))).toBe("20");
  });
});

it("shows what is in memory", async () => {
  const workspace = createMemoryWorkspace({ "a.ts": "old", bytes: Uint8Array.of(255), "/etc/x": "y", "d/": "" });
  const write = async (path: string, content: string) =>
    workspace.writeFile(await workspace.resolve(path, "write"), { bytes: Buffer.from(content) });
  await write("a.ts", "new");
  await write("d/b", "\ufeffb");
  expect(workspace.files).toEqual({ "/etc/x": "y", "a.ts": "new", bytes: Uint8Array.of(255), "d/b": "\ufeffb" });
});

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

async function walk(workspace: Workspace, path: string, options?: WalkOptions): Promise<string[]> {
  const found: string[] = [];
  for await (const file of workspace.walk(await workspace.resolve(path, "read"), options)) found.push(file.displayPath);
  return found;
}

async function text(workspace: Workspace, target: Target): Promise<string> {
  return Buffer.from((await workspace.readFile(target)).bytes).toString();
}

function bytesLike(content: string): unknown {
  return expect.objectContaining({ length: content.length, 0: content.charCodeAt(0) });
}

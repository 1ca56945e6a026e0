// The makers of built-in tools with the options of published extensions: where the work is done, and what of it is seen.
// Starts programs.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createModuleHome, type ModuleHome } from "../../../test/kit/module-home.js";
import type { AnyTool } from "../../tools/tool.js";
import type { MakerOptions } from "./tool-makers.js";

let home: ModuleHome;
beforeEach(() => {
  home = createModuleHome();
});
afterEach(() => home.remove());

type Maker = (cwd?: string, options?: MakerOptions) => AnyTool;
type Work = (makers: Record<string, Maker>, cwd: string) => Promise<unknown>;

/** Runs where an extension would. */
async function inExtension(work: Work, options: Parameters<ModuleHome["open"]>[1] = {}): Promise<unknown> {
  let answer: unknown;
  const { session } = await home.open(
    [],
    {
      ...options,
      extensions: [
        (pi) =>
          pi.registerCommand("go", {
            handler: async (_args, ctx) => {
              answer = await work(pi.pi as unknown as Record<string, Maker>, ctx.cwd);
            },
          }),
      ],
    },
    "on disk",
  );
  await session.prompt("/go");
  await session.dispose();
  return answer;
}

type Execute = (
  id: string,
  params: object,
  signal?: AbortSignal,
  onUpdate?: () => void,
) => Promise<{ content: { text: string }[]; isError?: boolean }>;

async function use(tool: AnyTool | undefined, params: object, signal?: AbortSignal): Promise<string> {
  const prepared = tool?.prepareArguments?.(params as Record<string, unknown>) ?? params;
  if (!tool) throw new Error("There is no such maker");
  const { content } = await (tool.execute as unknown as Execute)("1", prepared, signal, () => {});
  return content.map(({ text }) => text).join("");
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => "none",
    (error: Error) => error.message,
  );

describe("operations", () => {
  /** Files that are nowhere on the disk. */
  const elsewhere = () => {
    const files = new Map([
      ["/far/a.txt", "one\ntwo\n"],
      ["/far/src/b.ts", "const two = 2;\n"],
    ]);
    const isDirectory = (path: string) => [...files.keys()].some((file) => file.startsWith(`${path}/`));
    const readFile = async (path: string) => Buffer.from(files.get(path) ?? "");
    const access = async (path: string) => {
      if (!files.has(path)) throw new Error("ENOENT");
    };
    const writeFile = async (path: string, content: string) => void files.set(path, content);
    const exists = (path: string) => files.has(path) || isDirectory(path);
    const readdir = (path: string) => [
      ...new Set(
        [...files.keys()]
          .filter((file) => file.startsWith(`${path}/`))
          .map((file) => file.slice(path.length + 1).split("/")[0] ?? ""),
      ),
    ];
    const glob = async (pattern: string, cwd: string, { limit }: { limit: number }) =>
      [...files.keys()]
        .filter((file) => file.startsWith(cwd) && file.endsWith(pattern.replace(/^.*\*/, "")))
        .slice(0, limit);
    const made: string[] = [];
    const mkdir = async (path: string) => void made.push(path);
    return {
      files,
      made,
      isDirectory,
      readFile,
      access,
      writeFile,
      exists,
      readdir,
      glob,
      mkdir,
      stat: (path: string) => ({ isDirectory: () => isDirectory(path) }),
    };
  };

  it("reach the files of every tool", async () => {
    const far = elsewhere();
    const answer = await inExtension(async (make) => {
      const tool = (name: string, names: (keyof typeof far)[]) =>
        make[`create${name}Tool`]?.("/far", { operations: Object.fromEntries(names.map((one) => [one, far[one]])) });
      const read = tool("Read", ["readFile", "access"]);
      return {
        read: await use(read, { path: "a.txt" }),
        missing: await failure(use(read, { path: "none.txt" })),
        write: await use(tool("Write", ["writeFile", "mkdir"]), { path: "new/c.txt", content: "three\n" }),
        edit: await use(tool("Edit", ["readFile", "writeFile", "access"]), {
          path: "a.txt",
          old_text: "two",
          new_text: "2",
        }),
        ls: await use(tool("Ls", ["exists", "stat", "readdir"]), {}),
        find: await use(tool("Find", ["exists", "glob"]), { pattern: "**/*.ts" }),
        grep: await use(tool("Grep", ["isDirectory", "readFile"]), { pattern: "two", path: "/far/src/b.ts" }),
        tiers: ["Read", "Write", "Edit"].map((name) => tool(name, ["readFile", "writeFile", "access"])?.approval),
      };
    });
    expect(answer).toMatchObject({
      read: expect.stringContaining("two"),
      missing: expect.stringContaining("none.txt"),
      write: "Successfully wrote 6 bytes to new/c.txt",
      edit: expect.stringContaining("a.txt"),
      ls: "a.txt\nnew/\nsrc/",
      find: "/far/src/b.ts",
      grep: expect.stringContaining("const two = 2;"),
      tiers: ["read", "exec", "exec"],
    });
    expect(Object.fromEntries(far.files)).toEqual({
      "/far/a.txt": "one\n2\n",
      "/far/src/b.ts": "const two = 2;\n",
      "/far/new/c.txt": "three\n",
    });
    expect(far.made).toEqual(["/far/new"]);
  });

  it("several edits of files over there are made one by one", async () => {
    const far = elsewhere();
    await inExtension(async (make) => {
      const { readFile, writeFile, access } = far;
      const edit = make.createEditTool?.("/far", { operations: { readFile, writeFile, access } });
      const edits = [
        { path: "a.txt", old_text: "one", new_text: "1" },
        { path: "src/b.ts", old_text: "two", new_text: "zwei" },
      ];
      return use(edit, { edits });
    });
    expect([far.files.get("/far/a.txt"), far.files.get("/far/src/b.ts")]).toEqual(["1\ntwo\n", "const zwei = 2;\n"]);
  });

  it("run commands, and every command ends", async () => {
    const heard: unknown[] = [];
    const answer = await inExtension(async (make) => {
      const exec = async (
        command: string,
        cwd: string,
        options: { onData(data: Buffer): void; timeout?: number; signal?: AbortSignal },
      ) => {
        heard.push([command, cwd, options.timeout]);
        if (command.includes("hang")) return new Promise<never>(() => {});
        if (command.includes("late")) throw new Error("timeout:5");
        if (command.includes("gone")) throw new Error("connection lost");
        options.onData(Buffer.from("far away\n"));
        return { exitCode: command.includes("fail") ? 3 : 0 };
      };
      const bash = make.createBashTool?.(".", { operations: { exec }, commandPrefix: "set -e" });
      const stop = new AbortController();
      const hung = use(bash, { command: "hang" }, stop.signal);
      setImmediate(() => stop.abort());
      return {
        ok: await use(bash, { command: "ls", timeout: 5 }),
        fail: await use(bash, { command: "fail" }),
        late: await use(bash, { command: "late", timeout: 5 }),
        gone: await failure(use(bash, { command: "gone" })),
        hung: await hung,
      };
    });
    expect(answer).toEqual({
      ok: "far away",
      fail: "far away\n\nCommand exited with code 3",
      late: "(no output)\n\nCommand timed out after 5 seconds",
      gone: "connection lost",
      hung: "(no output)\n\nCommand aborted",
    });
    expect(heard[1]).toEqual(["set -e\nls", expect.stringMatching(/project$/), 5]);
  });
});

it("a hook changes what is spawned, and sees no keys", async () => {
  home.put("other/here.txt", "");
  let shown: Record<string, string | undefined> = {};
  const env = { PATH: process.env.PATH, HOME: home.base, ANTHROPIC_API_KEY: "secret" };
  const answer = await inExtension(
    async (make) => {
      const spawnHook: MakerOptions["spawnHook"] = ({ command, env }) => {
        shown = env;
        return { command: `${command}; ls; echo $WORD`, cwd: `${home.base}/other`, env: { ...env, WORD: "hooked" } };
      };
      return use(make.createBashToolDefinition?.(".", { spawnHook }), { command: "echo first" });
    },
    { env },
  );
  expect(answer).toBe("first\nhere.txt\nhooked");
  expect([shown.PATH, shown.ANTHROPIC_API_KEY]).toEqual([env.PATH, undefined]);
});

it.each<[string, string, MakerOptions, string]>([
  [
    "an unknown option",
    "createBashTool",
    { spawnHok: () => {} } as MakerOptions,
    'createBashTool has no option "spawnHok"; did you mean "spawnHook"?',
  ],
  [
    "an option of another tool",
    "createReadTool",
    { commandPrefix: "x" },
    'createReadTool has no option "commandPrefix".',
  ],
  [
    "operations without what it needs",
    "createReadTool",
    { operations: {} },
    "The operations of createReadTool need a function readFile.",
  ],
])("refuses %s", async (_title, name, options, sentence) => {
  expect(await inExtension(async (make) => failure((async () => make[name]?.(".", options))()))).toBe(sentence);
});

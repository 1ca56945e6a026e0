import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { openSearchRig, type SearchRig, textOf } from "../../test/kit/search-rig.js";
import { createNodeWorkspace } from "../files/node-workspace.js";
import type { Workspace } from "../files/workspace.js";
import type { ProcessRequest } from "../processes/processes.js";
import { createFind } from "./find.js";

const engines = [
  ["ripgrep", {}],
  ["the fallback", { without: "ripgrep" }],
] as const;

/** From the newest to the oldest. */
const names = [
  "src/new.ts",
  "b.ts",
  ".hidden/h.ts",
  "src/deep/old.ts",
  "app/[id]/page.ts",
  "a.md",
  "ignored.ts",
  "node_modules/m/m.ts",
  ".gitignore",
];

let rig: SearchRig;
beforeAll(async () => {
  rig = await openSearchRig(
    Object.fromEntries(names.map((name) => [name, name === ".gitignore" ? "ignored.ts\n" : ""])),
  );
  for (const [index, name] of names.entries()) await utimes(join(rig.cwd, name), 1e9 - index, 1e9 - index);
  await symlink(join(rig.cwd, "src"), join(rig.cwd, "linked"));
});
afterAll(() => rig.close());

describe.each(engines)("with %s", (_, options) => {
  const found = async (args: Record<string, unknown>) => textOf(await rig.find(args, options)).split("\n");

  it.each([
    [
      "a name at any depth, newest first",
      "*.ts",
      ["src/new.ts", "b.ts", ".hidden/h.ts", "src/deep/old.ts", "app/[id]/page.ts"],
    ],
    ["a plain name at any depth", "old.ts", ["src/deep/old.ts"]],
    ["the directory in front", "src/*.ts", ["src/new.ts"]],
    ["any depth below it", "src/**/*.ts", ["src/new.ts", "src/deep/old.ts"]],
    ["what is in a directory", "src", ["src/new.ts", "src/deep/", "src/deep/old.ts"]],
    [
      "directories, in the place of their newest file",
      "*",
      [
        "src/",
        "src/new.ts",
        "b.ts",
        ".hidden/",
        ".hidden/h.ts",
        "src/deep/",
        "src/deep/old.ts",
        "app/",
        "app/[id]/",
        "app/[id]/page.ts",
        "a.md",
        ".gitignore",
      ],
    ],
    ["directories alone", "**/*/", ["src/", ".hidden/", "src/deep/", "app/", "app/[id]/"]],
    ["a directory by its name", "**/deep", ["src/deep/"]],
    ["alternatives", "{a,b}.{ts,md}", ["b.ts", "a.md"]],
    ["one file", "src/new.ts", ["src/new.ts"]],
    ["a name that looks like a glob", "app/[id]/*.ts", ["app/[id]/page.ts"]],
    ["what is usually skipped, when mentioned", "node_modules/**/*.ts", ["node_modules/m/m.ts"]],
    ["the same in the middle of a glob", "**/node_modules/*/*.ts", ["node_modules/m/m.ts"]],
    ["nothing through links", "linked/*.ts", ["src/new.ts".replace("src", "linked")]],
  ])("finds %s", async (_, pattern, expected) => {
    expect(await found({ pattern })).toEqual(expected);
  });

  it("leaves hidden names out when asked", async () => {
    expect(await found({ pattern: "*.ts", hidden: false })).not.toContain(".hidden/h.ts");
  });

  it.each([
    [{ path: "src" }, ["src/new.ts", "src/deep/", "src/deep/old.ts"]],
    [{ path: "src/", pattern: "*.ts" }, ["src/new.ts", "src/deep/old.ts"]],
    [{ path: "src", pattern: "deep/*" }, ["src/deep/old.ts"]],
    [{ path: "app/[id]", pattern: "*.ts" }, ["app/[id]/page.ts"]],
    [{ path: ".", pattern: "a.*" }, ["a.md"]],
  ])("takes %j", async (args, expected) => {
    expect(await found(args)).toEqual(expected);
  });

  it("stops at the limit and says so", async () => {
    const result = await rig.find({ pattern: "*.ts", limit: 2 }, options);
    expect(textOf(result)).toBe("src/new.ts\nb.ts\n\n[2 results limit reached. Use limit=4 for more]");
    expect(result.details).toEqual({ meta: { limits: { resultLimit: 2 } } });
    expect(await found({ pattern: "*.ts", limit: 5 })).toHaveLength(5);
  });

  it.each([
    [{ pattern: " " }, "Pattern must not be empty"],
    [{ pattern: "/" }, "Searching from root directory '/' is not allowed"],
    [{ pattern: "/*.ts" }, "Searching from root directory '/' is not allowed"],
    [{ pattern: "b.ts/*.ts" }, "Path is not a directory: b.ts"],
    [{ path: "b.ts", pattern: "*" }, "Path is not a directory: b.ts"],
    [{ pattern: "nowhere/*.ts" }, "Path not found: nowhere"],
    [{ pattern: "*", limit: 0 }, "Limit must be a positive number"],
  ])("refuses %j", async (args, problem) => {
    await expect(rig.find(args, options)).rejects.toThrow(problem);
  });

  it.each(["*.zig", "src/none.ts", "nothing"])("warns when %s finds nothing", async (pattern) => {
    expect(await rig.find({ pattern }, options)).toEqual({
      content: [{ type: "text", text: "No files found matching pattern" }],
      details: { meta: {} },
      isWarning: true,
    });
  });

  it("shows any name on one line", async () => {
    const odd = await openSearchRig({ "a/x\n# b\ty.ts": "", "c\u001b[31m.ts": "" });
    const lines = textOf(await odd.find({ pattern: "*.ts" }, options)).split("\n");
    expect(lines.sort()).toEqual(["a/x\\n# b\\ty.ts", "c\\u001b[31m.ts"]);
    await odd.close();
  });

  it("keeps to what may be read outside of the working directory", async () => {
    const places = await openSearchRig();
    const homes = join(dirname(places.cwd), "home");
    for (const owner of ["me", "other"]) {
      await mkdir(join(homes, owner), { recursive: true });
      await writeFile(join(homes, owner, "diary.txt"), "");
    }
    const workspace = createNodeWorkspace({ cwd: places.cwd, home: join(homes, "me") });
    const ripgrepPath = "without" in options ? { ripgrepPath: () => undefined } : {};
    const tool = createFind({ workspace, unattended: workspace, processes: places.processes, ...ripgrepPath });
    const result = await tool.execute("call_1", { pattern: homes }, undefined, () => {}, places);
    expect(textOf(result).split("\n")).toContain(join(homes, "me/diary.txt"));
    expect(textOf(result)).not.toContain(join(homes, "other"));
    await places.close();
  });

  it("stops when asked", async () => {
    const signal = AbortSignal.abort();
    await expect(rig.find({ pattern: "*" }, { ...options, signal })).rejects.toThrow("Operation aborted");
  });
});

it("keeps the order in which ripgrep sorts, and leaves the sorting to it where there are too many", async () => {
  const told: string[][] = [];
  const play = (outputs: string[]) => ({
    run: async ({ command, onOutput }: ProcessRequest) => {
      told.push("args" in command ? [...command.args] : []);
      onOutput?.(Buffer.from(outputs[told.length - 1] ?? ""), "stdout");
      return { exitCode: 0 };
    },
    shutdown: async () => {},
  });
  const listed = (paths: string[]) => paths.map((path) => `./${path}\0`).join("");
  const few = ["gone.ts", "src/deep/old.ts", "a.md", "src/new.ts", "gone2.ts"];
  expect(textOf(await rig.find({ pattern: "*.ts" }, { processes: play([listed(few)]) }))).toBe(
    "src/new.ts\nsrc/deep/old.ts\ngone.ts\ngone2.ts",
  );
  expect(told.splice(0)).toEqual([expect.arrayContaining(["--threads=1"])]);
  const many = listed(Array.from({ length: 20_001 }, (_, index) => `${index}.ts`));
  const sorted = listed(["src/deep/old.ts", "src/new.ts"]);
  expect(textOf(await rig.find({ pattern: "*.ts" }, { processes: play([many, sorted]) }))).toBe(
    "src/deep/old.ts\nsrc/new.ts",
  );
  expect(told).toEqual([expect.anything(), expect.arrayContaining(["--sortr=modified"])]);
});

it("tells what it would if ripgrep sorted: any ages, any glob, any limit", async () => {
  const paths = ["a.ts", "b.md", "d/a.ts", "d/c.md", "d/e/f.ts", "d/e/g", "h/i/j.ts", "h/i/k.md", "l/m", ".n/o.ts"];
  const some = await openSearchRig(Object.fromEntries(paths.map((path) => [path, ""])));
  const workspace = createNodeWorkspace({ cwd: some.cwd, home: some.cwd });
  const answer = (modifiedTimes: Workspace["modifiedTimes"], args: { pattern: string; limit: number }) => {
    const unattended = { ...workspace, modifiedTimes };
    const tool = createFind({ workspace, unattended, processes: some.processes });
    return tool.execute("call_1", args, undefined, () => {}, some);
  };
  const ages = fc.array(fc.nat(3), { minLength: paths.length, maxLength: paths.length });
  const pattern = fc.constantFrom("**/*", "*.ts", "*.md", "a.*", "d/**/*.ts", "*e*/", "d*", "?.ts", "*i*", "[a-d]*");
  const question = fc.record({ pattern, limit: fc.integer({ min: 1, max: 20 }) });
  try {
    await fc.assert(
      fc.asyncProperty(ages, question, async (seconds, args) => {
        for (const [index, path] of paths.entries())
          await utimes(join(some.cwd, path), 1e9, 1e9 + (seconds[index] ?? 0));
        const ours = await answer(workspace.modifiedTimes, args);
        expect(ours).toEqual(await answer(async () => undefined, args));
      }),
      { numRuns: runs(40) },
    );
  } finally {
    await some.close();
  }
});

it("gives up in time, with ripgrep and without", async () => {
  const late = { run: async () => ({ exitCode: 143, stopped: "timed_out" as const }), shutdown: async () => {} };
  await expect(rig.find({ pattern: "*" }, { processes: late, timeoutMs: 5000 })).rejects.toThrow(
    "find timed out after 5s",
  );
  const clock = {
    now: () => 0,
    after: (_delayMs: number, callback: () => void) => {
      callback();
      return () => {};
    },
  };
  await expect(rig.find({ pattern: "*" }, { without: "ripgrep", timeoutMs: 2000, clock })).rejects.toThrow(
    "find timed out after 2s",
  );
});

it("cuts a long list at whole lines", async () => {
  const many = await openSearchRig(
    Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`${"d".repeat(90)}/${index}.ts`, ""])),
  );
  const result = await many.find({ pattern: "*.ts" });
  expect(textOf(result)).toMatch(/^(?:d{90}\/\d+\.ts\n)+\n\[Showing lines 1-\d+ of 700 \(50KB limit\)\]$/);
  expect(result.details).toMatchObject({ meta: { truncation: { truncatedBy: "bytes", totalLines: 700 } } });
  await many.close();
});

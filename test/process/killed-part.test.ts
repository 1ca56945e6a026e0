// A part of a preview whose process is killed, at a step that the test picks, and the next start that finds what it left:
// the part is decided or it is not, on the disk and on record.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, type Outcome, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

const { home, env, remove } = emptyHome();
afterAll(remove);

let cwd = "";
let number = 0;
beforeEach(() => {
  cwd = join(home, `project${++number}`);
  mkdirSync(cwd);
  for (const n of [1, 2, 3]) writeFileSync(join(cwd, `f${n}.ts`), `old(${n});\n`);
});

const galley = (...args: string[]): Promise<Outcome> => run(process.execPath, [galleyBin, ...args], { env, cwd });

/** Killed right before the first call of a function of the disk for a path with this ending. */
function killedAt(step: "rename" | "link" | "unlink", ending: string, ...args: string[]): Promise<Outcome> {
  const preload = join(home, `kill-${step}-${number}.cjs`);
  writeFileSync(
    preload,
    `const { promises } = require("node:fs");
const real = promises.${step};
promises.${step} = (...paths) => {
  if (String(paths.at(-1)).endsWith(${JSON.stringify(ending)})) process.kill(process.pid, "SIGKILL");
  return real(...paths);
};
`,
  );
  return run(process.execPath, ["--require", preload, galleyBin, ...args], { env, cwd });
}

const words = () => [1, 2, 3].map((n) => readFileSync(join(cwd, `f${n}.ts`), "utf8").split("(")[0]);
const preview = () => galley("-p", "replace old($A) with fresh($A) in .");
const part = ["apply", "pa_1", "--files", "f1.ts,f2.ts", "--reason", "these two"];

async function pending() {
  const { actions } = JSON.parse((await galley("pending", "--json")).stdout) as {
    actions: { label: string; status: string; revision: number; files: { path: string }[] }[];
  };
  return actions.map(({ label, status, revision, files }) => [label, status, revision, files.map(({ path }) => path)]);
}

/** The entries about parts, and the plan as it was staged. */
function onRecord() {
  const sessions = join(home, ".galley", "agent", "sessions");
  const names = readdirSync(sessions, { recursive: true }).map(String);
  const here = names.filter((name) => name.includes(`project${number}`));
  const file = here.find((name) => name.endsWith(".jsonl")) ?? expect.fail();
  const plans = here.filter((name) => name.endsWith(".plan"));
  const parts = readFileSync(join(sessions, file), "utf8")
    .split("\n")
    .flatMap((line) => (line.includes('"event":"part"') ? [(JSON.parse(line) as { data: unknown }).data] : []));
  return { parts, plans: plans.map((name) => readFileSync(join(sessions, name), "utf8")) };
}

const rest = [["AST Edit: 1 replacement in 1 file", "pending", 2, ["f3.ts"]]];
const decided = {
  event: "part",
  id: "pa_1",
  revision: 2,
  action: "apply",
  by: "user",
  reason: "these two",
  settled: [{ path: "f1.ts" }, { path: "f2.ts" }],
  changeId: expect.stringMatching(/^ch_[0-9a-f]{8}$/),
};

describe("J-18: a process that is killed while it applies a part", () => {
  it.each([
    ["between the files", "rename", "f2.ts", 1],
    ["between the files and the part's entry", "unlink", ".old", 2],
    ["between the part's entry and the end of the journal", "unlink", ".gj", 2],
  ] as const)("%s: the next start makes the whole part new, once, and the rest stays pending", async (...at) => {
    const [, step, ending, written] = at;
    await preview();
    const [staged] = onRecord().plans;
    expect((await killedAt(step, ending, ...part)).code).toBeNull();
    expect(words().filter((word) => word === "fresh")).toHaveLength(written);
    expect((await galley("recover")).code).toBe(0);
    expect(words()).toEqual(["fresh", "fresh", "old"]);
    expect(await pending()).toEqual(rest);
    expect(onRecord()).toMatchObject({ parts: [decided], plans: [staged] });
    expect((await galley("recover")).stdout).toBe("Nothing to recover.\n");
    expect((await galley("apply", "pa_1")).code).toBe(0);
    expect(words()).toEqual(["fresh", "fresh", "fresh"]);
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
    expect(onRecord()).toMatchObject({ parts: [decided], plans: [staged] });
  });

  it("before the commit: nothing was decided, and nothing is on record", async () => {
    await preview();
    expect((await killedAt("link", ".old", ...part)).code).toBeNull();
    expect((await galley("recover")).code).toBe(0);
    expect(words()).toEqual(["old", "old", "old"]);
    expect(await pending()).toEqual([
      ["AST Edit: 3 replacements in 3 files", "pending", 1, ["f1.ts", "f2.ts", "f3.ts"]],
    ]);
    expect(onRecord().parts).toEqual([]);
  });
});

describe("J-18: a process that is killed while it applies an action with the part of the one below that it rests on", () => {
  const stack = () =>
    galley(
      "-p",
      "--stage",
      "replace old($A) with fresh($A) in .",
      "--then",
      "replace fresh($A) with newer($A) in f1.ts",
    );
  const both = ["apply", "pa_2", "--with-deps", "--reason", "this one"];

  it.each([
    ["while the file is written", "rename", "f1.ts", "old"],
    ["between the file and the entries", "unlink", ".old", "newer"],
    ["between the entries and the end of the journal", "unlink", ".gj", "newer"],
  ] as const)("%s: the next start has both on record, once, and the rest of the lower one stays", async (...at) => {
    const [, step, ending, word] = at;
    await stack();
    const { plans } = onRecord();
    expect((await killedAt(step, ending, ...both)).code).toBeNull();
    expect(words()).toEqual([word, "old", "old"]);
    expect((await galley("recover")).code).toBe(0);
    expect(words()).toEqual(["newer", "old", "old"]);
    expect(await pending()).toEqual([["AST Edit: 2 replacements in 2 files", "pending", 2, ["f2.ts", "f3.ts"]]]);
    expect(onRecord().parts).toMatchObject([
      { id: "pa_1", revision: 2, action: "apply", settled: [{ path: "f1.ts" }] },
    ]);
    expect(onRecord().plans).toEqual(plans);
    expect((await galley("recover")).stdout).toBe("Nothing to recover.\n");
    expect((await galley("apply", "pa_1")).code).toBe(0);
    expect(words()).toEqual(["newer", "fresh", "fresh"]);
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it("before the commit: nothing was decided, and both are as they were", async () => {
    await stack();
    expect((await killedAt("link", ".old", ...both)).code).toBeNull();
    expect((await galley("recover")).code).toBe(0);
    expect(words()).toEqual(["old", "old", "old"]);
    expect((await pending()).map(([, status, revision, files]) => [status, revision, files])).toEqual([
      ["pending", 1, ["f1.ts"]],
      ["pending", 1, ["f1.ts", "f2.ts", "f3.ts"]],
    ]);
    expect(onRecord().parts).toEqual([]);
  });
});

// An apply whose process is killed, at a step that the test picks, and the next start that finds what it left.

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
  for (const n of [1, 2, 3, 4, 5]) writeFileSync(join(cwd, `f${n}.ts`), `old(${n});\n`);
});

const galley = (...args: string[]): Promise<Outcome> => run(process.execPath, [galleyBin, ...args], { env, cwd });

/** The same, killed right before the `nth` call of a function of the disk. */
function killedAt(step: "rename" | "link", nth: number, ...args: string[]): Promise<Outcome> {
  const preload = join(home, `kill-${step}-${nth}.cjs`);
  writeFileSync(
    preload,
    `const { promises } = require("node:fs");
const real = promises.${step};
let calls = 0;
promises.${step} = (from, to) => {
  if (/\\.ts/.test(String(to)) && ++calls === ${nth}) process.kill(process.pid, "SIGKILL");
  return real(from, to);
};
`,
  );
  return run(process.execPath, ["--require", preload, galleyBin, ...args], { env, cwd });
}

const files = () => Object.fromEntries(readdirSync(cwd).map((name) => [name, readFileSync(join(cwd, name), "utf8")]));
const all = (word: string) => Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`f${n}.ts`, `${word}(${n});\n`]));
const count = (word: string) =>
  [1, 2, 3, 4, 5].filter((n) => readFileSync(join(cwd, `f${n}.ts`), "utf8") === `${word}(${n});\n`).length;
const preview = () => galley("-p", "replace old($A) with fresh($A) in .");

describe("a process that is killed", () => {
  it("between the second and the third rename: the next start makes all five new, and settles the action", async () => {
    expect((await preview()).code).toBe(0);
    const killed = await killedAt("rename", 3, "apply", "pa_1");
    expect(killed.code).toBeNull();
    expect([count("fresh"), count("old")]).toEqual([2, 3]);
    const half = "A change is half applied here, or is being applied now. To finish it: galley recover\n";
    expect((await galley("pending")).stdout).toMatch(new RegExp(`^pa_1 .*\\n${half}$`));
    expect(JSON.parse((await galley("pending", "--json")).stdout)).toMatchObject({ interrupted: true });
    const recovered = await galley("recover");
    expect(recovered).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^ch_[0-9a-f]{8} was finished: all files are new\.\n$/),
      stderr: "",
    });
    expect(files()).toEqual(all("fresh"));
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
    expect((await galley("recover")).stdout).toBe("Nothing to recover.\n");
    expect((await galley("undo")).code).toBe(0);
    expect(files()).toEqual(all("old"));
  });

  it("before the commit record: all five are old, nothing is left beside them, and it can be applied", async () => {
    await preview();
    expect((await killedAt("link", 3, "apply", "pa_1")).code).toBeNull();
    expect(count("old")).toBe(5);
    expect(Object.keys(files()).length).toBeGreaterThan(5); // what was put beside them
    // Any next start does it, not only the word for it.
    expect(await galley("apply", "pa_1")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Applied pa_1 as ch_\w+: AST Edit: 5 replacements in 5 files\n/),
    });
    expect(files()).toEqual(all("fresh"));
  });

  it("before the commit record: `recover` alone clears it away", async () => {
    await preview();
    await killedAt("link", 5, "apply", "pa_1");
    expect((await galley("recover")).code).toBe(0);
    expect(files()).toEqual(all("old"));
    expect((await galley("pending")).stdout).toMatch(/^pa_1 {2}pending o {2}f1\.ts \(\+4\) /);
  });

  it("again while it recovers: the start after that still finishes", async () => {
    await preview();
    await killedAt("rename", 2, "apply", "pa_1");
    expect((await killedAt("rename", 2, "recover")).code).toBeNull();
    expect([count("fresh"), count("old")]).toEqual([2, 3]);
    expect((await galley("recover")).code).toBe(0);
    expect(files()).toEqual(all("fresh"));
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });
});

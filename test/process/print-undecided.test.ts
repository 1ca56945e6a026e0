// A one-shot run whose previews nobody decided: what its process took along is named, and the code says so.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
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
  writeFileSync(join(cwd, "there.txt"), "found\n");
  writeFileSync(join(cwd, "a.ts"), "foo(1);\n");
  writeFileSync(join(cwd, "stage.js"), tool);
});

const galley = (...args: string[]): Promise<Outcome> => run(process.execPath, [galleyBin, ...args], { env, cwd });

const tool = `export default (pi) => ({
  name: "stage", description: "Stages a callback", parameters: { type: "object" },
  onSession({ reason }) {
    if (reason === "start") pi.pushPendingAction({ label: "Say hello", apply: () => "hello" });
  },
  execute: async () => ({ content: [] }),
});`;

const discarded = `Discarded undecided, because it cannot outlive the run:
  pa_1  Say hello
Run it again with --auto (the model decides) or --yes (applied at the end)`;

it("a callback is named on stderr as discarded, and the answer printed all the same", async () => {
  expect(await galley("--tool", "stage.js", "-p", "show there.txt")).toEqual({
    code: 0,
    stdout: "found\n",
    stderr: `${discarded}\n2 turns\n`,
  });
  expect((await galley("--tool", "stage.js", "--exit-code", "-p", "show there.txt")).code).toBe(5);
  const auto = await galley("--tool", "stage.js", "--auto", "-p", "show there.txt");
  expect(auto.stderr).toContain("\nRun it again with --yes (applied at the end)\n");
});

it("JSON mode says so in its last line, which lists as pending only what can still be decided", async () => {
  const { code, stdout } = await galley("--tool", "stage.js", "--mode", "json", "show there.txt");
  const last: unknown = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  const undecided = { pending: [], discarded: ["pa_1"] };
  expect([code, last]).toEqual([0, { type: "exit", code: 0, reason: "pending", message: discarded, ...undecided }]);
});

it("beside a plan, which stays pending, both are told", async () => {
  const { code, stderr } = await galley("--tool", "stage.js", "-p", "replace foo($A) with bar($A) in a.ts");
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Pending, not written yet:\n {2}pa_2 {2}AST Edit: /m);
  expect(stderr).toContain(`\n${discarded}\n`);
});

it("--yes decides, so nothing is left to tell", async () => {
  const { code, stderr } = await galley("--tool", "stage.js", "--yes", "-p", "show there.txt");
  expect([code, stderr]).toEqual([0, "2 turns\n"]);
});

// A secret of the user's environment in a real terminal: the model and its tools say it by every path, and neither the
// screen nor a file that the program leaves shows it. What it writes for the user is exact.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { filesBelow, hasTrace, tracesOf } from "../../../bench/kit-secrets/leaks.mjs";
import { openAi, startScriptedServer } from "../../../src/testing/index.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt, modelsAt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const secret = "Zk3_9dQ-xW7pLm2vTb8RnYc4";
const mask = "[secret:SHOP_PASSWORD]";

describe.skipIf(!tmuxVersion)(`a secret in the terminal${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("K-1: is on no screen and in no file but those that it was written to", async () => {
    const { home, env } = emptyHome();
    const [cwd, agentDir] = [join(home, "shop"), join(home, ".galley/agent")];
    for (const path of [cwd, agentDir]) mkdirSync(path, { recursive: true });
    const server = await startScriptedServer([
      call("bash", { command: `echo ${secret}; true` }, "c1"),
      call("edit", { edits: [{ path: "old.txt", old_text: "old", new_text: `e ${secret}` }] }, "c2"),
      openAi.text(`It is ${secret}.`),
      openAi.text("Seen."),
    ]);
    onTestFinished(() => server.close());
    writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
    writeFileSync(join(cwd, "old.txt"), "old\n");
    const terminal = new TmuxTerminal({ cwd, env });
    writeFileSync(join(home, "password"), secret);
    terminal.type("export SHOP_PASSWORD=$(cat ~/password)"); // what is typed is on the screen
    terminal.galley("--set", "approval.mode=ask", "go");
    await terminal.shows(`echo ${mask}; true`);
    await terminal.shows("y once");
    await new Promise((resolve) => setTimeout(resolve, 400)); // keys in the first 300 ms are no answer
    terminal.keys("a");
    await terminal.shows(`It is ${mask}.`);
    terminal.keys("C-r");
    await terminal.shows("Review · 1 pending"); // the conversation shows the change too
    await terminal.shows(`e ${mask}`);
    terminal.keys("q");
    await terminal.shows("ctrl+r review");
    const leave = async () => {
      terminal.write("/quit");
      terminal.keys("Enter");
      await terminal.shows(/galley --resume [\s\S]*\n\$$/);
    };
    await leave();
    terminal.galley("review");
    await terminal.shows("Review · 1 pending");
    await terminal.shows(`e ${mask}`);
    terminal.keys("q");
    await terminal.shows(/\n\$$/);
    expect(hasTrace(terminal.bytes + terminal.everything, tracesOf(secret))).toBeUndefined();

    terminal.type("clear");
    terminal.galley("-c");
    await terminal.shows("ctrl+r review");
    terminal.write(`Is it ${secret}?`);
    terminal.keys("Enter");
    await terminal.shows("Seen.");
    await leave();
    const isExact = (path: string) => /^password$|out\.txt$|\.plan$|undo|journal/.test(path);
    const files = filesBelow(home, { except: isExact });
    expect(files.filter(({ text }) => hasTrace(text, tracesOf(secret)) !== undefined).map(({ path }) => path)).toEqual(
      [],
    );
    const left = (name: RegExp) =>
      files
        .filter(({ path }) => name.test(path))
        .map(({ text }) => text)
        .join("");
    expect(left(/history\//)).toContain(`Is it ${mask}?`);
    expect(left(/sessions\/.*\.jsonl$/)).toContain(`Is it ${mask}?`);
    expect(existsSync(join(agentDir, "config.yml"))).toBe(false); // no call with a secret is allowed for good
  }, 60_000);
});

it("K-1: plain mode shows no secret either: in replies, results and the review", async () => {
  const { home, env } = emptyHome();
  const [cwd, agentDir] = [join(home, "shop"), join(home, ".galley/agent")];
  for (const path of [cwd, agentDir]) mkdirSync(path, { recursive: true });
  const server = await startScriptedServer([
    call("write", { path: "staged.txt", content: `w ${secret}\n` }),
    openAi.text(`It is ${secret}.`),
  ]);
  onTestFinished(() => server.close());
  writeFileSync(join(agentDir, "models.yml"), modelsAt(server.url));
  const { stdout, stderr } = await run(process.execPath, [galleyBin, "--plain", "--stage"], {
    ...{ cwd, env: { ...env, SHOP_PASSWORD: secret }, input: "go\n/review\nq\n/quit\n" },
  });
  expect(stdout).toContain(`w ${mask}`);
  expect(stdout).toContain(`It is ${mask}.`);
  expect(hasTrace(stdout + stderr, tracesOf(secret))).toBeUndefined();
});

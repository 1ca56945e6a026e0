// Keys and trust from within the terminal program: /login against a service on this machine leads to its models at once, and the
// key is nowhere but in its file; /logout removes it; /trust loads what the project brings.

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startScriptedServer } from "../../../src/testing/index.js";
import { openTerminal } from "../../kit/open-terminal.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const key = "sk-ant-api03-ThisKeyIsOnlyForTheTests";

describe.skipIf(!tmuxVersion)(`the first minute${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("stores a key with /login, chooses a model of it, and forgets it with /logout", async () => {
    const service = await startScriptedServer([{ status: 200, body: '{"data":[]}' }]);
    onTestFinished(() => service.close());
    const { terminal, start, home, agentDir } = await openTerminal({ env: { ANTHROPIC_BASE_URL: service.url } });
    await start();
    await terminal.shows("No model key found. You are talking to galley's planner");
    terminal.write("/login anthropic");
    terminal.keys("Enter");
    await terminal.shows("API key for anthropic (not shown):");
    terminal.write(key);
    terminal.keys("Enter");
    await terminal.shows(/Model[\s\S]*› /);
    expect(terminal.everything).toContain("anthropic: key works.");
    terminal.write("anthropic");
    await terminal.shows(/› anthropic\/\S+/);
    terminal.keys("Enter");
    await terminal.shows(/· stage +anthropic\/\S+/);
    terminal.write("/logout anthropic");
    terminal.keys("Enter");
    await terminal.shows("anthropic: removed from ~/.galley/agent/auth.json");
    await terminal.shows(/· stage/);
    terminal.write("/model anthropic");
    terminal.keys("Enter");
    await terminal.shows("No model anthropic with a key.");
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
    expect(terminal.bytes).not.toContain(key);
    expect(terminal.fact("pane_title")).not.toContain(key);
    for (const file of filesBelow(home))
      expect([file, readFileSync(file, "utf8").includes(key)]).toEqual([file, false]);
    expect(existsSync(join(agentDir, "auth.json"))).toBe(true);
  });

  it("loads what the project brings after /trust, and nothing before", async () => {
    const { terminal, start, cwd, write } = await openTerminal();
    mkdirSync(join(cwd, ".git"));
    const loaded = join(cwd, "loaded.txt");
    write(
      ".galley/extensions/own.js",
      `require("node:fs").writeFileSync(${JSON.stringify(loaded)}, "x");
module.exports = (pi) => pi.registerCommand("own", { description: "own", handler: async (args, ctx) => ctx.ui.notify("own ran", "info") });\n`,
    );
    await start();
    await terminal.shows("t trust this content");
    await new Promise((resolve) => setTimeout(resolve, 400)); // keys in the first 300 ms are no answer
    terminal.keys("n");
    await terminal.shows("· untrusted");
    expect(existsSync(loaded)).toBe(false);
    terminal.write("/trust");
    terminal.keys("Enter");
    await terminal.shows(/own\.js/);
    await terminal.until((screen) => /\[y\/N\]|\(y\/n\)|\? $|\?$/im.test(screen), { what: "the question" });
    terminal.write("y");
    terminal.keys("Enter");
    await terminal.until(() => existsSync(loaded), { what: "the extension" });
    await terminal.shows(/· stage/);
    terminal.write("/own");
    terminal.keys("Enter");
    await terminal.shows("own ran");
    expect(terminal.screen).toMatch(/~\/project · stage +galley\/planner\n[^\n]*$/); // and no longer untrusted
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

// The terminal program in a real terminal: a prompt, an answer, and the way back to the shell.

import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { emptyHome } from "../../kit/run-galley.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

describe.skipIf(!tmuxVersion)(`the terminal program${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("draws below what the shell printed, answers, and leaves the terminal as it was", async () => {
    const { home, env } = emptyHome();
    const terminal = new TmuxTerminal({ cwd: home, env });
    terminal.type("stty -g; echo printed before");
    await terminal.shows("printed before\n$");
    const before = /^[0-9a-f:]{30,}$/m.exec(terminal.everything)?.[0];
    terminal.galley();
    await terminal.shows("galley/planner");
    expect(terminal.fact("cursor_flag")).toBe("0");
    terminal.write("help");
    terminal.keys("Enter");
    await terminal.shows("replace PATTERN with REPLACEMENT", "everything");
    terminal.keys("C-c");
    await terminal.shows("Press Ctrl-C again to leave");
    terminal.keys("C-c");
    await terminal.shows(/galley --resume [0-9a-f-]+\n\$$/);
    terminal.type("stty -g; echo after");
    await terminal.shows("after\n$");
    expect(terminal.everything.split("\n").filter((line) => line === before).length).toBe(2);
    expect(terminal.everything).toContain("printed before");
    expect([terminal.fact("cursor_flag"), terminal.fact("alternate_on")]).toEqual(["1", "0"]);
    expect(terminal.bytes).not.toContain("\u001b[2J");
    expect(terminal.bytes).not.toContain("\u001b[3J");
  });
});

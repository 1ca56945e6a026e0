// The mouse, where the user switched it on: as a terminal reports it.

import { beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../../src/testing/index.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { createTerminalRig } from "../../kit/terminal-rig.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const wheelDown = "\u001b[<65;80;10M";
const wheelUp = "\u001b[<64;80;10M";
const clickAt = (column: number, row: number) => `\u001b[<0;${column};${row}M\u001b[<0;${column};${row}m`;

describe.skipIf(!tmuxVersion)(`the mouse${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("scrolls and chooses in the review view, scrolls in lists, and is the terminal's own again afterwards", async () => {
    const edit = { ops: [{ pat: "one()", out: "two()" }], paths: ["a.js", "b.js"] };
    const rig = await createTerminalRig(
      [openAi.toolCalls([{ id: "c1", name: "ast_edit", arguments: edit }]), openAi.text("Staged.")],
      { columns: 130, rows: 20 },
    );
    const { terminal } = rig;
    rig.write("../.galley/agent/config.yml", "terminal:\n  mouse: true\n");
    for (const name of ["a.js", "b.js"]) rig.write(name, "one();\n".repeat(40));
    terminal.galley("rename it");
    await terminal.shows("1 pending: ");
    await terminal.until((screen) => !screen.includes("esc to stop"));
    expect(terminal.fact("mouse_any_flag")).toBe("0");
    terminal.keys("C-r");
    await terminal.shows(/a\.js {3}modify/);
    expect(terminal.fact("mouse_any_flag")).toBe("1");
    await terminal.shows("@@ -1,40 +1,40 @@");
    terminal.write(wheelDown);
    await terminal.until((screen) => !screen.includes("@@ -1,40 +1,40 @@"));
    terminal.write(wheelUp);
    await terminal.shows("@@ -1,40 +1,40 @@");
    const row = terminal.screen.split("\n").findIndex((line) => /^.. {3}b\.js/.test(line)) + 1;
    terminal.write(clickAt(8, row));
    await terminal.shows(/b\.js {3}modify/);
    terminal.keys("q");
    await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the conversation" });
    expect(terminal.fact("mouse_any_flag")).toBe("0");

    terminal.write("/settings");
    terminal.keys("Enter");
    const first = /› (\S+)/.exec(await terminal.shows(/› \S+ .*\n/))?.[1];
    expect(terminal.fact("mouse_any_flag")).toBe("1");
    terminal.write(wheelDown);
    await terminal.until((screen) => /› (\S+)/.exec(screen)?.[1] !== first);
    terminal.write(wheelUp);
    await terminal.until((screen) => /› (\S+)/.exec(screen)?.[1] === first);
    terminal.write(clickAt(3, 3));
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Settings"));
    expect(terminal.fact("mouse_any_flag")).toBe("0");
  });
});

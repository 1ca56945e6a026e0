// Whatever ends or interrupts the terminal program, the shell finds its terminal as it was.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { expectPutBack, modesOf, openTerminal } from "../../kit/open-terminal.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

describe.skipIf(!tmuxVersion)(`the terminal is put back${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("after Ctrl-C twice, with keys that were typed meanwhile", async () => {
    const { terminal, start } = await openTerminal();
    const before = await modesOf(terminal);
    await start();
    terminal.keys("C-c", "C-c", "l", "e", "f", "t", "o", "v", "e", "r");
    await expectPutBack(terminal, before);
    expect(terminal.screen).not.toContain("leftover");
    expect(terminal.everything).not.toContain("leftover");
  });

  it("after Ctrl-D", async () => {
    const { terminal, start } = await openTerminal();
    const before = await modesOf(terminal);
    await start();
    terminal.keys("C-d");
    await expectPutBack(terminal, before);
  });

  it.each([
    ["TERM", 143],
    ["HUP", 129],
    ["INT", 130],
  ])("after SIG%s, with code %d", async (signal, code) => {
    const { terminal, start } = await openTerminal();
    const before = await modesOf(terminal);
    await start();
    const pid = terminal.fact("pane_pid");
    process.kill(childOf(Number(pid)), `SIG${signal}` as NodeJS.Signals);
    await terminal.shows(/\n\$$/);
    terminal.type("echo ended=$?");
    await terminal.shows(`ended=${code}`);
    await expectPutBack(terminal, before);
  });

  it("after SIGTERM in the review view, with code 143", async () => {
    const { terminal, start, write } = await openTerminal();
    const before = await modesOf(terminal);
    write("a.js", "total();\n");
    await start();
    terminal.write("rename total to sum");
    terminal.keys("Enter");
    await terminal.shows("1 pending");
    terminal.keys("C-r");
    await terminal.shows("Y apply 1 hunk in 1 file");
    expect(terminal.fact("alternate_on")).toBe("1");
    process.kill(childOf(Number(terminal.fact("pane_pid"))), "SIGTERM");
    await terminal.shows(/1 pending: galley review\n\$$/);
    terminal.type("echo ended=$?");
    await terminal.shows("ended=143");
    await expectPutBack(terminal, before);
  });

  it("with a component of an extension that throws while it draws; the program goes on", async () => {
    const { terminal, start, agentDir } = await openTerminal();
    const before = await modesOf(terminal);
    mkdirSync(join(agentDir, "extensions"));
    writeFileSync(
      join(agentDir, "extensions/broken.js"),
      `export default (pi) => pi.registerCommand("broken", { description: "throws", handler: async (args, ctx) => {
        ctx.ui.setWidget("w", () => ({ render: () => { throw new Error("no lines"); }, invalidate() {} }));
        ctx.ui.notify("the widget is set", "info");
      } });\n`,
    );
    await start();
    terminal.write("/broken");
    terminal.keys("Enter");
    await terminal.shows("the widget is set");
    terminal.write("help");
    terminal.keys("Enter");
    await terminal.shows("replace PATTERN with REPLACEMENT", "everything");
    terminal.keys("C-d");
    await expectPutBack(terminal, before);
  });

  it("after an error that no code caught, whose text is told, with code 1", async () => {
    const { terminal, home } = await openTerminal();
    const before = await modesOf(terminal);
    const crash = join(home, "crash.cjs");
    writeFileSync(crash, 'process.on("SIGUSR2", () => { throw new Error("broken \\u001b[31minside"); });');
    terminal.type(`NODE_OPTIONS=--require=${crash} node ${join(process.cwd(), "bin/galley.js")}; echo ended=$?`);
    await terminal.shows("galley/planner");
    process.kill(childOf(Number(terminal.fact("pane_pid"))), "SIGUSR2");
    await terminal.shows("ended=1");
    expect(terminal.everything).toContain("galley: Error: broken inside");
    await expectPutBack(terminal, before);
  });

  it("after an exit that other code calls", async () => {
    const { terminal, home } = await openTerminal();
    const before = await modesOf(terminal);
    const exit = join(home, "exit.cjs");
    writeFileSync(exit, 'process.on("SIGUSR2", () => process.exit(7));');
    terminal.type(`NODE_OPTIONS=--require=${exit} node ${join(process.cwd(), "bin/galley.js")}; echo ended=$?`);
    await terminal.shows("galley/planner");
    process.kill(childOf(Number(terminal.fact("pane_pid"))), "SIGUSR2");
    await terminal.shows("ended=7");
    await expectPutBack(terminal, before);
  });

  it("during Ctrl-Z; fg draws the conversation again, with the text that was typed", async () => {
    const { terminal, start } = await openTerminal();
    const before = await modesOf(terminal);
    await start();
    terminal.write("half a sentence");
    await terminal.shows("half a sentence");
    terminal.keys("C-z");
    await terminal.shows(/Stopped[^\n]*\n\$$/);
    await expectPutBack(terminal, before);
    terminal.type("clear; fg");
    await terminal.shows(/half a sentence[\s\S]*galley\/planner/);
    terminal.keys("C-c");
    await terminal.until((screen) => !screen.includes("half a sentence"));
    terminal.keys("C-d");
    await expectPutBack(terminal, before);
  });

  it("during the external editor, which has the terminal, and whose text comes back", async () => {
    const { terminal, home, start } = await openTerminal();
    const editor = join(home, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nstty -g > "$HOME/modes"\necho editing\nread line\necho "$line" >> "$1"\n', {
      mode: 0o755,
    });
    const before = await modesOf(terminal);
    terminal.type(`export EDITOR=${editor}`);
    await start();
    terminal.write("first line");
    terminal.keys("C-g");
    await terminal.shows("editing");
    expect(terminal.fact("cursor_flag")).toBe("1");
    terminal.write("from the editor");
    terminal.keys("Enter");
    await terminal.shows(/first line[\s\S]*from the editor[\s\S]*galley\/planner/);
    expect(readFileSync(join(home, "modes"), "utf8").trim()).toBe(before);
    terminal.keys("C-c", "C-c");
    await expectPutBack(terminal, before);
  });

  it("says how to go on, and what is pending", async () => {
    const { terminal, start, write } = await openTerminal();
    write("a.js", "total();\n");
    await start();
    terminal.write("rename total to sum");
    terminal.keys("Enter");
    await terminal.shows("1 pending");
    await terminal.until((screen) => !screen.includes("esc to stop"));
    terminal.keys("C-d");
    await terminal.shows(/galley --resume [0-9a-f-]+\n1 pending: galley review\n\$$/);
  });

  it("says which variable to set where there is no editor, and that no program reads the clipboard", async () => {
    const { terminal, start } = await openTerminal();
    await start();
    terminal.keys("C-g");
    await terminal.shows("No editor is set. Set  VISUAL  or  EDITOR  and try again.");
    terminal.keys("C-v");
    await terminal.shows(/clipboard/);
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });
});

/** The process that the shell runs in the foreground. */
function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return Number(child);
}

// Acceptance 11, typing: file names, commands beside the agent, history over restarts, a file of keys with a conflict, unknown
// commands, pastes.

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../../src/testing/index.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { createTerminalRig, textOf } from "../../kit/terminal-rig.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

describe.skipIf(!tmuxVersion)(`the editor${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("completes a file name after @, leaves ignored ones out, and sends the file along", async () => {
    const rig = await createTerminalRig([openAi.text("Read.")]);
    const { terminal } = rig;
    rig.write("src/cart.js", "const total = 1;\n");
    rig.write("ignored/cart.js", "secret\n");
    rig.write(".gitignore", "ignored/\n");
    terminal.galley();
    await terminal.shows("acme/scripted");
    terminal.write("look at @crt");
    const list = await terminal.shows("src/cart.js");
    expect(list).not.toContain("ignored/cart.js");
    terminal.keys("Tab");
    await terminal.shows("look at @src/cart.js");
    terminal.keys("Enter");
    await terminal.shows("Read.");
    expect(JSON.stringify(rig.server.requests[0]?.body)).toContain("const total = 1;");
  });

  it("runs !cmd beside the agent and keeps !!cmd from the model", async () => {
    const rig = await createTerminalRig([openAi.text("Seen.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("!echo one two; seq 12");
    terminal.keys("Enter");
    await terminal.shows(/● !\s+echo one two[\s\S]*│ … \d earlier lines \(ctrl\+o\)[\s\S]*│ 12/);
    terminal.keys("C-o");
    await terminal.shows("│ one two");
    terminal.write("!!echo sotto voce; exit 3");
    terminal.keys("Enter");
    await terminal.shows(/✗ !!\s+echo sotto voce[\s\S]*exit code 3/);
    terminal.write("what did I run?");
    terminal.keys("Enter");
    await terminal.shows("Seen.");
    const asked = JSON.stringify(rig.server.requests[0]?.body);
    expect(asked).toContain("one two");
    expect(asked).not.toContain("sotto");
    expect(rig.sessions()[0]?.filter(({ message }) => message?.role === "bashExecution")).toHaveLength(2);
  });

  it("keeps the history of the project over restarts, for the user alone, and searches it by what is typed", async () => {
    const rig = await createTerminalRig([openAi.text("One."), openAi.text("Two.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    for (const [text, answer] of [
      ["fix the tests", "One."],
      ["write docs", "Two."],
    ] as const) {
      terminal.write(text);
      terminal.keys("Enter");
      await terminal.shows(answer);
      await terminal.until((screen) => !screen.includes("esc to stop"));
    }
    terminal.keys("C-d");
    await terminal.shows(/--resume [0-9a-f-]+\n\$$/);
    const directory = join(rig.agentDir, "history");
    const [file = ""] = readdirSync(directory);
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    terminal.type("clear");
    terminal.galley();
    await terminal.shows("acme/scripted");
    terminal.keys("Up");
    await terminal.shows("write docs");
    terminal.keys("Down");
    await terminal.until((screen) => !screen.includes("write docs"));
    terminal.write("fix");
    await terminal.shows(" fix");
    terminal.keys("Up");
    await terminal.shows("fix the tests");
    terminal.keys("Escape", "Escape");
    await terminal.until((screen) => !screen.includes("fix the tests"));
  });

  it("names a conflict in the file of keys; the rest of it counts", async () => {
    const rig = await createTerminalRig([]);
    const { terminal } = rig;
    const keys = { "app.model.select": "ctrl+o", "app.exit": "f3", "app.exti": "f4" };
    writeFileSync(join(rig.agentDir, "keybindings.json"), JSON.stringify(keys));
    terminal.galley();
    await terminal.shows("ctrl+o is already app.tools.expand, so it is not app.model.select.");
    await terminal.shows("unknown action app.exti. Did you mean app.exit?");
    terminal.write("?");
    await terminal.shows(/f3\s+leave, when nothing is typed/);
    terminal.keys("F3");
    await terminal.shows(/\n\$$/);
  });

  it("sends no unknown command, but a text with a space before it", async () => {
    const rig = await createTerminalRig([openAi.text("A text.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("/frok");
    terminal.keys("Enter");
    await terminal.shows("Unknown command /frok. Did you mean /fork?");
    expect(rig.server.requests).toEqual([]);
    terminal.write(" /frok is a text");
    terminal.keys("Enter");
    await terminal.shows("A text.");
    expect(
      rig
        .said()
        .flat()
        .map((text) => text.trim()),
    ).toEqual(["/frok is a text"]);
  });

  it("shows a long paste as a mark and sends it whole; its keys do nothing", async () => {
    const rig = await createTerminalRig([openAi.text("Long.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    const lines = Array.from({ length: 214 }, (_, index) => `line ${index + 1}`).join("\n");
    terminal.paste(lines);
    expect(await terminal.shows("[paste #1: 214 lines]")).not.toContain("line 214");
    terminal.keys("Enter");
    await terminal.shows("Long.");
    expect(rig.said()).toEqual([[lines]]);
  });

  it("begins a new line with Ctrl-J and with a backslash before Enter", async () => {
    const rig = await createTerminalRig([openAi.text("Three lines.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("one");
    terminal.keys("C-j");
    terminal.write("two\\");
    await terminal.shows("two\\");
    terminal.keys("Enter");
    await terminal.until((screen) => !screen.includes("two\\"));
    terminal.write("three");
    await terminal.shows(/one\n two\n three\n/);
    terminal.keys("Enter");
    await terminal.shows("Three lines.");
    expect(rig.said()).toEqual([["one\ntwo\nthree"]]);
  });

  it("makes an attachment of the path of an image that is pasted", async () => {
    const rig = await createTerminalRig([openAi.text("A dot.")], { args: [] });
    const { terminal } = rig;
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    writeFileSync(join(rig.cwd, "a dot.png"), Buffer.from(dot, "base64"));
    await terminal.shows("acme/scripted");
    terminal.paste(`'${join(rig.cwd, "a dot.png")}'`);
    await terminal.shows("[image #1: a dot.png]");
    terminal.keys("Enter");
    await terminal.shows("A dot.");
    expect(terminal.screen).toContain("acme/scripted takes no images. It is told that one was left out.");
    const said = rig.sessions()[0]?.find(({ message }) => message?.role === "user")?.message?.content;
    expect(textOf(said)).toContain("[image #1: a dot.png]");
    expect(JSON.stringify(said)).toContain("image");
  });
});

// The commands of the terminal program, one after the other, as a user types them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Gate, openAi } from "../../../src/testing/index.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { createTerminalRig } from "../../kit/terminal-rig.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

describe.skipIf(!tmuxVersion)(`commands${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("decide about what is pending, and take changes back", async () => {
    const edit = (out: string) =>
      openAi.toolCalls([{ id: "c1", name: "ast_edit", arguments: { ops: [{ pat: "one()", out }], paths: ["a.js"] } }]);
    const rig = await createTerminalRig([
      edit("two()"),
      openAi.text("Staged."),
      edit("three()"),
      openAi.text("Again."),
    ]);
    const { terminal } = rig;
    rig.write("a.js", "one();\n");
    const file = () => readFileSync(join(rig.cwd, "a.js"), "utf8");
    const run = async (line: string, shown: string | RegExp) => {
      terminal.write(line);
      terminal.keys("Enter");
      return terminal.shows(shown);
    };
    terminal.galley("--stage");
    await terminal.shows("acme/scripted");
    await run("rename", "Staged.");
    await run("/pending", /◌ pa_1 .*1 replacement in 1 file\n\s+a\.js/);
    await run("/apply", /Applied 1 replacement in 1 file\. As ch_\w+:\n\s+modify\s+a\.js\s+\+1 -1/);
    expect(file()).toBe("two();\n");
    await run("/undo", /Undone: .*\n.*a\.js/);
    expect(file()).toBe("one();\n");
    await run("/redo", /Redone: /);
    expect(file()).toBe("two();\n");
    await run("/undo", /Redone: [\s\S]*Undone: /);
    await run("/changes", /✓ ch_\w+ Undo: [\s\S]*↺ undone ch_/);
    await run("again", "Again.");
    await run("/discard pa_5 not that way", /Discarded: .*Reason: not that way/);
    expect(file()).toBe("one();\n");
    await terminal.until((screen) => !screen.includes("ctrl+r review"));
  });

  it("tell, name, copy, export, and leave", async () => {
    const rig = await createTerminalRig([openAi.text("Copy me."), openAi.text("In the copy.")], { args: [], rows: 50 });
    const { terminal } = rig;
    const run = async (line: string, shown: string | RegExp) => {
      terminal.write(line);
      terminal.keys("Enter");
      return terminal.shows(shown);
    };
    await terminal.shows("acme/scripted");
    await run("hello", "Copy me.");
    await run("/copy", "Copied the last answer (8 characters).");
    expect(terminal.bytes).toContain(`\u001b]52;c;${Buffer.from("Copy me.").toString("base64")}\u0007`);
    await run("/name my talk", "This session is called my talk now.");
    await terminal.shows("~/shop · my talk · stage");
    await run("/stats", /1 prompts, 1 answers, 0 tool calls/);
    await run("/tools", /● bash\s+Run a shell command\./);
    await run("/todos", "No todos.");
    await run("/export page.html", "Written to");
    expect(existsSync(join(rig.cwd, "page.html"))).toBe(true);
    await run("/export ~/elsewhere/page.html", /Written to .*\/elsewhere\/page\.html/); // no question to the user
    await run("/fork", "Here a copy of the session goes on.");
    await run("more", "In the copy.");
    expect(rig.sessions()).toHaveLength(2);
    await run("/new", "A new session.");
    await run("/help", /\/apply \[ID…\|all\] \[--with-deps\]\s+write a pending action/);
    await run("/keys", /alt\+up\s+take queued messages back/);
    await run("/quit", /\n\$$/);
  });

  it("store a setting where the list says, and choose the model", async () => {
    const rig = await createTerminalRig([], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("/settings");
    terminal.keys("Enter");
    await terminal.shows("stored in ~/.galley/agent/config.yml");
    terminal.write("steeringmode");
    await terminal.shows(/› steeringMode\s+one-at-a-time\s+default/);
    terminal.keys("Enter");
    await terminal.shows(/› steeringMode\s+all\s+user/);
    expect(readFileSync(join(rig.agentDir, "config.yml"), "utf8")).toContain("steeringMode: all");
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Settings"));
    terminal.keys("C-l");
    await terminal.shows(/› acme\/scripted\s+in use/);
    terminal.write("planner");
    await terminal.shows(/Model\s+\/planner/);
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("kept in this session"));
    terminal.write("/model nonsense");
    terminal.keys("Enter");
    await terminal.shows("No model nonsense with a key. /model lists those that can be used.");
  });

  it("show each theme while it is selected, and store the one that is chosen", async () => {
    const rig = await createTerminalRig([], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("/theme");
    terminal.keys("Enter");
    await terminal.shows(/Theme\n[\s\S]*stored in ~\/\.galley\/agent\/config\.yml/);
    terminal.write("high");
    await terminal.shows("› high-contrast");
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Theme"));
    expect(existsSync(join(rig.agentDir, "config.yml"))).toBe(false);
    terminal.write("/theme");
    terminal.keys("Enter");
    await terminal.shows("› auto");
    terminal.write("light");
    terminal.keys("Enter");
    await terminal.shows("Theme light, stored in ~/.galley/agent/config.yml.");
    expect(readFileSync(join(rig.agentDir, "config.yml"), "utf8")).toContain("theme: light");
  });

  it("offer the themes of packages", async () => {
    const rig = await createTerminalRig([], { args: [] });
    const { terminal } = rig;
    const folder = join(rig.agentDir, "extensions/pack/themes");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "of-a-package.json"), '{"name":"of-a-package","colors":{"accent":"#010203"}}');
    await terminal.shows("acme/scripted");
    terminal.write("/theme of-a-package");
    terminal.keys("Enter");
    await terminal.shows("Theme of-a-package, stored in ~/.galley/agent/config.yml.");
  });

  it("ask before they leave a run, and Ctrl-C stops it", async () => {
    const gate = new Gate();
    const rig = await createTerminalRig(
      [{ steps: [openAi.chunk({ content: "Well" }), gate.step, ...openAi.finish("stop")], mayBeLeft: true }],
      { args: [] },
    );
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("go");
    terminal.keys("Enter");
    await gate.reached;
    terminal.keys("C-d");
    await terminal.shows("A run is on. Leave?");
    terminal.write("n");
    await terminal.until((screen) => !screen.includes("A run is on."));
    terminal.keys("C-c");
    const stopped = await terminal.shows("Stopped.");
    expect(stopped).toContain("Press Ctrl-C again to leave");
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });

  it("open a list of three thousand sessions, and find one in it", async () => {
    const rig = await createTerminalRig([openAi.text("Kept.")], { args: [] });
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    terminal.write("the first of many");
    terminal.keys("Enter");
    await terminal.shows("Kept.");
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
    rig.copySessions(3000, (index) => `copy number ${index}`);
    terminal.type("clear");
    terminal.galley("-r");
    await terminal.shows("of 3,001");
    terminal.write("number 2717");
    await terminal.shows(/› copy number 2717 /);
    terminal.keys("Enter");
    await terminal.shows("Session copy number 2717");
  });
});

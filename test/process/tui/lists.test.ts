// Acceptance 11, lists: choosing a session, resuming it, the tree, branches.

import { beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../../src/testing/index.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { createTerminalRig, type TerminalRig } from "../../kit/terminal-rig.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

async function talk({ terminal }: TerminalRig, ...turns: readonly (readonly [said: string, answer: string])[]) {
  for (const [said, answer] of turns) {
    terminal.write(said);
    terminal.keys("Enter");
    await terminal.shows(answer);
    await terminal.until((screen) => !screen.includes("esc to stop"));
  }
}

async function leave({ terminal }: TerminalRig) {
  terminal.keys("C-d");
  await terminal.shows(/\n\$$/);
  terminal.type("clear");
  await terminal.until((screen) => screen === "$");
}

describe.skipIf(!tmuxVersion)(`lists${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("chooses a session with -r, renames and deletes one, and Esc begins a new one", async () => {
    const rig = await createTerminalRig(
      [openAi.text("First answer."), openAi.text("Second answer."), openAi.text("New.")],
      { args: [] },
    );
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    await talk(rig, ["first talk", "First answer."]);
    await leave(rig);
    terminal.galley();
    await terminal.shows("acme/scripted");
    await talk(rig, ["second talk", "Second answer."]);
    await leave(rig);

    terminal.galley("-r");
    const list = await terminal.shows(/second talk .*just now · 2 messages[\s\S]*first talk/);
    expect(list).toContain("Sessions of this project");
    terminal.write("first");
    await terminal.until((screen) => !screen.includes("second talk"));
    terminal.keys("C-r");
    await terminal.shows("A name for first talk");
    terminal.write("named");
    terminal.keys("Enter");
    await terminal.shows(/› named .*2 messages/);
    terminal.keys("Enter");
    await terminal.shows(/Session named\n[\s\S]*› first talk[\s\S]*First answer\./);
    await terminal.shows("~/shop · named · stage");
    terminal.write("/resume");
    terminal.keys("Enter");
    await terminal.shows("second talk");
    terminal.write("second");
    await terminal.shows(/› second talk/);
    terminal.keys("C-d");
    await terminal.shows("Delete second talk (2 messages)?");
    terminal.write("y");
    await terminal.shows("Nothing matches.");
    expect(rig.sessions()).toHaveLength(1);
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Sessions of this project"));
    await leave(rig);

    terminal.galley("-r");
    await terminal.shows("Sessions of this project");
    await terminal.shows("named");
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("Sessions of this project"));
    await talk(rig, ["a new one", "New."]);
    expect(rig.sessions()).toHaveLength(2);
  });

  it("goes to an earlier message in the tree, which comes back into the editor, and says that files stay", async () => {
    const rig = await createTerminalRig(
      ["One.", "Two.", "Other.", "Branched."].map((text) => openAi.text(text)),
      { args: [] },
    );
    const { terminal } = rig;
    await terminal.shows("acme/scripted");
    await talk(rig, ["first", "One."], ["second", "Two."]);
    terminal.keys("Escape", "Escape");
    const tree = await terminal.shows("you are here");
    expect(tree).toContain("Files are not touched: /changes");
    terminal.keys("Up");
    terminal.keys("L");
    await terminal.shows("A label for this point");
    terminal.write("turning point");
    terminal.keys("Enter");
    await terminal.shows("[turning point]");
    terminal.keys("Enter");
    await terminal.shows("Summarize the branch that is left");
    terminal.write("n");
    await terminal.shows("Here the conversation goes on from an earlier point. Files are not touched");
    await terminal.shows(/─\n second\n─/);
    terminal.keys("C-c");
    await terminal.until((screen) => !/─\n second\n─/.test(screen));
    await talk(rig, ["another way", "Other."]);
    expect(rig.said().at(-1)).toEqual(["first", "another way"]);

    terminal.write("/tree");
    terminal.keys("Enter");
    await terminal.shows(/▸ › second .*turning point.*branch, 2 messages/);
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("esc back"));
    terminal.write("/branch");
    terminal.keys("Enter");
    await terminal.shows("New session from an earlier message");
    terminal.keys("Up", "Enter");
    await terminal.shows("A new session with what was said before.");
    await terminal.shows(/─\n another way\n─/);
    terminal.keys("Enter");
    await terminal.shows("Branched.");
    expect(rig.said().at(-1)).toEqual(["first", "another way"]);
    expect(rig.sessions()).toHaveLength(2);
  });

  it("draws the end of a resumed session and says how much came before", async () => {
    const rig = await createTerminalRig(Array.from({ length: 120 }, (_, index) => openAi.text(`Answer ${index}.`)));
    const { terminal } = rig;
    const prompts = Array.from({ length: 119 }, (_, index) => ["--then", `prompt ${index + 1}`]).flat();
    terminal.galley("-p", "prompt 0", ...prompts);
    await terminal.shows(/Answer 119\.[\s\S]*\n\$$/, "everything");
    terminal.type("clear; tmux clear-history 2>/dev/null; true");
    terminal.galley("-c");
    await terminal.shows("acme/scripted");
    const all = await terminal.shows("… 40 earlier messages (/tree, /export)", "everything");
    expect(all.slice(all.indexOf("… 40 earlier"))).toMatch(/^… 40 earlier messages[^\n]*\n\n › prompt 20\n/);
  });

  it("asks before it writes what an action rests on", async () => {
    const edit = (pat: string, out: string, id: string) =>
      openAi.toolCalls([
        { id, name: "ast_edit", arguments: { ops: [{ pat, out }], path: "a.js", lang: "javascript" } },
      ]);
    const rig = await createTerminalRig([
      edit("one", "two", "c1"),
      edit("two", "three", "c2"),
      openAi.text("Staged both."),
    ]);
    const { terminal } = rig;
    rig.write("a.js", "one();\n");
    terminal.galley("--stage");
    await terminal.shows("acme/scripted");
    await talk(rig, ["rename", "Staged both."]);
    await terminal.shows("2 pending");
    terminal.write("/pending");
    terminal.keys("Enter");
    const shown = await terminal.shows(/pa_2 .*rests on pa_1 for a\.js/);
    expect(shown).toContain("pa_1");
    terminal.write("/apply pa_2");
    terminal.keys("Enter");
    await terminal.shows("To apply them together: /apply pa_2 --with-deps");
    terminal.write("/apply pa_2 --with-deps");
    terminal.keys("Enter");
    await terminal.until((screen) => !/\d pending\n?$/.test(screen.trimEnd()) && !/◌ \d pending/.test(screen));
  });
});

// Plain mode in a real terminal that cannot draw: a prompt, a review and an approval, without one escape byte.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openAi } from "../../../src/testing/index.js";
import { type OpenTerminal, openTerminal } from "../../kit/open-terminal.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const escapeByte = "\u001b";
/** What the program wrote: everything between its start and the shell's next prompt, which bash decorates. */
const written = ({ terminal }: OpenTerminal) => {
  const { bytes } = terminal;
  const from = bytes.indexOf("you: ");
  return bytes.slice(from, bytes.indexOf("galley: galley --resume", from));
};

describe.skipIf(!tmuxVersion)(`plain mode${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("answers and reviews hunk by hunk in a dumb terminal; all only after everything was printed", async () => {
    const rig = await openTerminal({ rows: 60 });
    const { terminal, write, cwd } = rig;
    const lines = Array.from({ length: 30 }, (_, index) => (index % 14 === 0 ? "total();" : `line${index}();`));
    write("a.js", `${lines.join("\n")}\n`);
    write("b.js", "total();\n");
    terminal.type(`export TERM=dumb; node ${galleyBin}`);
    await terminal.shows("This terminal cannot draw (TERM=dumb). Use  galley --plain  or  galley -p '…'.");
    terminal.galley("--plain");
    await terminal.shows(
      "galley: No model key found. You are talking to galley's planner, which is not a language model.",
    );
    terminal.type("rename total to sum");
    await terminal.shows(/^preview pa_\w+: .*Nothing is written yet/m);
    await terminal.shows(/you: $|you:$/m);
    terminal.type("/review");
    await terminal.shows(/a\.js {2}modify {2}hunk 1 of 3[\s\S]*question: apply, discard, skip, file, all, quit\?/);
    terminal.type("s");
    await terminal.shows("hunk 2 of 3");
    terminal.type("a");
    await terminal.shows(/hunk \d of 2[\s\S]*quit\?\n*$/);
    expect(readFileSync(join(cwd, "a.js"), "utf8").match(/sum/g)?.length).toBe(1);
    terminal.type("all");
    await terminal.shows("Say all again to apply them all.");
    expect(readFileSync(join(cwd, "b.js"), "utf8")).toBe("total();\n");
    terminal.type("all");
    await terminal.shows("galley: The review has ended.");
    expect(readFileSync(join(cwd, "a.js"), "utf8")).toBe(`${lines.join("\n").replaceAll("total", "sum")}\n`);
    expect(readFileSync(join(cwd, "b.js"), "utf8")).toBe("sum();\n");
    terminal.type("/changes");
    await terminal.shows(/change ch_\w+: .*, applied/);
    terminal.type("/quit");
    await terminal.shows(/galley: galley --resume [0-9a-f-]+\n\$$/);
    expect(written(rig)).not.toContain(escapeByte);
  });

  it("asks with a numbered list before a command runs while everything is staged", async () => {
    const replies = [call("bash", { command: "echo ran > ran.txt" }), openAi.text("Done \u001b[31mred\u202e.")];
    const rig = await openTerminal({ replies });
    const { terminal, cwd } = rig;
    terminal.galley("--plain", "--stage", "go");
    await terminal.shows(/question: Run bash\?[\s\S]*question: 1 yes\nquestion: 2 no/);
    terminal.type("1");
    await terminal.shows("galley: Done red.");
    expect(readFileSync(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
    terminal.keys("C-d");
    await terminal.shows(/galley: galley --resume [0-9a-f-]+\n\$$/);
    expect(terminal.bytes.slice(terminal.bytes.indexOf("tool bash"))).not.toContain("\u001b[31m");
    expect(terminal.bytes).not.toContain("\u202e");
  });

  it("works through pipes, each line after the answer to the one before", async () => {
    const { home, env } = emptyHome();
    const { code, stdout, stderr } = await run(process.execPath, [galleyBin, "--plain"], {
      cwd: home,
      env,
      input: "help\n/pending\n/nonsense\n/quit\n",
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("galley:   replace PATTERN with REPLACEMENT [in PATHS]\n");
    expect(stdout).toContain("galley: Nothing is pending.\ngalley: Unknown command /nonsense. /help lists them.\n");
    expect(stdout).not.toContain(escapeByte);
    for (const line of stdout.trimEnd().split("\n"))
      expect(line).toMatch(/^(?:galley|tool \w+|preview \w+|question|you):/);
  });
});

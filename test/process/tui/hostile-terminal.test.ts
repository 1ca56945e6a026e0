// Streams, sizes and hostile texts in a real terminal: everything that was said is there, and nothing reaches the terminal
// that would command it.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Gate, openAi } from "../../../src/testing/index.js";
import { openTerminal } from "../../kit/open-terminal.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";
import { tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const rowsOfTable = 100;

describe.skipIf(!tmuxVersion)(`a real terminal${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("keeps 1,000 deltas with a table of 100 rows in order over resizes, and clears nothing", async () => {
    const rows = Array.from({ length: rowsOfTable }, (_, index) => `| r${index} | v${index} |\n`);
    const text = `${"word ".repeat(300)}\n\n| key | value |\n|---|---|\n${rows.join("")}\n${"end ".repeat(300)}\n\nlast words`;
    const size = Math.ceil(text.length / 1000);
    const pieces = Array.from({ length: 1000 }, (_, index) => text.slice(index * size, (index + 1) * size));
    const [early, late] = [new Gate(), new Gate()];
    const chunk = (part: string[]) => part.map((content) => openAi.chunk({ content }));
    const steps = [
      ...chunk(pieces.slice(0, 450)),
      early.step,
      ...chunk(pieces.slice(450, 600)),
      late.step,
      ...chunk(pieces.slice(600)),
      ...openAi.finish("stop"),
    ];
    const { terminal, start } = await openTerminal({ replies: [{ steps }], columns: 80, rows: 24 });
    terminal.type("seq -f 'printed before %g' 1 40");
    await terminal.shows("printed before 40");
    await start();
    terminal.write("go");
    terminal.keys("Enter");
    await early.reached;
    terminal.resize(40, 12);
    early.open();
    await late.reached;
    terminal.resize(80, 24);
    late.open();
    await terminal.shows("last words");
    await terminal.until((screen) => !screen.includes("esc to stop"));
    const all = terminal.everything;
    for (let index = 1; index <= 40; index++) expect(all).toContain(`printed before ${index}\n`);
    expect(inOrder(all, rowsOfTable)).toBe(true);
    expect(terminal.bytes).not.toContain("\u001b[2J");
    expect(terminal.bytes).not.toContain("\u001b[3J");
    terminal.keys("C-d");
    await terminal.shows(/galley --resume/);
  }, 60_000);

  it("writes none of the escapes, overrides and line feeds in texts of others", async () => {
    const evil = "\u001b]0;evil\u0007\u001b[31;1;5mX\u202eY\u0085\u009b2J";
    const replies = [
      call("bash", { command: `printf 'A\\033]0;evil\\007\\033[5mB\\n' # ${evil}` }),
      call("read", { path: `no\nsuch${evil}.js` }, "c2"),
      // The parts of a sequence in deltas of their own.
      openAi.text("safe \u001b", "]0;ev", "il\u0007 and \u001b", "[5", "mblink\u202e end"),
    ];
    const { terminal, start, cwd, agentDir, write } = await openTerminal({ replies });
    mkdirSync(join(agentDir, "extensions"), { recursive: true });
    writeFileSync(
      join(agentDir, "extensions", "noisy.js"),
      `export default (pi) => {
        console.log("from log ${"\\u001b"}]0;evil${"\\u0007"}shown");
        console.error("from error ${"\\u001b"}[5mshown");
        pi.on("agent_start", () => {
          process.stderr.write("during the run ${"\\u001b"}[2Jshown\\n");
          pi.setSessionName("name ${"\\u001b"}]0;evil${"\\u0007"}\\u202e");
        });
      };\n`,
    );
    write("a.txt", "a");
    await start("--auto", "--set", "approval.mode=never");
    await terminal.shows(/from log shown/, "everything");
    terminal.write("go");
    terminal.keys("Enter");
    await terminal.shows("blink end");
    await terminal.shows("during the run shown", "everything");
    expect(terminal.fact("pane_title")).not.toContain("evil");
    const { bytes } = terminal;
    for (const raw of ["\u001b]0;evil", "\u001b[5m", "\u001b[31;1;5m", "\u202e", "\u009b", "\u0085", "\u001b[2J"])
      expect([JSON.stringify(raw), bytes.includes(raw)]).toEqual([JSON.stringify(raw), false]);
    expect(terminal.screen).toContain("acme/scripted");
    expect(cwd).toContain("project");
    terminal.keys("C-d");
    await terminal.shows(/galley --resume/);
  });

  it("writes names and arguments out where it asks about them, so that none hides", async () => {
    const replies = [
      call("write", { path: "no\nsuch\u001b]0;evil\u0007.js", content: "" }, "c0"),
      call("write", { path: "a\u202egpj.js", content: "one\u001b[2J\u202etwo\n" }),
      call("bash", { command: "echo \u001b[2J\u202eevil" }, "c2"),
      openAi.text("Done."),
    ];
    const { terminal, start } = await openTerminal({ replies, columns: 130, rows: 30 });
    await start("--set", "approval.mode=ask");
    const from = terminal.bytes.length;
    terminal.write("go");
    terminal.keys("Enter");
    const question = await terminal.shows("Run bash?");
    expect(question).toContain("echo \\u001b[2J\\u202eevil");
    expect(question).toContain("Path 'no\\nsuch\\u001b]0;evil\\u0007.js' contains a control character.");
    expect(question).toContain("│ a\\u202egpj.js");
    terminal.keys("Escape");
    await new Promise((resolve) => setTimeout(resolve, 400)); // keys in the first 300 ms are no answer
    terminal.keys("Escape");
    await terminal.shows("Done.");
    terminal.keys("C-r");
    const review = await terminal.shows("Y apply 1 file");
    expect(review).toContain("a\\u202egpj.js");
    expect(review).toContain("one\\u001b[2J\\u202etwo");
    const bytes = terminal.bytes.slice(from);
    for (const raw of ["\u001b]0;evil", "\u202e", "\u001b[2J"])
      expect([JSON.stringify(raw), bytes.includes(raw)]).toEqual([JSON.stringify(raw), false]);
    terminal.keys("q");
    await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the conversation" });
    terminal.keys("C-d");
    await terminal.shows(/galley --resume/);
  });

  it.each([
    ["light", "rgb:ffff/ffff/ffff"],
    ["dark", "rgb:0000/0000/0000"],
  ])("chooses the %s theme by the background that the terminal tells", async (name, colour) => {
    const { terminal, start } = await openTerminal({ env: { COLORTERM: "truecolor" } });
    terminal.background(colour);
    await start();
    const { accent } = { light: { accent: "122;74;30" }, dark: { accent: "224;172;116" } }[name as "light" | "dark"];
    terminal.write("find nothing($A)");
    terminal.keys("Enter");
    await terminal.until(() => terminal.colouredScreen.includes(`38;2;${accent}`), { what: `the ${name} accent` });
    await terminal.until((screen) => screen.includes("No match for") && !screen.includes("esc to stop"));
    terminal.keys("C-d");
    await terminal.shows(/galley --resume/);
  });

  it("draws without colour codes for NO_COLOR, and with signs of ASCII for LANG=C", async () => {
    const { terminal, start } = await openTerminal({ env: { NO_COLOR: "1", LANG: "C" } });
    const from = terminal.bytes.length;
    await start();
    terminal.write("help");
    terminal.keys("Enter");
    await terminal.shows("replace PATTERN with REPLACEMENT", "everything");
    terminal.keys("C-d");
    await terminal.shows(/galley --resume/);
    const bytes = terminal.bytes.slice(from);
    const codes = [...bytes.matchAll(sgr)].flatMap(([, list = ""]) => list.split(";"));
    expect(codes.filter((code) => /^(?:3\d|4\d|9\d|10\d)$/.test(code) && code !== "39" && code !== "49")).toEqual([]);
    const program = bytes.slice(bytes.indexOf("\u001b[?2026h"), bytes.lastIndexOf("\u001b[?2026l"));
    expect([...program].filter((character) => character > "\u007f")).toEqual([]);
  });

  it("says that a window below 20x6 is too small, and draws again when it grows", async () => {
    const { terminal, start } = await openTerminal({ columns: 80, rows: 24 });
    await start();
    terminal.resize(18, 5);
    await terminal.shows("Window too");
    terminal.resize(20, 6);
    await terminal.until((screen) => !screen.includes("Window too"));
    terminal.resize(80, 24);
    await terminal.shows("galley/planner");
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });

  it("stores a theme, and tells of one that cannot be used", async () => {
    const { terminal, start, agentDir } = await openTerminal();
    mkdirSync(join(agentDir, "themes"));
    writeFileSync(join(agentDir, "themes", "mine.json"), '{"colors":{"accent":"nope"}}');
    writeFileSync(join(agentDir, "config.yml"), "theme: mine\n");
    await start();
    await terminal.shows(
      'The theme mine cannot be used: colors.accent is not a colour: "nope". The theme dark is used.',
    );
    terminal.write("/theme high-contrast");
    terminal.keys("Enter");
    await terminal.shows("Theme high-contrast, stored in ~/.galley/agent/config.yml.");
    expect(readFileSync(join(agentDir, "config.yml"), "utf8")).toBe("theme: high-contrast\n");
    terminal.write("/theme");
    terminal.keys("Enter");
    await terminal.shows("by the terminal's background");
    terminal.keys("Escape");
    await terminal.until((screen) => !screen.includes("by the terminal's background"));
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });

  it("leads through a tour of six steps in a scratch project and comes back", async () => {
    const { terminal, start } = await openTerminal({ columns: 80, rows: 24 });
    await start();
    terminal.write("/tour");
    terminal.keys("Enter");
    await terminal.shows("Step 1 of 6.");
    expect(terminal.screen).toMatch(/galley-tour-/);
    terminal.write("rename total to sum in src");
    terminal.keys("Enter");
    await terminal.shows("Step 2 of 6.");
    const project = /\S*galley-tour-\w+/.exec(terminal.everything)?.[0] ?? "";
    const cart = () => readFileSync(join(project, "src/cart.js"), "utf8");
    const before = cart();
    terminal.keys("C-r");
    // What is next is said where the user is.
    await terminal.shows(/Review ·[^\n]*\n Step 3 of 6\./);
    terminal.keys("j");
    await terminal.shows("a apply hunk 2 of 2");
    terminal.keys("a");
    await terminal.shows("Step 4 of 6.");
    expect(cart()).not.toBe(before);
    terminal.keys("D");
    await terminal.shows("Reason:");
    terminal.keys("Enter");
    await terminal.shows("Step 5 of 6.");
    terminal.keys("u");
    await terminal.shows("Step 6 of 6.");
    await terminal.shows("Y apply 1 hunk in 1 file");
    terminal.keys("Y");
    await terminal.shows("The change is taken back. That was the tour");
    expect(cart()).toBe(before);
    terminal.keys("q");
    await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the conversation" });
    terminal.write("/quit");
    terminal.keys("Enter");
    await terminal.shows("~/project · stage");
    expect(existsSync(project)).toBe(false);
    terminal.keys("C-d");
    await terminal.shows(/\n\$$/);
  });
});

it("refuses a standard output that is no terminal, and takes a piped input as print mode", async () => {
  const { home, env } = emptyHome();
  const options = { cwd: home, env: { ...env, TERM: "xterm" } };
  const { code, stdout } = await run(process.execPath, [galleyBin], { ...options, input: "help" });
  expect([code, stdout.startsWith("I am galley's planner")]).toEqual([0, true]);
  const inTerminal = `node ${galleyBin} | cat; echo "code \${PIPESTATUS[0]}"`;
  const piped = await run("script", ["-qec", `bash -c '${inTerminal}'`, "/dev/null"], options);
  expect(piped.stdout).toContain("Standard output is not a terminal. Use  galley -p '…'.");
  expect(piped.stdout).toContain("code 2");
});

const sgr = new RegExp(`${"\u001b"}\\[([0-9;]*)m`, "g");

/** Every row of the table, one after the other, the last time it was printed. */
function inOrder(text: string, count: number): boolean {
  const lines = text.split("\n");
  let at = -1;
  for (let index = 0; index < count; index++) {
    const next = lines.findIndex((line, row) => row > at && new RegExp(`\\br${index}\\b`).test(line));
    if (next === -1) return false;
    at = next;
  }
  return true;
}

// Plain mode in a real terminal that cannot draw: a prompt, a review and an approval, without one escape byte.

import { chmodSync, existsSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Gate, openAi } from "../../../src/testing/index.js";
import { type OpenTerminal, openTerminal } from "../../kit/open-terminal.js";
import { call } from "../../kit/print-rig.js";
import { ensureBuilt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";
import { textOf } from "../../kit/terminal-rig.js";
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

  it("steers with a line, follows up with /queue, and stops with what was queued told", async () => {
    const [first, last] = [new Gate(), new Gate()];
    const waiting = (gate: Gate, before: string) => ({
      steps: [openAi.chunk({ content: before }), gate.step, openAi.chunk({ content: "." }), ...openAi.finish("stop")],
      mayBeLeft: gate === last,
    });
    const rig = await openTerminal({
      replies: [waiting(first, "The first"), openAi.text("Steered."), openAi.text("Followed."), waiting(last, "Long")],
      rows: 60,
    });
    const { terminal, server } = rig;
    terminal.galley("--plain");
    await terminal.shows(/you:$/m);
    terminal.type("begin");
    await first.reached;
    terminal.type("/queue later, please");
    await terminal.shows("galley: Queued: later, please");
    terminal.type("turn left");
    await terminal.until((screen) => screen.includes("turn left"));
    first.open();
    await terminal.shows("galley: Followed.");
    const said = () =>
      server?.requests.map(({ body }) =>
        (body as { messages: { role: string; content: unknown }[] }).messages
          .filter(({ role }) => role === "user")
          .map(({ content }) => textOf(content)),
      );
    expect(said()).toEqual([["begin"], ["begin", "turn left"], ["begin", "turn left", "later, please"]]);
    await terminal.shows(/Followed\.\nyou:$/m);
    terminal.type("go on");
    await last.reached;
    terminal.type("/queue not this one");
    await terminal.shows("galley: Queued: not this one");
    terminal.type("/stop");
    await terminal.shows(/galley: Not sent: not this one[\s\S]*galley: Stopped\./);
    await terminal.shows(/you:$/m);
    expect(said()).toHaveLength(4);
    terminal.type("/quit");
    await terminal.shows(/galley: galley --resume [0-9a-f-]+\n\$$/);
    expect(written(rig)).not.toContain(escapeByte);
  });

  it("reviews byte for byte: one hunk, a reason for the model, undo and redo", async () => {
    const filler = Array.from({ length: 12 }, (_, index) => `const x${index} = ${index};\r\n`).join("");
    const cart = `export function add(a) {\r\n  return total(a);\r\n}\r\n${filler}total(2);\r\n${filler}`;
    const other = "before();\ntotal(3)";
    const edit = { ops: [{ pat: "total($A)", out: "sum($A)" }], paths: ["src"] };
    const rig = await openTerminal({
      replies: [call("ast_edit", edit), openAi.text("Staged."), openAi.text("I see.")],
      rows: 100,
    });
    const { terminal, write, cwd, server } = rig;
    write("src/cart.js", cart);
    write("src/other.js", other);
    const file = join(cwd, "src/cart.js");
    chmodSync(file, 0o755);
    utimesSync(file, 1_600_000_000, 1_600_000_000);
    const facts = () => {
      const { mode, mtimeMs } = statSync(file);
      return [readFileSync(file, "utf8"), mode & 0o777, mtimeMs];
    };
    const before = facts();
    terminal.galley("--plain");
    await terminal.shows(/you:$/m);
    terminal.type("rename it");
    await terminal.shows(/galley: Staged\.\nyou:$/m);
    terminal.type("/review");
    await terminal.shows(/cart\.js {2}modify {2}hunk 1 of 2[\s\S]*quit\?\n*$/);
    terminal.type("skip");
    await terminal.shows(/cart\.js {2}modify {2}hunk 2 of 2[\s\S]*quit\?\n*$/);
    terminal.type("apply");
    await terminal.shows(/Applied 1 of 3 hunks in 1 of 2 files \(src\/cart\.js\)\.[\s\S]*quit\?\n*$/);
    expect(readFileSync(file, "utf8")).toBe(cart.replace("total(2)", "sum(2)"));
    expect(readFileSync(join(cwd, "src/other.js"), "utf8")).toBe(other);
    terminal.type("discard");
    await terminal.shows(/question: Why\?[^\n]*$/);
    terminal.type("not here");
    await terminal.shows(/The review has ended\.\nyou:$/m);
    expect(terminal.screen).toContain(
      "hunk 1 of 2  @@ -1,5 +1,5 @@  line ends are CRLF\npreview pa_1:  export function add(a) {\n",
    );
    expect(terminal.screen).toContain("\\ No newline at end of file");
    terminal.type("/discard pa_1 use plus");
    await terminal.shows("Reason: use plus");
    terminal.type("why");
    await terminal.shows(/galley: I see\.\nyou:$/m);
    expect(JSON.stringify(server?.requests.at(-1)?.body)).toContain("use plus");
    terminal.type("/undo");
    await terminal.shows(/galley: Undone: /);
    expect(facts()).toEqual(before);
    terminal.type("/redo");
    await terminal.shows(/galley: Redone: /);
    expect(readFileSync(file, "utf8")).toBe(cart.replace("total(2)", "sum(2)"));
    terminal.type("/quit");
    await terminal.shows(/galley: galley --resume /);
    expect(written(rig)).not.toContain(escapeByte);
  });

  it("asks with a numbered list before each command; once, for the session, always, and no with a reason", async () => {
    const commands = ["echo once > once", "echo s > s", "echo s > s", "echo a > a", "echo no > no", "echo late > late"];
    const replies = commands.map((command, index) => call("bash", { command }, `c${index}`));
    const rig = await openTerminal({ replies: [...replies, openAi.text("Done \u001b[31mred\u202e.")], rows: 90 });
    const { terminal, cwd, agentDir, server } = rig;
    terminal.galley("--plain", "--access", "full", "go");
    const answer = async (command: string, ...lines: string[]) => {
      await terminal.until(
        (screen) => screen.slice(screen.lastIndexOf("question: Run bash?")).includes(`question: command: ${command}`),
        { what: command },
      );
      await new Promise((resolve) => setTimeout(resolve, 400)); // a line of the first 300 ms is no answer
      for (const line of lines) terminal.type(line);
    };
    await terminal.shows(
      /question: in ~\/project\nquestion: 1 once\nquestion: 2 for this session\nquestion: 3 always\nquestion: 4 no, with a reason/,
    );
    await answer("echo once", "1");
    await answer("echo s", "2");
    await answer("echo a", "3");
    await answer("echo no", "4", "use the tests");
    await terminal.shows(/question: Run bash\?[^\n]*\nquestion: command: echo late[\s\S]*$/);
    terminal.keys("Enter"); // too early, or no number: either way it does not run
    await new Promise((resolve) => setTimeout(resolve, 400));
    terminal.keys("Enter");
    await terminal.shows("galley: Done red.");
    const ran = ["once", "s", "a", "no", "late"].filter((name) => existsSync(join(cwd, name)));
    expect(ran).toEqual(["once", "s", "a"]);
    expect(JSON.stringify(server?.requests.at(-2)?.body)).toContain("Refused by the user: use the tests");
    const config = readFileSync(join(agentDir, "config.yml"), "utf8");
    expect([config.includes("echo a"), config.includes("echo s")]).toEqual([true, false]);
    terminal.type("/quit");
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

  it("asks what becomes of what the model wants to apply: later, a part, no with a reason", async () => {
    const edit = (path: string) => call("ast_edit", { ops: [{ pat: "total($A)", out: "sum($A)" }], paths: [path] });
    const resolve = call("resolve", { action: "apply", reason: "It was asked for." });
    const rig = await openTerminal({
      replies: [
        ...[edit("one"), resolve, openAi.text("Later, then.")],
        ...[edit("two"), resolve, openAi.text("A part, then.")],
        ...[edit("three"), resolve, openAi.text("Not at all, then.")],
      ],
      rows: 100,
    });
    const { terminal, write, cwd, server } = rig;
    const files = ["one", "two", "three"].flatMap((folder) => [`${folder}/a.js`, `${folder}/b.js`]);
    for (const file of files) write(file, "total(1);\n");
    const changed = () => files.filter((file) => readFileSync(join(cwd, file), "utf8") === "sum(1);\n");
    const read = () => JSON.stringify(server?.requests.at(-1)?.body);
    const asks = async (prompt: string, id: string, line: string) => {
      terminal.type(prompt);
      await terminal.shows(new RegExp(`The model wants to apply ${id} [\\s\\S]*\\. Anything else is later\\.\\n*$`));
      // A line of the first 300 ms is no answer, and a busy machine may take longer to show the question: then once more.
      for (let isEarly = true; isEarly; ) {
        await new Promise((done) => setTimeout(done, 400));
        terminal.type(line);
        const after = await terminal.until((screen) => !/is later\.\n(?:\d\n?)?$/.test(`${screen}\n`));
        isEarly = /A number, please\.$/.test(after);
      }
    };
    terminal.galley("--plain", "--access", "workspace");
    await terminal.shows(/you:$/m);
    await asks("rename it", "pa_1", "3");
    await terminal.shows("galley: Later, then.");
    expect(terminal.screen).toContain("preview pa_1: +sum(1);");
    expect(read()).toContain("The user postponed it: pa_1 stays pending.");
    await asks("the others too", "pa_2", "4");
    await terminal.shows("question: two/a.js, hunk 1 of 1");
    terminal.type("2");
    await terminal.shows("question: two/b.js, hunk 1 of 1");
    terminal.type("1");
    await terminal.shows("question: What was left out");
    terminal.type("1");
    await terminal.shows("galley: A part, then.");
    expect(changed()).toEqual(["two/b.js"]);
    expect(read()).toContain("1 of 2");
    await asks("and the last", "pa_3", "2");
    await terminal.shows("question: Why?");
    terminal.type("not there");
    await terminal.shows("galley: Not at all, then.");
    expect(read()).toContain("not there");
    expect(changed()).toEqual(["two/b.js"]);
    terminal.type("/quit");
    await terminal.shows("galley --resume");
    expect(written(rig)).not.toContain(escapeByte);
    server?.verify();
  });
});

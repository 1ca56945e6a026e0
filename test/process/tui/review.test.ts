// The review view in a real terminal: what is decided there is written exactly, and nothing else.

import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openAi, type Reply, startScriptedServer } from "../../../src/testing/index.js";
import { ensureBuilt, modelsAt } from "../../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../../kit/run-galley.js";
import { TmuxTerminal, tmuxVersion, withoutTmux } from "../../kit/tmux.js";

beforeAll(ensureBuilt, 150_000);

const filler = Array.from({ length: 12 }, (_, index) => `const x${index} = ${index};\r\n`).join("");
const cart = `export function add(a) {\r\n  return total(a);\r\n}\r\n${filler}total(2);\r\n${filler}`;
const other = "before();\ntotal(3)";

/** Two files, three hunks, CRLF, and no newline at the end. */
function project() {
  const { home, env } = emptyHome();
  const cwd = join(home, "shop");
  mkdirSync(join(cwd, "src"), { recursive: true });
  mkdirSync(join(cwd, ".git"));
  const file = (name: string) => join(cwd, "src", name);
  writeFileSync(file("cart.js"), cart);
  writeFileSync(file("other.js"), other);
  chmodSync(file("cart.js"), 0o755);
  utimesSync(file("cart.js"), 1_600_000_000, 1_600_000_000);
  const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });
  return { home, env, cwd, galley, file, read: (name: string) => readFileSync(file(name), "utf8") };
}

const replaceTotal = "replace total($A) with sum($A) in src";

async function scripted(home: string, replies: Reply[]) {
  const server = await startScriptedServer(replies);
  mkdirSync(join(home, ".galley/agent"), { recursive: true });
  writeFileSync(join(home, ".galley/agent/models.yml"), modelsAt(server.url));
  onTestFinished(() => server.close());
  return server;
}

const called = (name: string, args: Record<string, unknown>, id = "c1") =>
  openAi.toolCalls([{ id, name, arguments: args }]);
const edit = { ops: [{ pat: "total($A)", out: "sum($A)" }], path: "src" };

describe.skipIf(!tmuxVersion)(`the review view${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("as galley review: one hunk, a reason, undo and redo, byte for byte", async () => {
    const { env, cwd, galley, file, read } = project();
    await galley("-p", replaceTotal);
    const terminal = new TmuxTerminal({ cwd, env, columns: 100, rows: 30 });
    terminal.galley("review");
    await terminal.shows("a apply hunk 1 of 2   A file   Y apply all 3 hunks in 2 files");
    expect(terminal.screen).toContain("Line ends are CRLF");
    terminal.keys("j");
    await terminal.shows("a apply hunk 2 of 2");
    terminal.keys("a");
    await terminal.shows("Applied 1 of 3 hunks in 1 of 2 files (src/cart.js).");
    expect([read("cart.js"), read("other.js")]).toEqual([cart.replace("total(2)", "sum(2)"), other]);
    terminal.keys("D");
    await terminal.shows("Reason:");
    terminal.write("not today");
    terminal.keys("Enter");
    await terminal.shows("Reason: not today");
    await terminal.shows("1 Pending 0");
    terminal.keys("u");
    await terminal.shows("Y apply 1 hunk in 1 file");
    await terminal.shows("Undo: ");
    terminal.keys("Y");
    await terminal.shows("Undone: ");
    const { mode, mtimeMs } = statSync(file("cart.js"));
    expect([read("cart.js"), mode & 0o777, mtimeMs]).toEqual([cart, 0o755, 1_600_000_000_000]);
    terminal.keys("U");
    await terminal.shows("Redo: ");
    terminal.keys("Y");
    await terminal.shows("Redone: ");
    expect(read("cart.js")).toBe(cart.replace("total(2)", "sum(2)"));
    terminal.keys("2");
    await terminal.shows(/ch_\w+ .*Redo: /);
    expect(terminal.screen).toMatch(/user +src\/cart\.js +undone/);
    terminal.keys("q");
    await terminal.shows(/review'?\n\$$/);
    expect([terminal.fact("alternate_on"), terminal.fact("cursor_flag")]).toEqual(["0", "1"]);
    terminal.type("echo code $?");
    await terminal.shows("code 0");
  });

  it("in the conversation: one hunk, undo and redo, byte for byte", async () => {
    const { home, env, cwd, file, read } = project();
    await scripted(home, [called("ast_edit", edit), openAi.text("Shall I?")]);
    const terminal = new TmuxTerminal({ cwd, env, columns: 80, rows: 24 });
    terminal.galley("rename it");
    await terminal.shows("Shall I?");
    await terminal.until((screen) => !screen.includes("esc to stop"));
    const facts = () => {
      const { mode, mtimeMs } = statSync(file("cart.js"));
      return [read("cart.js"), mode & 0o777, mtimeMs];
    };
    const before = facts();
    terminal.keys("C-r");
    await terminal.shows("a apply hunk 1 of 2");
    terminal.keys("j");
    await terminal.shows("a apply hunk 2 of 2");
    terminal.keys("a");
    await terminal.shows("Applied 1 of 3 hunks in 1 of 2 files (src/cart.js).");
    const part = cart.replace("total(2)", "sum(2)");
    expect([read("cart.js"), read("other.js")]).toEqual([part, other]);
    terminal.keys("u");
    await terminal.shows(/Undo: [\s\S]*Y apply 1 hunk in 1 file/);
    terminal.keys("Y");
    await terminal.shows("Undone: ");
    expect(facts()).toEqual(before);
    terminal.keys("U");
    await terminal.shows(/Redo: [\s\S]*Y apply 1 hunk in 1 file/);
    terminal.keys("Y");
    await terminal.shows("Redone: ");
    expect([read("cart.js"), read("other.js")]).toEqual([part, other]);
    terminal.keys("q");
    await terminal.until(() => terminal.fact("alternate_on") === "0", { what: "the conversation" });
  });

  it("needs a terminal, and tells with its exit code what is left", async () => {
    const { env, cwd, galley } = project();
    await galley("-p", replaceTotal);
    const piped = await galley("review");
    expect([piped.code, piped.stderr]).toEqual([2, "galley: Use  galley pending  and  galley show ID.\n"]);
    const terminal = new TmuxTerminal({ cwd, env });
    terminal.galley("review", "--exit-code", "1");
    await terminal.shows("Y apply all 3 hunks");
    terminal.keys("q");
    await terminal.shows(/\$$/);
    terminal.type("echo code $?");
    await terminal.shows("code 5");
    terminal.galley("review", "9");
    await terminal.shows('No pending action with id "9". Pending: pa_1.');
  });

  it("decides in the conversation: the model is told of a reason; galley review is refused meanwhile", async () => {
    const { home, env, cwd, read, galley } = project();
    const server = await scripted(home, [called("ast_edit", edit), openAi.text("Shall I?"), openAi.text("I see.")]);
    const terminal = new TmuxTerminal({ cwd, env, columns: 100, rows: 30 });
    terminal.galley("--auto", "--set", "resolve.forcing=off");
    await terminal.shows("workspace");
    terminal.write("rename it");
    terminal.keys("Enter");
    await terminal.shows("Shall I?");
    terminal.keys("C-r");
    await terminal.shows("a apply hunk 1 of 2");
    expect(terminal.screen).toContain('"rename it"');
    const second = new TmuxTerminal({ cwd, env, columns: 100, rows: 30 });
    second.galley("review");
    await second.shows("a apply hunk 1 of 2");
    second.keys("a");
    await second.shows(/Session is open in another galley \(pid \d+\)\. Settle it there\./);
    expect(read("cart.js")).toBe(cart);
    second.keys("q");
    terminal.keys("D");
    terminal.write("use plus");
    terminal.keys("Enter");
    await terminal.shows("Reason: use plus");
    terminal.keys("q");
    await terminal.shows("Shall I?");
    terminal.write("why");
    terminal.keys("Enter");
    await terminal.shows("I see.");
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("discarded by the user: Discarded: ");
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("use plus");
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });
});

describe.skipIf(!tmuxVersion)(`what the model wants to apply${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  async function asked() {
    const made = project();
    const server = await scripted(made.home, [
      called("ast_edit", edit),
      called("resolve", { action: "apply", reason: "done" }, "c2"),
      openAi.text("So be it."),
    ]);
    const terminal = new TmuxTerminal({ cwd: made.cwd, env: made.env, columns: 100, rows: 30 });
    terminal.galley("--auto", "rename it"); // in stage the user alone decides
    await terminal.shows("Apply pa_1?   Y yes, all 3 hunks in 2 files   D no");
    // What is typed in the first moment is no answer.
    await new Promise((resolve) => setTimeout(resolve, 350));
    const told = async () => {
      await terminal.shows("So be it.");
      return JSON.stringify(server.requests.at(-1)?.body);
    };
    return { ...made, terminal, told };
  }

  it("waits; a part is written and its rest stays", async () => {
    const { terminal, told, read, galley } = await asked();
    terminal.keys("j");
    await terminal.shows("a apply hunk 2 of 2");
    terminal.keys("a");
    await terminal.shows("Apply hunk 2 of 2. The rest:  k stays pending   d discard it");
    expect(read("cart.js")).toBe(cart);
    terminal.keys("k");
    const text = await told();
    expect(text).toContain("Applied 1 of 3 hunks in 1 of 2 files (src/cart.js).");
    expect(text).toContain("Not written: the rest stays pending as pa_1 for the user.");
    expect([read("cart.js"), read("other.js")]).toEqual([cart.replace("total(2)", "sum(2)"), other]);
    terminal.keys("C-d");
    await terminal.shows("galley --resume");
    expect((await galley("pending")).stdout).toContain("pa_1");
  });

  it("is told of a no with its reason", async () => {
    const { terminal, told, read } = await asked();
    terminal.keys("D");
    await terminal.shows("Reason:");
    terminal.write("wrong word");
    terminal.keys("Enter");
    expect(await told()).toContain("User declined: wrong word");
    expect(read("cart.js")).toBe(cart);
  });

  it("is told that it was postponed", async () => {
    const { terminal, told, read } = await asked();
    terminal.keys("Escape");
    expect(await told()).toContain("The user postponed it: pa_1 stays pending.");
    expect(read("cart.js")).toBe(cart);
    terminal.keys("C-r");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    terminal.keys("Y");
    await terminal.until(() => read("cart.js") !== cart, { what: "the file written" });
  });

  it("writes nothing when a file has changed since", async () => {
    const { terminal, told, file, read } = await asked();
    writeFileSync(file("other.js"), "changed();\n");
    terminal.keys("Y");
    expect(await told()).toContain("stale");
    expect([read("cart.js"), read("other.js")]).toEqual([cart, "changed();\n"]);
  });
});

describe.skipIf(!tmuxVersion)(`what is shown${tmuxVersion ? "" : ` (${withoutTmux})`}`, () => {
  it("unseen lines ask again; the last of 50,000 lines; everything at 40x12", async () => {
    const { env, cwd, galley, file, read } = project();
    const lines = Array.from({ length: 25_000 }, (_, index) => `total(${index});`);
    writeFileSync(file("other.js"), `${lines.join("\n")}\n`);
    await galley("-p", replaceTotal);
    const terminal = new TmuxTerminal({ cwd, env, columns: 40, rows: 12 });
    terminal.galley("review");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    terminal.keys("G");
    await terminal.shows("+ sum(24999);");
    terminal.keys("Y");
    await terminal.shows(/49,\d+ lines in 2 files not seen yet\.\s+Press Y again to apply all the same\./);
    terminal.keys("k");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    terminal.keys("/");
    terminal.write("sum(12345)");
    await terminal.shows("+ sum(12345);");
    terminal.keys("Escape");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    terminal.keys("Y");
    await terminal.shows("Press Y again");
    expect(read("cart.js")).toBe(cart);
    terminal.keys("Y");
    await terminal.shows("1 Pending 0");
    expect(read("cart.js")).toBe(cart.replaceAll("total", "sum"));
  });

  it("side by side at 160 columns, refused at 80; long lines wrap or are cut", async () => {
    const { env, cwd, galley, file } = project();
    writeFileSync(file("other.js"), `total("${"word ".repeat(60)}")\n`);
    await galley("-p", replaceTotal);
    const terminal = new TmuxTerminal({ cwd, env, columns: 160, rows: 40 });
    terminal.galley("review");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    expect(terminal.screen).toContain("↪");
    terminal.keys("s");
    await terminal.shows(/2 - {3}return total\(a\);.*│ *2 \+ {3}return sum\(a\);/);
    terminal.resize(80, 24);
    await terminal.shows(/^▌ +2 +- {3}return total\(a\);$/m);
    terminal.keys("s");
    terminal.keys("s");
    await terminal.shows("Side by side needs 100 columns of diff; here are 80.");
    terminal.keys("w");
    terminal.keys("J");
    await terminal.shows(/word …\+\d+$/m);
  });

  it("a stale one writes nothing, and is rebased before it is", async () => {
    const { env, cwd, galley, file, read } = project();
    await galley("-p", replaceTotal);
    const terminal = new TmuxTerminal({ cwd, env, columns: 100, rows: 30 });
    terminal.galley("review");
    await terminal.shows("Y apply all 3 hunks in 2 files");
    writeFileSync(file("cart.js"), `// new\r\n${cart}`);
    terminal.keys("Y");
    await terminal.shows("stale: src/cart.js changed on disk");
    expect([read("cart.js"), read("other.js")]).toEqual([`// new\r\n${cart}`, other]);
    terminal.keys("R");
    await terminal.shows("is made anew for the files as they are");
    terminal.keys("Y");
    await terminal.until(() => read("other.js") === "before();\nsum(3)", { what: "the file written" });
    expect(read("cart.js")).toBe(`// new\r\n${cart.replaceAll("total", "sum")}`);
  });

  it("what another terminal has settled meanwhile is not decided twice", async () => {
    const { env, cwd, galley, read } = project();
    await galley("-p", replaceTotal);
    const [one, two] = [0, 1].map(() => new TmuxTerminal({ cwd, env, columns: 100, rows: 30 })) as [
      TmuxTerminal,
      TmuxTerminal,
    ];
    for (const terminal of [one, two]) {
      terminal.galley("review");
      await terminal.shows("Y apply all 3 hunks in 2 files");
    }
    one.keys("D", "Enter");
    await one.shows("1 Pending 0");
    two.keys("Y");
    await two.shows(/It has changed meanwhile\. Nothing was decided\.|pa_1 is no longer pending\./);
    await two.shows("1 Pending 0");
    expect([read("cart.js"), read("other.js")]).toEqual([cart, other]);
  });

  it("writes out names that hide something", async () => {
    const { env, cwd, galley } = project();
    const path = "src/a\u202egpj.js";
    await galley("tools", "run", "write", JSON.stringify({ path, content: "total(1);\n" }), "--stage");
    const terminal = new TmuxTerminal({ cwd, env, columns: 130, rows: 30 });
    terminal.galley("review");
    await terminal.shows("a\\u202egpj.js");
    expect(terminal.bytes).not.toContain("\u202e");
  });

  it("edits the new side of a hunk in the user's editor", async () => {
    const { home, env, cwd, galley, read } = project();
    await galley("-p", replaceTotal);
    const editor = join(home, "editor");
    writeFileSync(editor, '#!/bin/sh\nexec sed -i s/sum/plus/ "$1"\n', { mode: 0o755 });
    const terminal = new TmuxTerminal({ cwd, env: { ...env, EDITOR: editor }, columns: 100, rows: 30 });
    terminal.galley("review");
    await terminal.shows("a apply hunk 1 of 2");
    terminal.keys("e");
    await terminal.shows("Edited. Nothing is written yet.");
    await terminal.shows("return plus(a);");
    terminal.keys("a");
    await terminal.until(() => read("cart.js") !== cart, { what: "the file written" });
    expect(read("cart.js")).toBe(cart.replace("total(a)", "plus(a)"));
  });
});

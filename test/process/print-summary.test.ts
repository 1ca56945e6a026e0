// What a one-shot run tells at its end about files: what it wrote, what commands and custom tools wrote, what waits.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openAi } from "../../src/testing/index.js";
import { call, createPrintRig } from "../kit/print-rig.js";
import { ensureBuilt } from "../kit/rpc-host.js";

const rig = createPrintRig();
beforeAll(ensureBuilt, 150_000);
beforeEach(() => {
  rig.newProject();
  rig.write("a.txt", "one\ntwo\nthree\n");
});
afterAll(rig.remove);

const done = openAi.text("Done.");
const edit = (oldText: string, newText: string) => call("edit", { path: "a.txt", oldText, newText });
const besides = "Changed by commands or custom tools (galley cannot take this back):";

describe("what was written", () => {
  it("is told in total, with lines added and removed, and how to take it back", async () => {
    const replies = [
      edit("two", "TWO"),
      edit("TWO", "2\n2b"),
      call("write", { path: "sub/new.txt", content: "x\ny\n" }),
      done,
    ];
    const { code, stdout, stderr } = await rig.withModel(replies, ["-p", "go"]);
    expect([code, stdout]).toEqual([0, "Done.\n"]);
    expect(stderr).toBe(`Written:
  a.txt  +2 -1
  sub/new.txt  +2 -0  new
Take back what was written with  galley undo --run
4 turns, 60 tokens
`);
  });

  it("is not told of a file that is as it was", async () => {
    const { stderr } = await rig.withModel([edit("two", "TWO"), edit("TWO", "two"), done], ["-p", "go"]);
    expect(stderr).toBe("3 turns, 45 tokens\n");
  });

  it("is told though no undo is kept, and of a plan that the model applied", async () => {
    rig.write("a.ts", "old(1);\nold(2);\n");
    const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] });
    const apply = call("resolve", { action: "apply", reason: "good" }, "c2");
    const { stderr } = await rig.withModel([preview, apply, done], ["--set", "undo.keep=0", "-p", "go"]);
    expect(stderr).toMatch(/^Written:\n {2}a\.ts {2}\+2 -2\n/);
  });

  it("is told after a signal too", async () => {
    const tool = `export default () => ({
      name: "stop", description: "Stops the program", parameters: { type: "object" },
      async execute() {
        const heard = new Promise((resolve) => process.once("SIGTERM", resolve));
        process.kill(process.pid, "SIGTERM");
        await heard;
        return { content: [] };
      },
    });`;
    writeFileSync(join(rig.home, "stop.js"), tool);
    const args = ["--tool", join(rig.home, "stop.js"), "-p", "go"];
    const { code, stderr } = await rig.withModel([edit("two", "TWO"), call("stop", {}, "c2")], args);
    expect(code).toBe(143);
    expect(stderr).toMatch(/^Written:\n {2}a\.txt {2}\+1 -1\n/m);
    expect(stderr).not.toContain("turn");
  });
});

describe("what commands and custom tools change", () => {
  const command =
    "echo new > made.txt; echo more >> a.txt; rm gone.txt; echo 1 > .env; mkdir d; echo x > d/ignored.log";
  beforeEach(() => {
    rig.write("gone.txt", "x\n");
    rig.write(".gitignore", "*.log\n");
  });

  it("is found on the disk, whatever the staging", async () => {
    // A command that is staged changes nothing there; one of the host's rights does.
    for (const staging of [
      ["--access", "full"],
      ["--set", "staging=off", "--set", "sandbox=off"],
    ]) {
      rig.newProject();
      rig.write("a.txt", "one\n");
      rig.write("gone.txt", "x\n");
      rig.write(".gitignore", "*.log\n");
      const { stderr } = await rig.withModel([call("bash", { command }), done], [...staging, "-p", "go"]);
      expect(stderr).toBe(`${besides}
  .env  new
  a.txt
  gone.txt  deleted
  made.txt  new
2 turns, 30 tokens
`);
    }
  });

  it("is told apart from what galley wrote", async () => {
    const replies = [edit("two", "TWO"), call("bash", { command: "sed -i 1d a.txt; echo x > b.txt" }, "c2"), done];
    const { stderr } = await rig.withModel(replies, ["-p", "go"]);
    expect(stderr).toMatch(/^Written:\n {2}a\.txt {2}\+1 -2\n.*:\n {2}b\.txt {2}new\nTake back/);
  });

  it("is found after a custom tool, and after its own apply", async () => {
    writeFileSync(
      join(rig.home, "tool.js"),
      `import { writeFileSync } from "node:fs";
       export default (pi) => ({
         name: "make", description: "Makes files", parameters: { type: "object" },
         async execute() {
           writeFileSync("direct.txt", "x");
           pi.pushPendingAction({ label: "Later", apply: () => { writeFileSync("later.txt", "x"); return "ok"; } });
           return { content: [{ type: "text", text: "made" }] };
         },
       });`,
    );
    const replies = [call("make", {}), call("resolve", { action: "apply", reason: "good" }, "c2"), done];
    const { stderr } = await rig.withModel(replies, ["--tool", join(rig.home, "tool.js"), "-p", "go"]);
    expect(stderr).toContain(`${besides}\n  direct.txt  new\n  later.txt  new\n`);
    expect(stderr).not.toContain("Written:");
  });

  it("is none of galley's own files", async () => {
    const args = ["--session-dir", "kept", "-p", "go"];
    const { stderr } = await rig.withModel([call("bash", { command: "true" }), done], args);
    expect(stderr).toBe("2 turns, 30 tokens\n");
  });
});

describe("calls that fail or are refused", () => {
  it("are listed with tool, target and reason", async () => {
    const replies = [
      call("read", { path: "missing.txt" }),
      call("bash", { command: "echo out; exit 3" }, "c2"),
      call("bash", { command: "true" }, "c3"),
      done,
    ];
    const failing = await rig.withModel(replies, ["-p", "go"]);
    expect(failing.code).toBe(0);
    expect(failing.stderr).toBe(`Failed or refused:
  read missing.txt: Path 'missing.txt' not found
  bash echo out; exit 3: Command exited with code 3
4 turns, 60 tokens
`);
    writeFileSync(
      join(rig.home, "deploy.js"),
      `export default () => ({ name: "deploy", description: "Deploys", parameters: { type: "object" }, approval: "exec",
         execute: async () => ({ content: [] }) });`,
    );
    const named = ["--tool", join(rig.home, "deploy.js")];
    const refused = await rig.withModel([call("deploy", {}), done], [...named, "--stage", "-p", "go"]);
    expect(refused.stderr).toBe(`Failed or refused:
  deploy: Refused: commands bypass staging. Use --allow-exec to permit them.
2 turns, 30 tokens
`);
  });
});

describe("what is staged", () => {
  const write = (name: string, lines: number, id: string) =>
    call("write", { path: name, content: Array.from({ length: lines }, (_, n) => `line ${n}\n`).join("") }, id);

  it("is shown as a unified diff, listed with + and -, and told with its commands", async () => {
    const replies = [edit("two", "TWO"), write("b.txt", 2, "c2"), done];
    const { code, stderr } = await rig.withModel(replies, ["--stage", "-p", "go"]);
    expect(code).toBe(0);
    const [first = "", second = ""] =
      stderr
        .match(/pa_\d+(?= {2}(?:Edit|Write))/g)
        ?.slice(0, 2)
        .sort() ?? [];
    expect(stderr).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
    expect(stderr).toContain("--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,2 @@\n+line 0\n+line 1\n");
    expect(stderr).toMatch(
      new RegExp(`Pending, not written yet:
  ${second}  Write: b.txt
        b.txt  \\+2 -0  new
  ${first}  Edit: a.txt
        a.txt  \\+1 -1
See it with  galley show ID
Decide with  galley apply ID  or  galley discard ID \\(or --all\\)
3 turns, 45 tokens
$`),
    );
    expect(readFileSync(join(rig.cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect((await rig.galley(["apply", "--all"])).code).toBe(0);
    expect(readFileSync(join(rig.cwd, "a.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  });

  it("is cut at 200 lines, with the command for the rest, and not shown with --quiet", async () => {
    const { stderr } = await rig.withModel([write("long.txt", 500, "c1"), done], ["--stage", "-p", "go"]);
    const [id = ""] = /pa_\d+/.exec(stderr) ?? [];
    expect(stderr).toContain(`+line 196\n… 303 more lines of ${id}: galley show ${id}\n\nPending`);
    const quiet = await rig.withModel([write("more.txt", 500, "c1"), done], ["--stage", "--quiet", "-p", "go"]);
    expect(quiet.stderr).toBe("");
  });

  it("is applied at the end with --yes, what rests on it included, and told as written", async () => {
    const replies = [edit("two", "TWO"), edit("TWO", "2"), write("b.txt", 2, "c2"), done];
    const { code, stderr } = await rig.withModel(replies, ["--stage", "--yes", "-p", "go"]);
    expect(code).toBe(0);
    expect(stderr).toBe(`Written:
  b.txt  +2 -0  new
  a.txt  +1 -1
Take back what was written with  galley undo --run
4 turns, 60 tokens
`);
    expect(readFileSync(join(rig.cwd, "a.txt"), "utf8")).toBe("one\n2\nthree\n");
  });
});

it("a project that is too large to compare is told", async () => {
  const many = join(rig.cwd, "many");
  mkdirSync(many);
  const command = `mkdir -p many && cd many && seq 20001 | xargs touch`;
  const { stderr } = await rig.withModel([call("bash", { command }), done], ["-p", "go"]);
  rmSync(many, { recursive: true });
  expect(stderr).toBe(`What commands and custom tools changed is not known: the project has more than 20,000 files.
2 turns, 30 tokens
`);
});

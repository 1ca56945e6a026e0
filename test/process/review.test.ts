// Ids and scope of the review verbs: numbers that no two processes share, a project that is the same from every
// directory in it, a run taken back as a whole.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { HelloProject } from "../kit/hello-project.js";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { galleyBin, run } from "../kit/run-galley.js";
import { runs } from "../kit/runs.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";

beforeAll(ensureBuilt, 150_000);

const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});
const project = new HelloProject();
const { galley, json, home, env } = project;
afterAll(project.remove);
beforeEach(() => project.renew());

const idsIn = (text: string) => [...text.matchAll(/^ *((?:[\w-]+:)?pa_\d+) /gm)].map((match) => match[1]);

describe("ids", () => {
  it("are counted over the whole project: runs, hosts, sessions in memory and undos", async () => {
    await project.preview();
    await galley("--no-session", "-p", "replace shout($A) with loud($A) in hello");
    const host = new RpcHost({
      args: ["--cwd", project.cwd],
      env: { HOME: home, GALLEY_AGENT_DIR: join(home, ".galley/agent") },
    });
    try {
      host.send({ id: "p", type: "prompt", message: "replace shout($A) with loud($A) in hello" });
      const { action } = (await host.waitForType("pending_action_added")) as unknown as { action: { id: string } };
      expect(action.id).toBe("pa_3");
      await host.waitForType("agent_settled");
    } finally {
      await host.dispose();
    }
    const racing = await Promise.all(
      ["a", "b", "c"].map((name) => galley("-p", `replace shout($A) with ${name}($A) in hello`)),
    );
    const claimed = racing.map(({ stdout }) => / as (pa_\d+)\./.exec(stdout)?.[1]);
    expect(claimed.sort()).toEqual(["pa_4", "pa_5", "pa_6"]);
    expect(idsIn((await galley("pending")).stdout).sort()).toEqual(["pa_1", "pa_3", "pa_4", "pa_5", "pa_6"]);
  });

  it("may be given as a number, never as the beginning of another number", async () => {
    for (const name of ["a", "b"]) await project.preview("shout($A)", `${name}($A)`);
    await galley("discard", "1");
    const wrong = await galley("apply", "1");
    expect([wrong.code, wrong.stderr]).toEqual([2, 'galley: No pending action with id "1". Pending: pa_2.\n']);
    expect((await galley("apply", "pa_")).stdout).toMatch(/^Applied pa_2 as ch_/);
  });

  it("that files of earlier versions repeat are shown and accepted with their session", async () => {
    await project.preview();
    const { sessions = [] } = (await json("sessions", "list")) as { sessions?: { path: string }[] };
    const directory = dirname(sessions[0]?.path ?? "");
    const original = basename(sessions[0]?.path ?? "");
    const other = "0198c0de-0000-7000-8000-000000000001";
    // Another session, as it was when each counted by itself.
    const id = /_(.+)\.jsonl$/.exec(original)?.[1] ?? "";
    const copy = original.replace(id, other);
    const text = readFileSync(join(directory, original), "utf8");
    writeFileSync(join(directory, copy), text.replaceAll(id, other));
    cpSync(join(directory, original.replace(".jsonl", "")), join(directory, copy.replace(".jsonl", "")), {
      recursive: true,
    });
    const listed = idsIn((await galley("pending")).stdout);
    expect(listed.sort()).toEqual([`${id}:pa_1`, `${other}:pa_1`].sort());
    const ambiguous = await galley("show", "pa_1");
    expect(ambiguous.code).toBe(2);
    for (const name of listed) expect(ambiguous.stderr).toContain(name);
    expect((await galley("discard", `${other}:pa_1`)).stdout).toMatch(`Discarded ${other}:pa_1: AST Edit`);
    expect(idsIn((await galley("pending")).stdout)).toEqual(["pa_1"]);
    expect((await galley("show", `${id.slice(0, 20)}:pa_1`, "--files")).stdout).toBe("hello/greet.ts\nhello/main.ts\n");
  });
});

describe("E-2: the project", () => {
  it("names files from its root on, also at the end of a run in a directory of it", async () => {
    for (const directory of [".git", "docs"]) mkdirSync(join(project.cwd, directory));
    const preview = await project.galleyIn("docs", "-p", "replace console.log($$$A) with log($$$A) in ../hello .");
    expect(preview.stderr.match(/^(?:---|\+\+\+) .*$/gm)).toEqual([
      ...["--- a/hello/greet.ts", "+++ b/hello/greet.ts"],
      ...["--- a/hello/main.ts", "+++ b/hello/main.ts"],
    ]);
    expect(preview.stderr).toMatch(/\n {8}hello\/greet\.ts {2}\+3 -5\n {8}hello\/main\.ts {2}\+2 -2\n/);
    const args = ["-p", "replace shout($A) with loud($A) in ../hello", "--yes", "--set", "resolve.forcing=off"];
    const written = await project.galleyIn("docs", ...args, "--then", "run echo x > ../hello/left.txt");
    expect(written.stderr).toMatch(/Written:\n {2}hello\/greet\.ts /);
    expect(written.stderr).toMatch(/Changed by commands[^\n]*\n {2}hello\/left\.txt/);
  });

  it.each([".git", ".galley"])("with %s is the same from its root and from every directory in it", async (mark) => {
    mkdirSync(join(project.cwd, mark));
    mkdirSync(join(project.cwd, "docs"));
    const sub = (...args: string[]) => project.galleyIn("hello", ...args);
    await sub("-p", "replace console.log($$$A) with logger.debug($$$A) in .");
    await project.preview("shout($A)", "loud($A)");
    const rows = (await galley("pending")).stdout;
    expect(idsIn(rows).sort()).toEqual(["pa_1", "pa_2"]);
    expect((await sub("pending")).stdout).toBe(rows);
    expect((await project.galleyIn("docs", "show", "1", "--files")).stdout).toBe("hello/greet.ts\nhello/main.ts\n");
    // From the root on, from where the user is, and as the session named it.
    expect((await sub("show", "1", "main.ts", "--files")).stdout).toBe("hello/main.ts\n");
    expect((await project.galleyIn("docs", "show", "1", "../hello/main.ts", "--files")).stdout).toBe("hello/main.ts\n");
    expect((await project.galleyIn("docs", "apply", "1", "hello/main.ts")).stdout).toMatch(
      /^Applied a part of pa_1 as ch_\w+: .*\n {2}modified {2}hello\/main\.ts {2}\+2 -2\n/,
    );
    expect((await galley("apply", "1", "greet.ts")).code).toBe(0);
    expect((await sub("apply", "2")).code).toBe(3); // the file is another one now
    expect((await sub("discard", "2")).code).toBe(0);
    expect((await project.galleyIn("docs", "undo")).stdout).toContain("\n  modified  hello/greet.ts  +5 -3\n");
    expect((await galley("undo")).stdout).toContain("\n  modified  hello/main.ts  +2 -2\n");
    const list = async (directory: string, ...flags: string[]) => {
      const { stdout } = await project.galleyIn(directory, "sessions", "list", "--json", ...flags);
      return (JSON.parse(stdout) as { sessions: { cwd: string }[] }).sessions.map(({ cwd }) => cwd).sort();
    };
    const both = [project.cwd, join(project.cwd, "hello")];
    expect(await list("docs")).toEqual(both);
    expect(await list("hello", "--here")).toEqual([join(project.cwd, "hello")]);
    expect(await list("docs", "--here")).toEqual([]);
  });

  it("is continued and resumed from any of its directories, and says when there is nothing to continue", async () => {
    mkdirSync(join(project.cwd, ".git"));
    const none = await galley("--continue", "-p", "help");
    expect([none.code, none.stdout, none.stderr]).toEqual([
      2,
      "",
      "galley: There is no session to continue in this project.\n",
    ]);
    await galley("-p", "show hello/shout.ts");
    await project.galleyIn("hello", "--continue", "-p", "show shout.ts");
    const { sessions = [] } = (await json("sessions", "list")) as { sessions?: { id: string; messageCount: number }[] };
    expect(sessions).toHaveLength(1);
    const [{ id, messageCount } = { id: "", messageCount: 0 }] = sessions;
    await project.galleyIn("hello", "--resume", id.slice(0, 13), "-p", "help");
    const after = (await json("sessions", "list")) as { sessions?: { messageCount: number }[] };
    expect(after.sessions).toMatchObject([{ messageCount: messageCount + 2 }]);
  });

  it("ends where another one begins, and is never home", async () => {
    mkdirSync(join(project.cwd, ".git"));
    const inner = join(project.cwd, "inner");
    mkdirSync(join(inner, ".git"), { recursive: true });
    cpSync(join(project.cwd, "hello"), join(inner, "hello"), { recursive: true });
    await project.galleyIn("inner", "-p", "replace shout($A) with loud($A) in hello");
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
    const atHome = await run(process.execPath, [galleyBin, "pending"], { env, cwd: home });
    expect(atHome.stdout).toBe("Nothing pending.\n");
    expect(idsIn((await project.galleyIn("inner/hello", "pending")).stdout)).toEqual(["pa_1"]);
  });
});

describe("galley undo --run", () => {
  it("stages the inverse of what the last run made, and with --yes takes it back", async () => {
    const original = project.state();
    await galley("--yes", "-p", "replace shout($A) with loud($A) in hello");
    const between = project.state();
    await project.preview();
    await galley("apply", "2", "hello/main.ts");
    await galley("apply", "2");
    const staged = await galley("undo", "--run");
    expect(staged.code).toBe(0);
    expect(staged.stdout).toMatch(/^pa_\d+ {2}pending o {2}Undo: 2 changes of one run\n/);
    expect(staged.stdout).toMatch(/\n2 files, \+7 -5\n/);
    await galley("discard", "--all");
    const undone = await galley("undo", "--run", "--yes");
    expect(undone.stdout).toMatch(/\n\nUndone: 2 changes of one run\.\n(?: {2}modified .*\n){2}$/);
    expect(project.state()).toEqual(between);
    writeFileSync(join(project.cwd, "hello/greet.ts"), "mine\n");
    const changed = project.state();
    const refused = await galley("undo", "--run", "--yes");
    expect([refused.code, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toMatch(/^galley: Cannot undo ch_\w+: hello\/greet\.ts was edited\. Nothing was written\. /);
    expect(project.state()).toEqual(changed);
    expect(original).not.toEqual(between);
  });

  it("a newest change that does not fit does not stop an older one", async () => {
    await galley("--yes", "-p", "replace shout($A) with loud($A) in hello/greet.ts");
    await galley("--yes", "-p", "replace console.log($$$A) with trace($$$A) in hello/main.ts");
    writeFileSync(join(project.cwd, "hello/main.ts"), "mine\n");
    const { changes = [] } = (await json("changes")) as { changes?: { id: string }[] };
    expect((await galley("undo")).code).toBe(3);
    expect((await galley("undo", changes[1]?.id.slice(0, 8) ?? "")).stdout).toContain(
      "  modified  hello/greet.ts  +1 -1\n",
    );
    expect(project.read("hello/greet.ts")).toContain("shout(text)");
  });
});

describe("E-4: an action that rests on another", () => {
  beforeEach(async () => {
    await galley("--stage", "-p", "replace shout($A) with mid($A) in hello");
    await galley("--stage", "--continue", "-p", "replace mid($A) with loud($A) in hello/greet.ts");
  });

  it("says so, and writes nothing that was not named", async () => {
    const original = project.state();
    expect((await galley("pending")).stdout).toMatch(
      /^pa_2 {2}pending o .*\n {6}rests on pa_1 for hello\/greet\.ts\npa_1 {2}pending o .*\n$/,
    );
    expect((await galley("show", "2")).stdout).toContain("\nrests on pa_1 for hello/greet.ts\n");
    const { actions = [] } = (await json("pending")) as { actions?: { restsOn: object[] }[] };
    expect(actions[0]?.restsOn).toEqual([{ id: "pa_1", files: ["hello/greet.ts"] }]);
    const refused = await galley("apply", "2");
    expect(refused).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "galley: pa_2 rests on other pending actions. To apply it would also write:\n  pa_1  hello/greet.ts  (AST Edit: 1 replacement in 1 file)\nNothing was written. To apply them together: galley apply pa_2 --with-deps\n",
    });
    expect(project.state()).toEqual(original);
    expect(idsIn((await galley("pending")).stdout)).toEqual(["pa_2", "pa_1"]);
  });

  it("is applied with it when told so", async () => {
    const { results } = await json("apply", "2", "--with-deps");
    expect(results).toMatchObject([
      { id: "pa_2", outcome: "applied", files: [{ path: "hello/greet.ts" }] },
      { id: "pa_1", outcome: "applied", text: "Needed by pa_2." },
    ]);
    expect(project.read("hello/greet.ts")).toContain("return loud(text)");
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });

  it.each([[["2", "1"]], [["--all"]]])("%j names everything that is needed", async (words) => {
    const { code, stdout } = await galley("apply", ...words);
    expect([code, stdout.match(/^Applied pa_\d/gm)]).toEqual([0, ["Applied pa_1", "Applied pa_2"]]);
    expect(stdout).not.toMatch(/pending/i);
    expect(project.read("hello/greet.ts")).toContain("return loud(text)");
  });

  it("goes with what it rests on when that is discarded", async () => {
    const { results } = await json("discard", "1");
    expect(results).toMatchObject([
      { id: "pa_1", outcome: "discarded", text: expect.stringContaining(" with it: pa_2 AST Edit") },
      { id: "pa_2", outcome: "discarded", text: "Depends on pa_1." },
    ]);
    expect((await galley("pending")).stdout).toBe("Nothing pending.\n");
  });
});

describe("E-6: galley rebase", () => {
  it("makes a stale action anew under its id, writes nothing, and lists what does not fit", async () => {
    mkdirSync(join(project.cwd, ".git"));
    await project.preview();
    const path = join(project.cwd, "hello/main.ts");
    writeFileSync(path, `// by another program\n${readFileSync(path, "utf8")}`);
    const before = project.state();
    expect((await galley("apply", "1")).code).toBe(3);
    expect(await project.galleyIn("hello", "rebase", "1")).toEqual({
      code: 0,
      stdout: "Rebased pa_1, revision 2: 2 files, +5 -7. Nothing is written yet.\nSee it with: galley show pa_1\n",
      stderr: "",
    });
    expect(project.state()).toEqual(before);
    writeFileSync(path, `${readFileSync(path, "utf8").replace(/console\.log\("usage.*/, "usage();")}// end\n`);
    const edited = project.state();
    const refused = await galley("rebase", "1");
    expect(refused).toEqual({
      code: 3,
      stdout: "",
      stderr:
        "galley: pa_1 was left as it is. These hunks no longer find their lines:\n  hello/main.ts (hunk 1)\nLeave them out with: galley rebase pa_1 --partial\n",
    });
    expect((await galley("show", "1", "--stat")).stdout).toContain("hello/main.ts   +2 -2  1 hunk  stale !\n");
    expect((await json("rebase", "1", "--partial")).left).toEqual([{ path: "hello/main.ts", hunks: [1] }]);
    expect(project.state()).toEqual(edited);
    expect((await galley("apply", "1")).stdout).toMatch(
      /^Applied pa_1 as ch_\w+: AST Edit: 2 replacements in 1 file\n {2}modified {2}hello\/greet\.ts {2}\+3 -5\n$/,
    );
    expect(readFileSync(path, "utf8")).toContain("// by another program\n");
    expect(await galley("rebase", "1")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("several sessions", () => {
  it.skipIf(noView !== undefined)(
    "apply --all goes from the oldest to the newest, whichever session staged them",
    async () => {
      await project.preview("shout($A)", "loud($A)");
      await galley("exec", "--stage", "--", "sh", "-c", "echo made > made.txt");
      await project.preview("console.log($$$A)", "log($$$A)", "--no-session").catch(() => {});
      const { stdout } = await galley("apply", "--all");
      expect([...stdout.matchAll(/^Applied (pa_\d+)/gm)].map(([, id]) => id)).toEqual(["pa_1", "pa_2"]);
    },
  );

  it.skipIf(noView !== undefined)(
    "are rows of their own: the first file, how many more, and the command that no prompt caused",
    async () => {
      await project.preview();
      await galley("exec", "--stage", "--", "sh", "-c", "echo made > made.txt");
      const { stdout } = await galley("pending");
      expect(stdout).toMatch(/^ {2}pa_2 .*made\.txt .*exec.* sh -c echo made > made\.txt$/m);
      expect(stdout).toMatch(/^ {2}pa_1 .*hello\/greet\.ts \(\+1\) .*ast_edit.* replace console/m);
    },
  );

  it("two decisions at the same time are one, and the other is told what it was", async () => {
    for (let round = 0; round < runs(12); round++) {
      await project.preview("shout($A)", `loud${round}($A)`);
      const [, id = ""] = /^(pa_\d+)/.exec((await galley("pending")).stdout) ?? [];
      const both = await Promise.all([galley("apply", id), galley("discard", id)]);
      const winners = both.filter(({ code }) => code === 0);
      expect(winners.map(({ stdout }) => stdout)).toEqual([expect.stringMatching(/^(?:Applied|Discarded) pa_/)]);
      const [loser] = both.filter((outcome) => !winners.includes(outcome));
      expect([loser?.code, loser?.stderr]).toEqual([
        3,
        expect.stringMatching(/was (?:applied|discarded) by another process|open in another galley/),
      ]);
      await galley("undo");
    }
  });

  it.each([
    ["discard", "apply", "discarded"],
    ["apply", "discard", "applied"],
  ])("%s by another process is told, however late its outcome is read", async (verb, late, outcome) => {
    await project.preview();
    const [held, go, hold] = ["held", "go", "hold.cjs"].map((name) => join(home, `${verb}-${name}`)) as [
      string,
      string,
      string,
    ];
    writeFileSync(
      hold,
      `const { existsSync, writeFileSync } = require("node:fs");
if (require("node:worker_threads").isMainThread) {
  writeFileSync(${JSON.stringify(held)}, "");
  while (!existsSync(${JSON.stringify(go)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
}
`,
    );
    const waiting = run(process.execPath, ["--require", hold, galleyBin, late, "1"], { env, cwd: project.cwd });
    await vi.waitUntil(() => existsSync(held), { timeout: 30_000 });
    expect((await galley(verb, "1")).code).toBe(0);
    writeFileSync(go, "");
    expect(await waiting).toEqual({ code: 3, stdout: "", stderr: `galley: pa_1 was ${outcome} by another process.\n` });
    expect((await galley(late, "1")).code).toBe(2); // nothing happens at the same time
  });
});

it("an exported page says what became of each preview", async () => {
  await project.preview("shout($A)", "loud($A)");
  await galley("apply", "pa_1");
  await project.preview("console.log($$$A)", "log($$$A)", "--continue");
  await galley("discard", "pa_2");
  await project.preview("console.log($$$A)", "log($$$A)", "--continue");
  const { sessions = [] } = (await json("sessions", "list")) as { sessions?: { path: string }[] };
  const states = async () => {
    await galley("--export", sessions[0]?.path ?? "", "page.html");
    return [...readFileSync(join(project.cwd, "page.html"), "utf8").matchAll(/class="mark state">([^<]*)</g)].map(
      ([, text]) => text,
    );
  };
  expect(await states()).toEqual(["pa_1 applied ✓", "pa_2 discarded ✗", "pa_3 pending ◌"]);
  await galley("apply", "pa_3", "hello/main.ts");
  expect(await states()).toEqual(["pa_1 applied ✓", "pa_2 discarded ✗", "pa_3 applied in part ✓"]);
  await galley("discard", "pa_3");
  await galley("undo");
  const former = ["pa_1 applied ✓", "pa_2 discarded ✗", "pa_3 undone ↺"];
  const undo = "pa_4 applied ✓";
  expect(await states()).toEqual([...former, undo]);
  await galley("undo");
  await galley("redo");
  expect((await states()).slice(0, 4)).toEqual([...former, undo]);
});

it.skipIf(noView !== undefined)("an exported page says so too of what no model staged", async () => {
  await galley("exec", "--stage", "--", "sh", "-c", "echo made > made.txt");
  const { sessions = [] } = (await json("sessions", "list")) as { sessions?: { path: string }[] };
  const note = async () => {
    await galley("--export", sessions[0]?.path ?? "", "page.html");
    return /<p class="note">Staged: (.*)<\/p>/.exec(project.read("page.html"))?.[1];
  };
  const label = "1 file changed by sh -c echo made &gt; made.txt";
  expect(await note()).toBe(`${label} <span class="mark state">pa_1 pending ◌</span>`);
  await galley("apply", "1");
  expect(await note()).toBe(`${label} <span class="mark state">pa_1 applied ✓</span>`);
});

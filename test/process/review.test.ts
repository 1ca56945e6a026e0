// Ids and scope of the review verbs: numbers that no two processes share, a project that is the same from every
// directory in it, a run taken back as a whole.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HelloProject } from "../kit/hello-project.js";
import { ensureBuilt, RpcHost } from "../kit/rpc-host.js";
import { galleyBin, run } from "../kit/run-galley.js";

beforeAll(ensureBuilt, 150_000);

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

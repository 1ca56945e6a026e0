// One-shot runs of the real program: text, JSON lines, exit codes, wrong input.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cut, openAi, type Reply, startScriptedServer } from "../../src/testing/index.js";
import { emptyHome, galleyBin, type Outcome, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
afterAll(remove);
execFileSync("mkfifo", [join(home, "pipe")]);

const galley = (args: string[], input = "", cwd = home): Promise<Outcome> =>
  run(process.execPath, [galleyBin, ...args], { env, cwd, input });

describe("print mode", () => {
  it("prints the answer on stdout and the summary on stderr, and with --quiet the answer alone", async () => {
    writeFileSync(join(home, "note.txt"), "first\nsecond\n");
    const answer = { code: 0, stdout: "first\nsecond\n" };
    expect(await galley(["-p", "show note.txt"])).toEqual({ ...answer, stderr: "2 turns\n" });
    expect(await galley(["--quiet", "-p", "show note.txt"])).toEqual({ ...answer, stderr: "" });
  });

  it("takes a piped message, and strips what would move a terminal", async () => {
    writeFileSync(join(home, "evil.txt"), "\u001b]0;owned\u0007a\u001b[31mb\u202ec\n");
    expect((await galley([], "show evil.txt")).stdout).toBe("abc\n\n[Terminal escape sequences were removed]\n");
  });

  it("tells why previews are gone whose session could not be written", async () => {
    writeFileSync(join(home, "b.ts"), "foo(1);\n");
    writeFileSync(join(home, "no-directory"), "");
    const args = ["-p", "--session-dir", join(home, "no-directory"), "replace foo($A) with bar($A) in b.ts"];
    const { code, stderr } = await galley(args);
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^Not applied, and gone with the run:\n(?:.*\n)*?The session could not be kept \(.*no-directory.*\)\./m,
    );
    expect(stderr).not.toMatch(/--no-session|^\s+at /m);
  });

  it("tells what was taken for a text although it looks like a file, and a directory that is not there", async () => {
    const { stderr } = await galley(["-p", "--system-prompt", "gone.md", "--plugin-dir", "nosuch", "help"]);
    expect(stderr).toContain(`--system-prompt: there is no file ${join(home, "gone.md")}. The value is used as text.`);
    expect(stderr).toContain(`${join(home, "nosuch")}: No such file or directory`);
  });

  it("ends with 3 when the run fails, and says why on stderr", async () => {
    const { code, stdout, stderr } = await galley(["-p", "show missing.txt"]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("read failed: Path 'missing.txt' not found");
  });

  it.each([
    [["-p"], "Nothing to do"],
    [["--modell", "x", "-p", "help"], "Unknown option --modell. Did you mean --model?"],
    [["--mode", "xml", "help"], '--mode must be text, json or rpc, not "xml".'],
    [["-p", "help", "--thinking", "hard"], "--thinking must be one of"],
    [["pendng"], "Unknown command pendng. Did you mean pending?"],
    [["aply", "pa_1"], "Unknown command aply. Did you mean apply? As a prompt:  galley -p -- aply pa_1\n"],
    [["--no-session", "pending"], "Put the command first: galley pending …"],
    [["-p", "help", "--tools", "read,wirte"], "Unknown tool wirte. Known tools: read, bash, edit, write, grep,"],
    [["-p", "help", "--tools", "read,ask"], "--tools: the tool ask needs a user to ask,"],
  ])("%j is wrong usage: 2", async (args, text) => {
    const { code, stdout, stderr } = await galley(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(text);
  });

  it.each([
    [["-p", "help", "--model", "nope/nope"], "Model not found: nope/nope"],
    [["-p", "help", "--cwd", "missing"], "Working directory does not exist"],
    [["-p", "@missing.txt"], "Cannot read"],
    [["-p", "@pipe"], "it is not a regular file"],
    [["-p", "@/dev/zero"], "it is not a regular file"],
  ])("%j cannot start: 1", async (args, text) => {
    const { code, stdout, stderr } = await galley(args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(text);
  });

  it("more piped input than a model can take is refused, and not read to its end", async () => {
    const { code, stdout, stderr } = await galley(["-p", "help"], "y\n".repeat(4 * 1024 * 1024));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("The piped input is larger than 5 MiB");
  });

  it("--tools names undo too", async () => {
    expect(await galley(["-p", "--tools", "undo", "undo"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("Nothing to undo."),
    });
  });

  it("--no-tools leaves the planner without hands, and it says so", async () => {
    expect((await galley(["-p", "show note.txt", "--no-tools"])).stdout).toBe(
      "The read tool is not active in this session.\n",
    );
  });

  it("--help, --version and --list-models answer on stdout", async () => {
    expect((await galley(["--help"])).stdout).toContain("--mode text|json|rpc");
    expect((await galley(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    for (const words of [["--list-models"], ["--list-models", "plan"]])
      expect((await galley(words)).stdout).toContain("galley/planner");
    expect((await galley(["--list-models", "nothing-of-the-kind"])).stdout).toBe("");
  });
});

describe("JSON mode", () => {
  const lines = (stdout: string) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });

  it("prints a header, every event, and how it ended", async () => {
    const { code, stdout } = await galley(["--mode", "json", "show note.txt"]);
    const types = lines(stdout).map(({ type }) => type);
    expect(code).toBe(0);
    expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual([
      "session",
      "agent_start",
      "agent_settled",
      "exit",
    ]);
    expect(lines(stdout).at(-1)).toEqual({ type: "exit", code: 0, reason: "done", pending: [] });
  });

  it("tells a failure in its last line", async () => {
    const { code, stdout } = await galley(["--mode", "json", "show missing.txt"]);
    expect(code).toBe(3);
    expect(lines(stdout).at(-1)).toMatchObject({ type: "exit", code: 3, reason: "failed" });
    expect(lines((await galley(["--mode", "json"])).stdout)).toEqual([
      { type: "exit", code: 2, reason: "usage", message: expect.stringContaining("Nothing to do"), pending: [] },
    ]);
  });
});

describe("a model over HTTP", () => {
  async function withServer(script: Reply[], args: string[]): Promise<Outcome & { body: unknown }> {
    const server = await startScriptedServer(script);
    const agentDir = join(home, ".galley/agent");
    mkdirSync(agentDir, { recursive: true });
    const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", auth: "none", models: [{ id: "m" }] };
    writeFileSync(join(agentDir, "models.json"), JSON.stringify({ providers: { local: provider } }));
    const outcome = await galley(["--model", "local/m", ...args]);
    const body = server.requests[0]?.body;
    await server.close();
    return { ...outcome, body };
  }

  it("answers with what the service streamed", async () => {
    const outcome = await withServer([openAi.text("Hello ", "there")], ["-p", "hi"]);
    expect(outcome).toMatchObject({ code: 0, stdout: "Hello there\n", stderr: "1 turn, 15 tokens\n" });
    expect(outcome.body).toMatchObject({ model: "m", stream: true });
    expect(JSON.stringify(outcome.body).length).toBeLessThan(8000);
  });

  it("ends with 7 when the provider fails", async () => {
    const once = ["-p", "hi", "--set", "retry.enabled=false"];
    const answered = await withServer([{ status: 500, body: '{"error":{"message":"on fire"}}' }], once);
    expect([answered.code, answered.stdout]).toEqual([7, ""]);
    expect(answered.stderr).toContain("on fire");
    const broken = await withServer([{ steps: [cut] }], once);
    expect(broken.code).toBe(7);
  });
});

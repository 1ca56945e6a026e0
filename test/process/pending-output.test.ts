// What the pending verbs write: clean text for a terminal, an exit code that tells of an answer nobody got, and silence
// for a reader who has gone.

import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt } from "../kit/rpc-host.js";
import { emptyHome, galleyBin, run } from "../kit/run-galley.js";

const { home, env, remove } = emptyHome();
const cwd = join(home, "project");
const galley = (...args: string[]) => run(process.execPath, [galleyBin, ...args], { env, cwd });

/** Stages a change of one file, under the label that stands behind its name. */
const stager = `export default (api) => ({
  name: "stage",
  description: "Stages a change",
  async execute([label]) {
    await api.pushPendingAction({ label: JSON.parse(\`"\${label}"\`), plan: [{ path: "a.txt", after: "new\\n" }] });
  },
});`;
const stage = (label: string) => galley("-p", `/stage ${label}`, "--then", "help"); // a session is kept from its first message on

beforeAll(async () => {
  await ensureBuilt();
  const module = join(home, ".galley/agent/commands/stage");
  mkdirSync(module, { recursive: true });
  mkdirSync(cwd);
  writeFileSync(join(module, "index.mjs"), stager);
  writeFileSync(join(cwd, "a.txt"), "old\n");
}, 150_000);
afterAll(remove);

describe("a label with escape sequences", () => {
  it("is shown without them by every verb", async () => {
    const label = "\\u001b[31mRed\\u001b]0;title\\u0007\\u202e";
    await stage(label);
    expect((await galley("pending")).stdout).toMatch(/^pa_1 {2}pending o {2}a\.txt [\n -~]*$/);
    expect((await galley("show", "pa_1")).stdout).toMatch(/^pa_1 {2}pending o {2}Red\n/);
    expect((await galley("discard", "pa_1")).stdout).toBe("Discarded pa_1: Red\n");
    await stage(label);
    expect((await galley("apply", "pa_2")).stdout).toMatch(/^Applied pa_2 as ch_\w+: Red\n[\n -~]+$/);
    expect((await galley("changes")).stdout).toMatch(/^[\n -~]+ {2}Red\n$/);
    expect((await galley("undo")).stdout).toMatch(/\n\nUndone: Red\.\n {2}modified {2}a\.txt {2}\+1 -1\n$/);
  });
});

describe.skipIf(process.platform !== "linux")("an output that takes nothing more", () => {
  it.each([
    ["pending", ["pending", "--json"]],
    ["show", ["show", "pa_"]],
    ["discard", ["discard", "--all", "--json"]],
    ["help", ["pending", "--help"]],
    ["the whole help", ["--help"]],
    ["the version", ["--version"]],
    ["sessions", ["sessions", "list", "--json"]],
    ["config", ["config", "list"]],
    ["models", ["models", "--all"]],
  ])("is a failure of %s, not a success without an answer", async (_verb, args) => {
    await galley("discard", "--all");
    await stage("Blue");
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [galleyBin, ...args], {
      cwd,
      env,
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);
    expect([status, stderr]).toEqual([3, "galley: Cannot write the output: ENOSPC: no space left on device, write\n"]);
  });
});

const hasTerminals = spawnSync("python3", ["-c", "import pty"]).status === 0;

describe.skipIf(!hasTerminals)("a terminal", () => {
  const inTerminal = (more: NodeJS.ProcessEnv, ...args: string[]) => {
    const script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    const words = ["-c", script, process.execPath, galleyBin, ...args];
    const options = { cwd, env: { ...env, ...more, TERM: "xterm", LANG: "C.UTF-8" }, encoding: "utf8" } as const;
    return spawnSync("python3", words, { ...options, input: "" });
  };

  it("gets a diff with colours through the user's pager, and rows as they are", async () => {
    await galley("discard", "--all");
    await stage("Green");
    const paged = inTerminal({ PAGER: "sed s/^/PAGED:/" }, "show", "pa_");
    expect(paged.stdout).toMatch(/^PAGED:pa_\d+ {2}pending ◌ {2}Green\r\n/);
    expect(paged.stdout).toContain("PAGED:\u001b[32m+new\u001b[0m\r\n");
    const plain = inTerminal({ PAGER: "cat", NO_COLOR: "1" }, "show", "pa_");
    expect(plain.stdout).toContain("\n+new\r\n");
    expect(inTerminal({ PAGER: "sed s/^/PAGED:/" }, "pending").stdout).toMatch(/^pa_\d+ {2}pending ◌ {2}a\.txt /);
  });
});

describe("a reader who has gone", () => {
  /** Nobody reads stdout, nor stderr if that is not wanted either. */
  function unread(args: readonly string[], { isStderrRead }: { isStderrRead: boolean }) {
    const child = spawn(process.execPath, [galleyBin, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdout.destroy();
    if (!isStderrRead) child.stderr.destroy();
    onTestFinished(() => void child.kill("SIGKILL"));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, stderr })));
  }

  it("gets no stack, and the code is that of the work", async () => {
    expect(await unread(["pending"], { isStderrRead: true })).toEqual({ code: 0, stderr: "" });
    const unknown = 'galley: No pending action with id "pa_77". Pending: ';
    expect(await unread(["show", "pa_77"], { isStderrRead: true })).toEqual({
      code: 2,
      stderr: expect.stringContaining(unknown),
    });
  });

  it("who does not hear of failures either is no reason to go on for ever", async () => {
    expect(await unread(["pending"], { isStderrRead: false })).toEqual({ code: 0, stderr: "" });
    expect(await unread(["show", "pa_77"], { isStderrRead: false })).toEqual({ code: 2, stderr: "" });
  });
});

// Real processes. What is alive is asked of the system, by a tag in the environment or on the command line.

import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import type { Clock } from "../base/clock.js";
import { type Log, silentLog } from "../base/log.js";
import { manualClock } from "../testing/manual-clock.js";
import { createNodeProcesses, type NodeProcessesOptions } from "./node-processes.js";
import type { Processes, ProcessRequest } from "./processes.js";
import { alive, until } from "./processes.test-kit.js";

const directory = temporaryDirectory();
const opened: Processes[] = [];
let tags = 0;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((processes) => processes.shutdown()));
});
afterAll(async () => {
  await common?.shutdown();
});

/** For commands that leave nothing behind: a watcher for each would be most of the time. */
let common: Processes | undefined;
function shared(): Processes {
  common ??= createNodeProcesses({ env: process.env, log: silentLog, clock: hasty });
  return common;
}

function open(options: Partial<NodeProcessesOptions> = {}): Processes {
  const processes = createNodeProcesses({ env: process.env, log: silentLog, clock: hasty, ...options });
  opened.push(processes);
  return processes;
}

/** Runs a line and gathers what it says. */
async function sh(line: string, options: Partial<ProcessRequest> = {}, processes = shared()) {
  const said = { stdout: "", stderr: "" };
  const end = await processes.run({
    command: { shell: line },
    cwd: directory,
    onOutput(chunk, stream) {
      said[stream] += Buffer.from(chunk).toString();
      return undefined;
    },
    ...options,
  });
  return { ...end, ...said };
}

/** Ten times as fast: who ignores TERM does so for two of its seconds. */
const hasty: Clock = {
  now: () => Date.now() * 10,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs / 10);
    return () => clearTimeout(timer);
  },
};

const newTag = () => `galleytest${process.pid}x${tags++}x`;

/** Who is alive and bears the tag. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // the descriptor of the listing itself
  }
}

/** A promise that a line of output resolves. */
function onLine(text: string) {
  let resolve = () => {};
  let all = "";
  const heard = new Promise<void>((done) => {
    resolve = done;
  });
  const onOutput = (chunk: Uint8Array) => {
    all += Buffer.from(chunk).toString();
    if (all.includes(text)) resolve();
    return undefined;
  };
  return { heard, onOutput };
}

describe("a command", () => {
  it("is told with its output and its exit code", async () => {
    expect(await sh("echo out; echo err >&2; exit 3")).toEqual({ exitCode: 3, stdout: "out\n", stderr: "err\n" });
  });

  it("reaches the shell as it is, with the $0 and the exit codes of bash -c", async () => {
    const line = `printf '%s|' "$0" "$#" 'a"b' "it's" $'\\t' "\\$HOME" ä; false`;
    expect(await sh(line)).toEqual({ exitCode: 1, stdout: `bash|0|a"b|it's|\t|$HOME|ä|`, stderr: "" });
    expect(await sh("if")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("bash: -c: line") });
    expect(await sh("no-such-program-here")).toMatchObject({
      exitCode: 127,
      stderr: "bash: line 1: no-such-program-here: command not found\n",
    });
    expect(await sh("")).toMatchObject({ exitCode: 0 });
  });

  it("runs in the shell of the user's choice", async () => {
    expect(await sh('echo "$0"', {}, open({ shellPath: "/bin/sh" }))).toMatchObject({ stdout: "sh\n" });
  });

  it.each([
    ["TERM", 143],
    ["KILL", 137],
    ["SEGV", 139],
  ])("ended by SIG%s has the code %i", async (signal, exitCode) => {
    expect(await sh(`kill -${signal} $$`)).toMatchObject({ exitCode });
  });

  it("keeps the order of both streams in one pipe when asked", async () => {
    const line = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done";
    const { stdout, stderr } = await sh(line, { mergesOutput: true });
    expect({ stdout, stderr }).toEqual({ stdout: "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n", stderr: "" });
  });

  it("loses no word of a shell that is not there, nor of a program that is asked for one pipe", async () => {
    const missing = open({ shellPath: "/no/such/shell" });
    expect(await sh("true", { mergesOutput: true }, missing)).toMatchObject({
      exitCode: 127,
      stdout: expect.stringContaining("/no/such/shell"),
    });
    const command = { file: "/bin/sh", args: ["-c", "echo out; echo err >&2"] };
    expect(await sh("", { mergesOutput: true, command })).toEqual({ exitCode: 0, stdout: "out\n", stderr: "err\n" });
  });

  it("has no input, or the one it is given", async () => {
    expect(await sh("cat")).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await sh("cat", { stdin: "a\nb" })).toMatchObject({ stdout: "a\nb" });
    expect(await sh("wc -c", { stdin: new Uint8Array(300_000) })).toMatchObject({ stdout: "300000\n" });
    expect(await sh("exec <&-; true", { stdin: "x".repeat(1_000_000) })).toMatchObject({ exitCode: 0 });
  });

  it("runs no start file of the shell, with and without input", async () => {
    for (const name of [".bashrc", ".profile", ".bash_profile"]) writeFileSync(join(directory, name), "echo started\n");
    const processes = open({ env: { PATH: process.env.PATH, HOME: directory } });
    expect(await sh("echo own", {}, processes)).toMatchObject({ stdout: "own\n" });
    expect(await sh("cat", { stdin: "own\n" }, processes)).toMatchObject({ stdout: "own\n" });
  });

  it("C-1: leads a group and a session of its own", async () => {
    const { stdout } = await sh("read -r line < /proc/$$/stat; echo ${line##*) }");
    const [, , group, session] = stdout.split(" ");
    expect(group).toBe(session);
    const own = readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ");
    expect(session).not.toBe(own?.[3]);
  });

  it("R-10: has pipes of its own for stdout and stderr, and no other descriptor of ours", async () => {
    const ours = new Set(readdirSync("/proc/self/fd").map((name) => linkOf(`/proc/self/fd/${name}`)));
    const { stdout } = await sh("for fd in 0 1 2 3 4 5 6 7 8; do readlink /proc/$$/fd/$fd; done");
    const [input, ...rest] = stdout.trim().split("\n");
    expect(input).toBe("/dev/null");
    expect(rest).toHaveLength(2);
    expect(rest.filter((link) => ours.has(link))).toEqual([]);
  });

  it("K-2: sees the allow list, what the user configured and what the caller adds", async () => {
    const processes = open({
      env: { PATH: process.env.PATH, HOME: "/h", MY_TOKEN: "t", OTHER: "o", NODE_OPTIONS: "--x", GALLEY_RUN: "junk" },
      environment: { CONFIGURED_KEY: "c" },
    });
    const { stdout } = await sh("env -0", { env: { EXTRA: "a\nb" } }, processes);
    const names = stdout
      .split("\0")
      .map((pair) => pair.split("=")[0] ?? "")
      .filter(Boolean);
    // PWD, OLDPWD, SHLVL and _ are the shell's own.
    expect(names.filter((name) => !/^(?:PWD|OLDPWD|SHLVL|_)$/.test(name)).sort()).toEqual([
      "CONFIGURED_KEY",
      "EXTRA",
      "GALLEY_RUN",
      "HOME",
      "PATH",
    ]);
    expect(stdout).toMatch(/GALLEY_RUN=[0-9a-f-]{36}:1;\0/);
    expect(stdout).toContain("EXTRA=a\nb\0");
  });

  it("adds its marker to that of a galley around it", async () => {
    const outer = `${"0".repeat(8)}-0000-7000-8000-${"0".repeat(12)}:7;`;
    const processes = open({ env: { PATH: process.env.PATH, GALLEY_RUN: outer } });
    const { stdout } = await sh('echo "$GALLEY_RUN"', {}, processes);
    expect(stdout.startsWith(outer)).toBe(true);
    expect(stdout.length).toBe(outer.length + 40);
  });

  it("C-7: runs under limits", async () => {
    const { stdout } = await sh("ulimit -c; ulimit -n; ulimit -u; ulimit -Hn");
    const [core, files, processes, hardFiles] = stdout.split("\n");
    expect([core, files, hardFiles]).toEqual(["0", "4096", "4096"]);
    const threads = Number(/ \d+\/(\d+) /.exec(readFileSync("/proc/loadavg", "latin1"))?.[1]);
    expect(Math.abs(Number(processes) - 512 - threads)).toBeLessThan(300);
  });

  it("may be a program with arguments, which no shell reads", async () => {
    const said: string[] = [];
    const end = await open().run({
      command: { file: "printf", args: ["%s|", "$HOME", "a b", ""] },
      cwd: directory,
      onOutput: (chunk) => void said.push(Buffer.from(chunk).toString()) as undefined,
    });
    expect([end, said.join("")]).toEqual([{ exitCode: 0 }, "$HOME|a b||"]);
  });
});

describe("a start that fails", () => {
  const run = (request: Partial<ProcessRequest>, options: Partial<NodeProcessesOptions> = {}) =>
    open(options).run({ command: { shell: "true" }, cwd: directory, ...request });

  it("says what is missing", async () => {
    await expect(run({ command: { file: "no-such-program", args: [] } })).rejects.toMatchObject({
      code: "not_found",
      message: "Program not found: no-such-program",
    });
    await expect(run({ command: { file: "/no/such/program", args: [] } })).rejects.toMatchObject({
      code: "not_found",
      message: "Program not found: /no/such/program",
    });
    for (const command of [{ shell: "true" }, { file: "true", args: [] }])
      await expect(run({ command, cwd: join(directory, "gone") })).rejects.toMatchObject({
        code: "start_failed",
        message: `Working directory does not exist: ${join(directory, "gone")}`,
      });
  });

  it("says what the system refused", async () => {
    const file = join(directory, "not-executable");
    writeFileSync(file, "x");
    await expect(run({ command: { file, args: [] } })).rejects.toMatchObject({
      code: "start_failed",
      message: `Cannot start ${file}: permission denied.`,
    });
    await expect(run({ command: { shell: `: ${"x".repeat(3_000_000)}` } })).rejects.toMatchObject({
      code: "start_failed",
      message: "Cannot start /bin/sh: the command line and the environment are too long.",
    });
    await expect(run({ command: { shell: "a\0b" } })).rejects.toMatchObject({
      code: "start_failed",
      message: "Cannot start /bin/sh: an argument holds a NUL character.",
    });
  });

  it("does not take a program from the project or from a relative place", async () => {
    writeFileSync(join(directory, "tool"), "#!/bin/sh\necho evil\n", { mode: 0o755 });
    const command = { file: "tool", args: [] };
    const env = { PATH: `.:${directory}` };
    await expect(run({ command }, { env, projectRoot: directory })).rejects.toMatchObject({ code: "not_found" });
    await expect(run({ command }, { env: { PATH: "." } })).rejects.toMatchObject({ code: "not_found" });
    expect(await run({ command }, { env })).toEqual({ exitCode: 0 });
  });

  it("is clear on Windows", async () => {
    await expect(run({}, { platform: "win32" })).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("stopping", () => {
  it("does not start what is already aborted", async () => {
    const tag = newTag();
    const end = await sh(`sleep 100 ${tag}`, { signal: AbortSignal.abort() });
    expect(end).toEqual({ exitCode: 143, stopped: "aborted", stdout: "", stderr: "" });
  });

  it("aborts at once what obeys", async () => {
    const controller = new AbortController();
    const { heard, onOutput } = onLine("ready");
    const run = open().run({
      command: { shell: "trap 'echo bye; exit 5' TERM; echo ready; sleep 100 & wait" },
      cwd: directory,
      signal: controller.signal,
      onOutput,
    });
    await heard;
    controller.abort();
    expect(await run).toEqual({ exitCode: 5, stopped: "aborted" });
  });

  it("ends a program that starts no others, also one that does not obey", async () => {
    for (const [script, exitCode] of [
      ["echo ready; exec sleep 100", 143],
      ["trap '' TERM; echo ready; while :; do :; done", 137],
    ] as const) {
      const controller = new AbortController();
      const { heard, onOutput } = onLine("ready");
      let starts = 0;
      const run = open().run({
        command: { file: "/bin/sh", args: ["-c", script] },
        cwd: directory,
        startsNoOthers: true,
        signal: controller.signal,
        onStart: () => starts++,
        onOutput,
      });
      await heard;
      controller.abort();
      expect([await run, starts]).toEqual([{ exitCode, stopped: "aborted" }, 1]);
    }
  });

  it("is over when the child is, also by a clock that stands still", async () => {
    const controller = new AbortController();
    const { heard, onOutput } = onLine("ready");
    const run = open({ clock: manualClock() }).run({
      command: { shell: "trap 'sleep 0.05; exit 5' TERM; echo ready; sleep 100 & wait" },
      cwd: directory,
      signal: controller.signal,
      onOutput,
    });
    await heard;
    controller.abort();
    expect(await run).toEqual({ exitCode: 5, stopped: "aborted" });
  });

  it("times out by the clock it was given", async () => {
    const clock = manualClock();
    const { heard, onOutput } = onLine("ready");
    const run = open({ clock }).run({
      command: { shell: "echo ready; exec sleep 100" },
      cwd: directory,
      timeoutMs: 60_000,
      onOutput,
    });
    let isOver = false;
    void run.then(() => {
      isOver = true;
    });
    await heard;
    clock.advance(59_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.advance(1);
    await until(() => {
      clock.advance(1); // the steps of stopping wait by the same clock
      return isOver;
    });
    expect(await run).toEqual({ exitCode: 143, stopped: "timed_out" });
    clock.advance(100); // the watcher hears of an end a little later
    expect(clock.pendingTimers).toBe(0);
  });

  const stubborn = {
    "ignores TERM": (tag: string) => `trap '' TERM; echo ready; while :; do sleep 0.1; done # ${tag}`,
    "has a child in a session of its own": (tag: string) => `setsid sleep 100 & echo ready; sleep 100 # ${tag}`,
    "forked twice": (tag: string) => `(setsid sh -c 'sleep 100 & sleep 100 &' &) ; echo ready; sleep 100 # ${tag}`,
    "used nohup": (tag: string) => `nohup sleep 100 >/dev/null 2>&1 & echo ready; sleep 100 # ${tag}`,
    "emptied the environment": (tag: string) => `env -i sh -c 'sleep 100; : ${tag}' & echo ready; sleep 100`,
  };
  it.each(Object.entries(stubborn))("C-2: leaves no process of a command that %s", async (_, line) => {
    const tag = newTag();
    const controller = new AbortController();
    const { heard, onOutput } = onLine("ready");
    const run = open().run({
      command: { shell: line(tag) },
      cwd: directory,
      env: { TAG: tag },
      signal: controller.signal,
      onOutput,
    });
    await heard;
    expect(alive(tag).length).toBeGreaterThan(0);
    controller.abort();
    expect(await run).toMatchObject({ stopped: "aborted" });
    expect(alive(tag)).toEqual([]);
  });

  it("answers although an escaped process holds the pipes and nothing reads the output", async () => {
    const tag = newTag();
    const controller = new AbortController();
    let hold = () => {};
    const heard = new Promise<void>((resolve) => {
      hold = resolve;
    });
    const escaped = `env -i TAG=${tag} setsid sleep 100`;
    const run = open().run({
      command: { shell: `${escaped} 2>/dev/null & ${escaped} & echo x; wait` },
      cwd: directory,
      signal: controller.signal,
      onOutput() {
        hold();
        return new Promise(() => {});
      },
    });
    await heard;
    const escapedNow = () =>
      alive(tag).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("sleep"));
    await until(() => escapedNow().length === 2);
    controller.abort();
    expect(await run).toMatchObject({ stopped: "aborted" });
    expect(alive(tag)).toHaveLength(2); // so they hold the pipes still
    for (const pid of alive(tag)) process.kill(pid, "SIGKILL"); // the documented escape
  });
});

describe("the end", () => {
  it("C-2: comes 500 ms after the end of the command, whatever holds the pipes", async () => {
    const clock = manualClock();
    const after = vi.spyOn(clock, "after");
    const processes = open({ clock });
    const tag = newTag();
    const run = sh("sleep 100 & echo hello", { env: { TAG: tag } }, processes);
    let isOver = false;
    void run.then(() => {
      isOver = true;
    });
    await until(() => after.mock.calls.some(([delayMs]) => delayMs === 500)); // it has ended
    clock.advance(499);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    clock.advance(1);
    expect(await run).toEqual({ exitCode: 0, stdout: "hello\n", stderr: "" });
    expect(alive(tag)).toHaveLength(1); // it may live on
    let isDown = false;
    void processes.shutdown().then(() => {
      isDown = true;
    });
    await until(() => {
      clock.advance(1); // the steps of stopping wait by the same clock
      return isDown;
    });
    expect(alive(tag)).toEqual([]); // but not longer than we
  });

  it("drops what comes later", async () => {
    const said: string[] = [];
    const processes = open();
    await processes.run({
      command: { shell: "(while :; do echo late; sleep 0.05; done) & echo now" },
      cwd: directory,
      onOutput: (chunk) => void said.push(Buffer.from(chunk).toString()) as undefined,
    });
    const count = said.length;
    await sh("sleep 0.3", {}, processes);
    expect(said.length).toBe(count);
  });

  it("waits for a slow reader, so the command's own output is whole", async () => {
    let bytes = 0;
    const end = await open().run({
      command: { shell: "head -c 600000 /dev/zero" },
      cwd: directory,
      onOutput: (chunk) =>
        new Promise((resolve) => {
          setTimeout(() => {
            bytes += chunk.length;
            resolve();
          }, 150);
        }),
    });
    expect([end, bytes]).toEqual([{ exitCode: 0 }, 600_000]);
  });

  it("comes although a process writes without end and the reader is slow", async () => {
    const end = await open().run({
      command: { shell: "yes & echo now" },
      cwd: directory,
      onOutput: () => new Promise((resolve) => setTimeout(resolve, 20)),
    });
    expect(end).toEqual({ exitCode: 0 });
  });

  it("is an error when the reader failed, and leaves no process", async () => {
    const tag = newTag();
    for (const onOutput of [
      () => Promise.reject(new Error("disk full")),
      () => {
        throw new Error("disk full");
      },
    ]) {
      const run = open().run({ command: { shell: "echo a; sleep 100" }, cwd: directory, env: { TAG: tag }, onOutput });
      await expect(run).rejects.toThrow("disk full");
      expect(alive(tag)).toEqual([]);
    }
  });
});

it("holds a child that writes faster than it is read, in bounded memory", async () => {
  let bytes = 0;
  let isTaking = false;
  let overlaps = 0;
  let peak = 0;
  const before = process.memoryUsage().rss;
  await open().run({
    command: { shell: "head -c 100000000 /dev/zero & head -c 100000 /dev/zero >&2; wait" },
    cwd: directory,
    async onOutput(chunk) {
      if (isTaking) overlaps++;
      isTaking = true;
      bytes += chunk.length;
      if (bytes % 64 === 0) await new Promise(setImmediate);
      peak = Math.max(peak, process.memoryUsage().rss);
      isTaking = false;
    },
  });
  expect([bytes, overlaps]).toEqual([100_100_000, 0]);
  expect(peak - before).toBeLessThan(64 * 1024 * 1024);
});

describe("shutdown", () => {
  it("stops what runs, what was left behind and who went away, and takes nothing new", async () => {
    const processes = open();
    const tag = newTag();
    const env = { TAG: tag };
    await sh(
      "sleep 100 >/dev/null 2>&1 & trap '' TERM; (while :; do sleep 0.1; done) >/dev/null 2>&1 &",
      { env },
      processes,
    );
    await sh("setsid sleep 100 >/dev/null 2>&1 &", { env }, processes);
    const { heard, onOutput } = onLine("ready");
    const run = processes.run({ command: { shell: "echo ready; sleep 100" }, cwd: directory, env, onOutput });
    await heard;
    expect(alive(tag).length).toBeGreaterThanOrEqual(4);
    await Promise.all([processes.shutdown(), processes.shutdown()]);
    expect(alive(tag)).toEqual([]);
    expect(await run).toEqual({ exitCode: 143, stopped: "aborted" });
    await expect(sh("true", {}, processes)).rejects.toMatchObject({ code: "start_failed" });
  });

  it("ends the watcher, and none was there before the first child", async () => {
    const processes = open();
    const { stdout } = await sh('echo "$GALLEY_RUN"', {}, processes);
    const id = stdout.slice(0, 36);
    await until(() => alive(id).length === 1); // while it starts, the watcher forks to look at its tools
    await processes.shutdown();
    await until(() => alive(id).length === 0);
    await createNodeProcesses({ env: {}, log: silentLog }).shutdown();
  });
});

it("replaces a watcher that was killed", async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (text) => void warnings.push(text) };
  const processes = open({ log });
  const { stdout } = await sh('echo "$GALLEY_RUN"', {}, processes);
  const [watcher] = alive(stdout.slice(0, 36));
  process.kill(Number(watcher), "SIGTERM"); // which it ignores
  process.kill(Number(watcher), "SIGKILL");
  await until(() => warnings.length > 0);
  const [next] = alive(stdout.slice(0, 36));
  expect(next).not.toBe(watcher);
  expect(warnings).toEqual(["The watcher of child processes was killed; starting another."]);
});

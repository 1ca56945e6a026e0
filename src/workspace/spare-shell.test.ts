// Through the process layer, with real shells. Which one a command got shows in its marker: they are counted, and a
// waiting shell has taken the number before the next.

import { mkdirSync, readFileSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { silentLog } from "../base/log.js";
import { manualClock } from "../testing/manual-clock.js";
import { createNodeProcesses, type NodeProcessesOptions } from "./node-processes.js";
import { limitedShell } from "./process-shell.js";
import type { Processes, ProcessRequest } from "./processes.js";
import { alive, until } from "./processes.test-kit.js";
import { SpareShell } from "./spare-shell.js";

const directory = temporaryDirectory();
const opened: Processes[] = [];
let tags = 0;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((processes) => processes.shutdown()));
});

/** Its commands carry a tag of its own, and so does the shell that waits for one. */
function open(options: Partial<NodeProcessesOptions> = {}) {
  const tag = `galleyspare${process.pid}x${tags++}x`;
  const environment = { TAG: tag, ...options.environment };
  const processes = createNodeProcesses({ env: process.env, log: silentLog, ...options, environment });
  opened.push(processes);
  const sh = async (line: string, request: Partial<ProcessRequest> = {}) => {
    const chunks: Uint8Array[] = [];
    const end = await processes.run({
      command: { shell: line },
      cwd: directory,
      mergesOutput: true,
      onOutput: (chunk) => void chunks.push(chunk) as undefined,
      ...request,
    });
    return { ...end, said: Buffer.concat(chunks).toString() };
  };
  /** The number of the shell that runs it. */
  const number = async (request: Partial<ProcessRequest> = {}) => {
    const { said } = await sh('echo "$GALLEY_RUN"', request);
    return Number(/:(\d+);\s*$/.exec(said)?.[1]);
  };
  return { processes, sh, number, waiting: () => waitingShells(tag), tag };
}

function waitingShells(tag: string): number[] {
  return alive(tag).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1") === "/bin/sh\0-s\0");
}

const onLinux = describe.skipIf(process.platform !== "linux");

onLinux("the shell that waits", () => {
  it("is there after the first command, one at a time, and becomes the next", async () => {
    const { sh, waiting } = open();
    expect(waiting()).toEqual([]);
    for (let round = 0; round < 3; round++) {
      const before = waiting();
      expect(before).toHaveLength(round === 0 ? 0 : 1);
      const { said } = await sh("echo $$");
      if (round > 0) expect(said).toBe(`${before[0]}\n`);
    }
    expect(waiting()).toHaveLength(1);
  });

  it("makes a command that sees what it would see in a new process", async () => {
    const line = [
      "env | sort",
      "ulimit -a; ulimit -Ha",
      "ls -l /proc/$$/fd /proc/self/fd",
      "for fd in 0 1 2; do grep flags /proc/$$/fdinfo/$fd; done",
      "tr '\\0' '|' < /proc/$$/cmdline; echo; cat /proc/$$/comm",
      "grep -E 'Sig|Shd|Umask|NoNewPrivs|Cap|Groups' /proc/$$/status",
      "readlink /proc/$$/cwd /proc/$$/exe /proc/$$/root; pwd; umask",
      "ps -o ppid=,nice=,tty=,cls=,args= -p $$",
      "read -r stat < /proc/$$/stat; set -- ${stat##*) }; echo group $(($3 - $$)) session $(($4 - $$)) parent $2",
      'echo "$0 $# $- $SHLVL $PPID $BASH_EXECUTION_STRING"',
      "declare -p | grep -vE '^declare -[^ ]+ (BASHPID|RANDOM|SRANDOM|EPOCH|SECONDS|_=|PIPESTATUS|stat=)'",
      "shopt; set -o; trap -p; jobs; alias",
    ].join("\n");
    const { sh, number } = open({ environment: { SPACED: " a  b\n'c' " } });
    const told = async () => {
      const { exitCode, said } = await sh(line);
      expect(exitCode).toBe(0);
      const same = said
        .replaceAll(/GALLEY_RUN="?[0-9a-f-]+:\d+;/g, "GALLEY_RUN=")
        .replaceAll(/\b(socket|pipe):\[\d+\]/g, "$1")
        .replaceAll(/^(max user processes.*) \d+$/gm, "$1")
        .replaceAll(/\d\d:\d\d/g, "time")
        .replaceAll(/\/proc\/\d+/g, "/proc/N")
        .replaceAll(/^SigQ.*\n/gm, "");
      return same.replaceAll(/^total \d+\n/gm, "");
    };
    const inNew = await told();
    const inWaiting = await told();
    expect(inWaiting).toBe(inNew);
    expect(inNew).toContain("core file size");
    expect(inNew).toContain("0 -> /dev/null");
    expect(await number()).toBe(3); // so the second did get it
  });

  it("gets the line as it is", async () => {
    const { sh, number } = open();
    const characters = Array.from({ length: 0x2ff }, (_, code) => String.fromCodePoint(code + 1)).join("");
    const lines = [
      "# it's 'quoted' \"twice\" \\' \\\\ $HOME `x` $(y) !! %s",
      ": '\r\n}\n{ ; exec\n\n'",
      "# '''",
      `#${characters.replaceAll("\n", "")}\u2028\u{1f600}`,
      `#${"'".repeat(4000)}`,
    ].map((rest) => `cat /proc/$$/cmdline; true; ${rest}`);
    await sh("true");
    for (const line of lines) expect((await sh(line)).said).toBe(`/bin/bash\0-c\0${line}\0bash\0`);
    expect(await number()).toBe(lines.length + 2);
  });

  it("keeps exit codes and signals, and is stopped like any other", async () => {
    const { sh, waiting } = open();
    await sh("true");
    expect(await sh("exit 3")).toMatchObject({ exitCode: 3 });
    expect(await sh("kill -SEGV $$")).toMatchObject({ exitCode: 139 });
    expect(await sh("if")).toMatchObject({ exitCode: 2, said: expect.stringContaining("bash: -c: line") });
    const controller = new AbortController();
    const run = sh("echo; setsid sleep 100 & sleep 100", {
      signal: controller.signal,
      onOutput: () => controller.abort() as undefined,
    });
    expect(await run).toMatchObject({ exitCode: 143, stopped: "aborted" });
    const atOnce = new AbortController();
    const aborted = sh("sleep 100", { signal: atOnce.signal });
    atOnce.abort();
    expect(await aborted).toMatchObject({ stopped: "aborted" });
    expect(await sh("cat; echo read")).toMatchObject({ exitCode: 0, said: "read\n" });
    expect(waiting()).toHaveLength(1);
  });

  it("gives a command the whole of its time", async () => {
    const clock = manualClock();
    const { sh, processes } = open({ clock });
    await sh("true");
    clock.advance(50_000);
    let isOver = false;
    let hear = () => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    const run = sh("echo ready; exec sleep 100", { timeoutMs: 20_000, onOutput: () => hear() as undefined });
    void run.then(() => {
      isOver = true;
    });
    await heard;
    clock.advance(19_999);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    await advanceUntil(clock, run);
    expect(await run).toMatchObject({ stopped: "timed_out" });
    await advanceUntil(clock, processes.shutdown());
  });
});

onLinux("a command gets another process", () => {
  it("where it asks for another directory, environment, input or way of output, or is long", async () => {
    const other = join(directory, "other");
    mkdirSync(other);
    const requests: Partial<ProcessRequest>[] = [
      { cwd: other },
      { env: { EXTRA: "1" } },
      { stdin: "" },
      { mergesOutput: false },
      { command: { shell: `echo "$GALLEY_RUN" ${"#".repeat(5000)}` } },
    ];
    for (const request of requests) {
      const { number, waiting } = open();
      await number();
      expect(await number(request)).toBe(3);
      await until(() => waiting().length === 1); // either the same, or the next one
    }
  });

  it("where another directory has the name by now", async () => {
    const place = join(directory, "place");
    mkdirSync(place);
    const { sh, number, waiting } = open();
    await sh("true", { cwd: place });
    const [old] = waiting();
    renameSync(place, join(directory, "elsewhere"));
    mkdirSync(place);
    expect(await number({ cwd: place })).toBe(3);
    expect(waiting()).not.toContain(old);
    rmdirSync(place);
    await expect(sh("true", { cwd: place })).rejects.toThrow(`Working directory does not exist: ${place}`);
  });

  it("where the waiting shell was killed, whether Node has heard of it or not", async () => {
    const { number, waiting } = open();
    await number();
    for (const pid of waiting()) process.kill(pid, "SIGKILL");
    while (waiting().length > 0); // no turn of the event loop in between
    expect(await number()).toBe(3);
    for (const pid of waiting()) process.kill(pid, "SIGTERM");
    await until(() => waiting().length === 0);
    expect(await number()).toBe(5);
  });

  it("on a system without procfs, always", async () => {
    const { number, waiting } = open({ platform: "darwin" });
    expect([await number(), await number()]).toEqual([1, 2]);
    expect(waiting()).toEqual([]);
  });
});

onLinux("nobody waits", () => {
  it("after a minute without a command, and none before the first", async () => {
    const clock = manualClock();
    const { sh, number, waiting, processes } = open({ clock });
    await sh("true");
    clock.advance(59_999);
    expect(waiting()).toHaveLength(1);
    clock.advance(1);
    await until(() => waiting().length === 0);
    expect(await number()).toBe(3);
    await advanceUntil(clock, processes.shutdown());
  });

  it("after the end", async () => {
    const { sh, processes, tag } = open();
    await sh("true");
    expect(alive(tag)).toHaveLength(1);
    await processes.shutdown();
    expect(alive(tag)).toEqual([]);
    const ending = open();
    await ending.sh("true");
    await Promise.all([ending.sh("sleep 100"), ending.processes.shutdown()]);
    await new Promise(setImmediate);
    expect(alive(ending.tag)).toEqual([]);
  });

  it("where none could be started, and that is no failure", async () => {
    const spare = new SpareShell(manualClock());
    const request: ProcessRequest = { command: { shell: "true" }, cwd: directory, mergesOutput: true };
    const starts = [
      () => {
        throw new Error("refused");
      },
      () => Promise.reject(new Error("refused later")),
    ];
    for (const start of starts) {
      spare.prepareFor(request, start);
      await new Promise(setImmediate);
      expect(spare.take(request, limitedShell("/bin/bash", "true", true))).toBeUndefined();
    }
  });
});

async function advanceUntil(clock: ReturnType<typeof manualClock>, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  await until(() => {
    clock.advance(1); // the steps of stopping wait by the same clock
    return isOver;
  });
}

// The watcher's script, in every shell that is here, with and without grep.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { groupOf } from "./process-table.js";
import { reaperScript } from "./reaper-script.js";

const directory = temporaryDirectory();
const started: ChildProcess[] = [];
let count = 0;

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** By their other name, because then they behave as `sh` does where that is what they are. */
function shells(): [string, string][] {
  const others = ["/bin/bash", "/bin/busybox", "/usr/bin/busybox"].filter(existsSync);
  const links = others.map((file, index): [string, string] => {
    const place = join(directory, `${index}`);
    mkdirSync(place);
    symlinkSync(file, join(place, "sh"));
    return [`${file} as sh`, join(place, "sh")];
  });
  return [["/bin/sh", "/bin/sh"], ...links];
}

async function stray(env: Record<string, string>): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn("/bin/sh", ["-c", "echo ready; exec sleep 100"], {
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  started.push(child);
  await once(child.stdout, "data");
  return { child, pid: child.pid ?? 0 };
}

function reaper(shell: string, marker: string, grep: string): ChildProcess {
  const child = spawn(shell, ["-c", reaperScript, "galley-reaper", marker, grep, "/bin/sleep"], {
    detached: true,
    env: {},
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  started.push(child);
  return child;
}

describe.each(shells())("in %s", (_, shell) => {
  it.each([
    ["with grep", "/bin/grep"],
    ["without", ""],
  ])("C-3: at the end of its input kills groups and strays, %s", async (_, grep) => {
    const marker = `reaper-${process.pid}-${count++}:`;
    const watcher = reaper(shell, marker, grep);
    const group = await stray({});
    const reused = await stray({});
    const marked = await stray({ A: "1\n2", GALLEY_RUN: `outer:1;${marker}7;` });
    const foreign = await stray({ GALLEY_RUN: "reaper-x:" });
    const { startTime } = groupOf(group.pid);
    // The second list replaces the first, and a line without an end never came.
    watcher.stdin?.write(`${foreign.pid}:${groupOf(foreign.pid).startTime}\n`);
    watcher.stdin?.write(`${group.pid}:${startTime} ${reused.pid}:${Number(startTime) - 5}\n`);
    watcher.stdin?.write(`${foreign.pid}:${groupOf(foreign.pid).startTime}`);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) watcher.kill(signal);
    const ends = Promise.all([once(group.child, "exit"), once(marked.child, "exit"), once(watcher, "exit")]);
    watcher.stdin?.end();
    const [groupEnd, markedEnd, watcherEnd] = await ends;
    expect([groupEnd, markedEnd]).toEqual([
      [null, "SIGKILL"],
      [null, "SIGKILL"],
    ]);
    expect(watcherEnd).toEqual([expect.any(Number), null]);
    expect([reused.child.exitCode, reused.child.signalCode]).toEqual([null, null]); // C-4
    expect([foreign.child.exitCode, foreign.child.signalCode]).toEqual([null, null]);
  });
});

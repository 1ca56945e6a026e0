// What the system knows about processes, and the only code that sends signals. A pid alone never gets one: pids are
// reused, so the start time has to match. Without procfs there is no start time and no sweep.

import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { systemCode } from "../base/errors.js";

export interface Group {
  readonly pid: number;
  /** In the system's ticks; empty where it cannot be known. */
  readonly startTime: string;
}

const sweepPauseMs = 10;
const maxSweeps = 50;
/** Processes that are read before the event loop gets a turn. */
const sliceLength = 200;

/** For a child that is not reaped yet, so the pid is certainly its own. */
export function groupOf(pid: number): Group {
  return { pid, startTime: startTimeOf(pid) };
}

/**
 * Whether a process of the group still runs. One call in the usual case, where the group is empty; otherwise its members
 * are looked up, because zombies that are never reaped (a container without an init) count as members for ever.
 */
export function isGroupAlive(group: Group): boolean {
  if (!isGroupThere(group)) return false;
  const names = processNames();
  return names.length === 0 || names.some((name) => isRunningIn(group.pid, statOf(Number(name))));
}

export function signalGroup(group: Group, signal: "SIGTERM" | "SIGKILL"): void {
  if (isGroupThere(group)) send(-group.pid, signal);
}

/** The members of the group but its first process: the helper of a confined command must live until the command ends. */
export function signalMembers(group: Group, signal: "SIGTERM"): void {
  if (!isGroupThere(group)) return;
  for (const pid of processNames().map(Number))
    if (pid !== group.pid && isRunningIn(group.pid, statOf(pid))) send(pid, signal);
}

/** By its start time, too. A process that ended and is not reaped yet counts as gone. */
export function isProcessAlive({ pid, startTime }: Group): boolean {
  const stat = statOf(pid);
  return stat[19] === startTime && stat[0] !== "Z" && stat[0] !== "X";
}

export function killProcess(one: Group): void {
  if (isProcessAlive(one)) send(one.pid, "SIGKILL");
}

/** Waits until no process of the group runs; false when one still does at the end. */
export async function whenGroupGone(group: Group, clock: Clock, timeoutMs: number): Promise<boolean> {
  const deadline = clock.now() + timeoutMs;
  for (let pauseMs = 5; isGroupAlive(group); pauseMs = Math.min(pauseMs * 2, 100)) {
    if (clock.now() >= deadline) return false;
    await pause(pauseMs);
  }
  return true;
}

/** The system's time, not the session's clock: processes do not wait for a clock that may stand still in a test. */
function pause(pauseMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}

/**
 * Kills every process that was started with the marker in its environment, and its group, and looks again until two
 * looks in a row find none: a process may fork between the look and the signal, or fork and end while the list is read.
 * The session of such a process began with a child of ours, so its group holds no other processes. Linux only.
 */
export async function killMarked(marker: string): Promise<void> {
  for (let sweeps = 0, clean = 0; sweeps < maxSweeps; sweeps++) {
    clean = (await sweep(marker)) === 0 ? clean + 1 : 0;
    if (clean === 2) return;
    await pause(sweepPauseMs);
  }
}

/** The threads of all users of the machine, from one small file; undefined where there is no such file. */
export function threadCount(): number | undefined {
  const count = Number(/ \d+\/(\d+) /.exec(readOrEmpty("/proc/loadavg"))?.[1]);
  return Number.isSafeInteger(count) ? count : undefined;
}

async function sweep(marker: string): Promise<number> {
  let killed = 0;
  let seen = 0;
  for (const name of processNames()) {
    if (++seen % sliceLength === 0) await new Promise(setImmediate);
    const pid = Number(name);
    const startTime = startTimeOf(pid);
    if (startTime === "" || !readOrEmpty(`/proc/${pid}/environ`).includes(marker)) continue;
    const stat = statOf(pid);
    if (stat[19] !== startTime) continue;
    const group = Number(stat[2]);
    if (group > 1) send(-group, "SIGKILL"); // 0 is a group outside of our container
    send(pid, "SIGKILL");
    killed++;
  }
  return killed;
}

function processNames(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // not Linux
  }
}

/**
 * The system reuses a number only once no process, group or session has it. So if the first process has another start
 * time, our group is empty.
 */
function isGroupThere({ pid, startTime }: Group): boolean {
  if (!send(-pid, 0)) return false;
  const now = startTimeOf(pid);
  return now === "" || now === startTime;
}

function isRunningIn(group: number, [state, , itsGroup]: readonly string[]): boolean {
  return itsGroup === String(group) && state !== "Z" && state !== "X";
}

function startTimeOf(pid: number): string {
  return statOf(pid)[19] ?? "";
}

/** From the third field on: state, parent, group, … The second is a name that may hold anything, parentheses too. */
function statOf(pid: number): string[] {
  const line = readOrEmpty(`/proc/${pid}/stat`);
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** Undefined if the process has ended, belongs to another user, or if there is no procfs. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8"); // Node reads this encoding twice as fast as any other
  } catch {
    return "";
  }
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return systemCode(error) === "EPERM" && signal === 0; // it exists, but belongs to another user now
  }
}

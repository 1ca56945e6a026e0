// What the system knows about processes, and the only place that sends signals. A number alone never gets one: numbers
// are given out again, so the start time has to match. Without procfs there is no start time and no sweep.

import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../base/clock.js";
import { systemCode } from "../base/errors.js";

/** A process group, by the process that founded it. */
export interface Group {
  readonly pid: number;
  /** In the system's ticks; empty where it cannot be known. */
  readonly startTime: string;
}

const sweepPauseMs = 10;
const maxSweeps = 50;
/** Processes looked at before the event loop gets its turn. */
const sliceLength = 200;

/** Of a child that is not reaped yet, so the number is certainly its own. */
export function groupOf(pid: number): Group {
  return { pid, startTime: startTimeOf(pid) };
}

/**
 * Whether anybody in the group still runs. One call in the usual case, where it is empty; else its members are looked
 * up, because the dead that nobody collects (a container without an init) count as members for ever.
 */
export function isGroupAlive(group: Group): boolean {
  if (!isGroupThere(group)) return false;
  const names = processNames();
  return names.length === 0 || names.some((name) => isRunningIn(group.pid, statOf(Number(name))));
}

export function signalGroup(group: Group, signal: "SIGTERM" | "SIGKILL"): void {
  if (isGroupThere(group)) send(-group.pid, signal);
}

/** Waits until nobody in the group runs; false when somebody still does by then. */
export async function whenGroupGone(group: Group, clock: Clock, timeoutMs: number): Promise<boolean> {
  const deadline = clock.now() + timeoutMs;
  for (let pauseMs = 5; isGroupAlive(group); pauseMs = Math.min(pauseMs * 2, 100)) {
    if (clock.now() >= deadline) return false;
    await pause(pauseMs);
  }
  return true;
}

/** The system's time, not the session's: what ends or forks does not wait for our clock, which may stand still. */
function pause(pauseMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}

/**
 * Kills whatever carries the marker in the environment it was started with, and looks again until nothing does twice in
 * a row: a process may fork between the look and the signal, or fork and end while the list is read. Its whole group goes with it: a carrier's session began with a
 * child of ours, so nobody else can be in there. Linux only.
 */
export async function killMarked(marker: string): Promise<void> {
  for (let sweeps = 0, clean = 0; sweeps < maxSweeps; sweeps++) {
    clean = (await sweep(marker)) === 0 ? clean + 1 : 0;
    if (clean === 2) return;
    await pause(sweepPauseMs);
  }
}

/** Threads of everybody on the machine, from one small file; undefined where there is no such file. */
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
 * The system gives a number out again only once no process, group or session bears it. So a founder with another start
 * time means that our group is empty.
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

/** Gone, somebody else's, or no procfs: for us it is all the same. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8"); // which Node reads in half the time of any other encoding
  } catch {
    return "";
  }
}

/** Whether there was anybody to send it to. */
function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return systemCode(error) === "EPERM" && signal === 0; // there, but no longer our user's
  }
}

// The numbers of a project's pending actions: each is given out once, whatever process asks. A number is claimed by
// creating a file of that name, which only one process can do. Blocking calls, because staging an action is one step.

import { closeSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../base/errors.js";
import { makeDirectories } from "../files/disk/make-directories.js";

/** Claims further below the newest one are removed. */
const kept = 64;

/** Returns a number above `above` that no process got before. Throws where the directory cannot be written. */
export function claimNumber(directory: string, above: number): number {
  makeDirectories(directory, 0o700);
  for (;;) {
    let number = Math.max(above, newest(claimed(directory))) + 1;
    while (!isCreated(join(directory, `${number}`))) number++;
    const all = claimed(directory);
    // An old claim that had been removed was made again, by a process that was slow between reading and creating.
    const isOutdated = newest(all) > number + kept;
    for (const old of all) if (old < newest(all) - kept) remove(join(directory, `${old}`));
    if (!isOutdated) return number;
  }
}

function claimed(directory: string): number[] {
  return readdirSync(directory)
    .filter((name) => /^[1-9]\d{0,14}$/.test(name))
    .map(Number);
}

function newest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

/** False if another process was first. */
function isCreated(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process removed it, or the next claim will.
  }
}

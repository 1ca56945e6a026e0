// Removes a directory with everything in it: links are removed and never followed, other file systems are left alone, and
// directories without permissions (overlayfs leaves one) get them first.

import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { systemCode } from "../../base/errors.js";
import { TimeSlices } from "../../base/time-slices.js";

const slash = Buffer.from("/");

/** What is not there is removed already. Throws the system's error for what cannot be removed. */
export async function removeTree(path: string): Promise<void> {
  const slices = new TimeSlices({ sliceMs: 10 });
  await remove(Buffer.from(path), undefined, slices);
}

async function remove(path: Buffer, device: number | undefined, slices: TimeSlices): Promise<void> {
  const turn = slices.turn();
  if (turn) await turn;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) return ignoreMissing(() => unlinkSync(path));
  if (device !== undefined && stat.dev !== device) throw new Error(`${path.toString()} is another file system`);
  if ((stat.mode & 0o700) !== 0o700) chmodSync(path, (stat.mode & 0o777) | 0o700);
  for (const name of readdirSync(path, { encoding: "buffer" }))
    await remove(Buffer.concat([path, slash, name]), stat.dev, slices);
  ignoreMissing(() => rmdirSync(path));
}

function ignoreMissing(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

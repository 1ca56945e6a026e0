// How much is in a tree, without following links. A running command may change it meanwhile.

import { join } from "node:path";
import { TimeSlices } from "../../base/time-slices.js";
import { type Entry, entryAt, namesIn } from "./layer-entries.js";

/** What is in a layer below a path. */
export async function measureTree(place: string): Promise<{ files: number; bytes: number; diskBytes: number }> {
  const slices = new TimeSlices({ sliceMs: 5 });
  const sum = { files: 0, bytes: 0, diskBytes: 0 };
  const add = async (path: string, entry: Entry | undefined): Promise<void> => {
    const turn = slices.turn();
    if (turn) await turn;
    if (!entry) return;
    sum.diskBytes += entry.diskBytes;
    if (entry.kind === "file") sum.bytes += entry.size;
    if (entry.kind === "file" || entry.kind === "symlink") sum.files++;
    if (entry.kind !== "directory") return;
    for (const name of quietly(() => namesIn(path).names) ?? []) {
      const below = join(path, name);
      await add(
        below,
        quietly(() => entryAt(below)),
      );
    }
  };
  await add(
    place,
    quietly(() => entryAt(place)),
  );
  return sum;
}

/** Whether anything in it was made or changed since then; of what was only deleted, its directory tells. */
export function hasChangedSince(place: string, startNs: bigint): boolean {
  const entry = quietly(() => entryAt(place));
  if (!entry || entry.ctimeNs >= startNs) return true;
  if (entry.kind !== "directory") return false;
  const names = quietly(() => namesIn(place).names);
  return !names || names.some((name) => hasChangedSince(join(place, name), startNs));
}

/** Undefined for what is not there, or not ours to read: a running command changes what is looked at. */
export function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

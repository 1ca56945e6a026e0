// Into the directory of a file that will be written: held by what it is and not by its name, checked to lie where its
// path says, with the missing part of the way made. What was made goes again unless it is kept.

import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { wayChanged } from "../refusals.js";
import type { Disk, PinnedDirectory } from "./disk.js";

export interface EnteredDirectory {
  readonly directory: PinnedDirectory;
  /** From now on the directories that were made stay. */
  keep(): void;
  /** Makes the names in it last, and the way to it where that was made. */
  fsync(): Promise<void>;
  /** Lets go. Removes what was made and not kept. */
  leave(): Promise<void>;
}

/** `path` is canonical as far as it exists. Failures that are not the system's speak of `shownPath`. */
export async function enterDirectory(disk: Disk, path: string, shownPath: string): Promise<EnteredDirectory> {
  const { pinned, missing } = await pinDeepest();
  const way = [pinned];
  const made: string[] = [];
  const leave = async () => {
    // Somebody may have put something in: then it is not empty, and stays.
    for (const place of made.splice(0).reverse()) await disk.rmdir(place).catch(() => undefined);
    for (const directory of way.splice(0)) await directory.close();
  };
  try {
    let at = missing.reduce((place) => dirname(place), path);
    let directory = pinned;
    await expectLocation(directory, at);
    for (const name of missing) {
      const next = join(directory.path, name);
      if (await make(disk, next)) made.push(next);
      directory = await disk.pin(next).catch(linkOnTheWay);
      way.push(directory);
      at = join(at, name);
      await expectLocation(directory, at);
    }
    return {
      directory,
      keep: () => void made.splice(0),
      async fsync() {
        for (const place of [...way].reverse()) await place.fsync();
      },
      leave,
    };
  } catch (error) {
    await leave();
    throw error;
  }

  /** Holds the deepest directory of the path that is there. */
  async function pinDeepest(): Promise<{ pinned: PinnedDirectory; missing: string[] }> {
    const missing: string[] = [];
    for (let at = path; ; at = dirname(at)) {
      try {
        return { pinned: await disk.pin(at), missing };
      } catch (error) {
        if (systemCode(error) !== "ENOENT") return linkOnTheWay(error);
        missing.unshift(basename(at));
      }
    }
  }

  /** A link anywhere on the way leads elsewhere, and shows here. */
  async function expectLocation(directory: PinnedDirectory, expected: string): Promise<void> {
    if ((await directory.location()) !== expected) throw wayChanged(shownPath);
  }

  function linkOnTheWay(error: unknown): never {
    throw ["ENOTDIR", "ELOOP"].includes(systemCode(error) ?? "") ? wayChanged(shownPath) : error;
  }
}

async function make(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.mkdir(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false; // made by another writer; the next step checks what it is
    throw error;
  }
}

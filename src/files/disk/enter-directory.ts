// Opens the directory of a file that will be written, checks that it is where its path says, and makes the missing part
// of the path. The directories that were made are removed again unless the caller keeps them.

import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { parentChanged } from "../refusals.js";
import type { Disk, PinnedDirectory } from "./disk.js";

export interface EnteredDirectory {
  readonly directory: PinnedDirectory;
  /** From now on the directories that were made stay. */
  keep(): void;
  /** Makes the names in it durable, and those of the directories that were made. */
  fsync(): Promise<void>;
  /** Closes it. Removes what was made and not kept. */
  leave(): Promise<void>;
}

/** `path` is canonical as far as it exists. Our own errors name `shownPath`. */
export async function enterDirectory(disk: Disk, path: string, shownPath: string): Promise<EnteredDirectory> {
  const { pinned, missing } = await pinDeepest();
  const way = [pinned];
  const made: string[] = [];
  const leave = async () => {
    // If another program has put something in it, it is not empty and stays.
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

  /** Opens the deepest directory of the path that exists. */
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

  /** A link anywhere in the path resolves to a different path, which shows here. */
  async function expectLocation(directory: PinnedDirectory, expected: string): Promise<void> {
    if ((await directory.location()) !== expected) throw parentChanged(shownPath);
  }

  function linkOnTheWay(error: unknown): never {
    throw ["ENOTDIR", "ELOOP"].includes(systemCode(error) ?? "") ? parentChanged(shownPath) : error;
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

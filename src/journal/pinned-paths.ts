// Paths below directories that are opened once and then kept open: replacing such a directory by a link has no effect.
// A change set reaches all its files through here, so that no directory has to be opened after the commit.

import { basename, dirname, join } from "node:path";
import { GalleyError, systemCode } from "../base/errors.js";
import { inLanes } from "../base/in-lanes.js";
import type { PinnedDirectory } from "../files/disk/disk.js";
import { failingFor, ignoring } from "./apply-failures.js";
import type { ChangeDisk } from "./change-set.js";

const syncsAtOnce = 32;
const codesOfLinks = ["ENOTDIR", "ELOOP"];

export class PinnedPaths {
  readonly #disk: ChangeDisk;
  readonly #pins = new Map<string, Promise<PinnedDirectory>>();
  #turnedLinks: ReadonlySet<string> = new Set();

  constructor(disk: ChangeDisk) {
    this.#disk = disk;
  }

  /** A link is expected at these paths at times, because the change set turns it into a directory or the reverse. */
  expectLinks(paths: Iterable<string>): void {
    this.#turnedLinks = new Set(paths);
  }

  /** The directory was removed: one that takes its place later has to be opened anew. */
  async forget(directory: string): Promise<void> {
    const pin = this.#pins.get(directory);
    this.#pins.delete(directory);
    await pin?.then((opened) => opened.close()).catch(() => {}); // nothing depends on it any more
  }

  /** The path to work with. The parent directory must exist. */
  async of(path: string): Promise<string> {
    const directory = await this.#pin(dirname(path));
    return join(directory.path, basename(path));
  }

  /** The same; undefined where the directory was removed or never made. */
  ofExisting(path: string): Promise<string | undefined> {
    return this.of(path).catch(ignoring("ENOENT", "ENOTDIR"));
  }

  /** Makes the names in these directories durable; syncs each directory once. */
  sync(directories: Iterable<string>): Promise<void> {
    return inLanes(new Set(directories), syncsAtOnce, (path) =>
      failingFor(path, async () => (await this.#pin(path)).fsync()),
    );
  }

  /** The same for directories that may have been removed or never made. */
  syncExisting(directories: Iterable<string>): Promise<void> {
    return inLanes(new Set(directories), syncsAtOnce, (path) => this.sync([path]).catch(ignoring("ENOENT", "ENOTDIR")));
  }

  async close(): Promise<void> {
    const pins = [...this.#pins.values()];
    this.#pins.clear();
    // A directory that could not be opened needs no close, and a failed close changes nothing.
    await Promise.allSettled(pins.map(async (pin) => (await pin).close()));
  }

  #pin(directory: string): Promise<PinnedDirectory> {
    let pin = this.#pins.get(directory);
    if (!pin) {
      pin = failingFor(directory, () => this.#open(directory));
      this.#pins.set(directory, pin);
      // A directory that does not exist now may be made later.
      pin.catch(() => this.#pins.delete(directory));
    }
    return pin;
  }

  async #open(directory: string): Promise<PinnedDirectory> {
    const pin = await this.#disk.pin(directory).catch(async (error: unknown) => {
      if (codesOfLinks.includes(systemCode(error) ?? "") && this.#isBelowTurned(directory))
        throw noDirectory(directory);
      const isLink =
        codesOfLinks.includes(systemCode(error) ?? "") && (await this.#disk.lstat(directory)).kind === "link";
      throw isLink ? new GalleyError("file_refused", `${directory} is now a link`) : error;
    });
    try {
      const location = await pin.location();
      if (location === directory) return pin;
      if (this.#isBelowTurned(directory)) throw noDirectory(directory);
      throw new GalleyError("file_refused", `${directory} now resolves to a different path: ${location}`);
    } catch (error) {
      await pin.close();
      throw error;
    }
  }

  #isBelowTurned(directory: string): boolean {
    if (this.#turnedLinks.size === 0) return false;
    for (let path = directory; ; path = dirname(path)) {
      if (this.#turnedLinks.has(path)) return true;
      if (path === dirname(path)) return false;
    }
  }
}

/** As the system says it of a path through something that is no directory. */
function noDirectory(path: string): Error {
  return Object.assign(new Error(`ENOTDIR: ${path}`), { code: "ENOTDIR" });
}

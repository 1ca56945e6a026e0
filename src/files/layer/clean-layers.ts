// Layers that are left over: what a crash left is removed by the next start that uses the root, and by the user's
// clean-up. A layer whose lock is held belongs to a process that runs.

import { readlinkSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import { sha256Of } from "../../base/digest.js";
import { systemCode } from "../../base/errors.js";
import { acquireLock } from "../../base/path-lock.js";
import { entryAt, namesIn } from "./layer-entries.js";
import { isShared, type LayerPlaces, layerBases } from "./layer-place.js";
import { measureTree, quietly } from "./measure-tree.js";
import { removeTree } from "./remove-tree.js";

export interface FoundLayer {
  readonly path: string;
  /** Undefined for one that was never finished. */
  readonly root: string | undefined;
  readonly sessionId: string;
}

export interface ListedLayer extends FoundLayer {
  /** What it takes on the disk. */
  readonly bytes: number;
  readonly isInUse: boolean;
}

export interface CleanOptions extends LayerPlaces {
  /** Only layers of these roots. Default: all. */
  readonly roots?: readonly string[] | undefined;
  /** A session with something pending keeps its layer. */
  hasPending(sessionId: string, root: string | undefined): boolean | Promise<boolean>;
  readonly clock?: Clock | undefined;
}

/** Answers what was removed. Never throws: what cannot be removed stays, and is listed. */
export async function cleanLayers(options: CleanOptions): Promise<FoundLayer[]> {
  const { roots, hasPending, clock = systemClock } = options;
  const keys = roots && new Set(roots.map((root) => sha256Of(root).slice(0, 32)));
  const removed: FoundLayer[] = [];
  for (const layer of findLayers(options)) {
    if (keys && !keys.has(basename(dirname(layer.path)))) continue;
    const { lock } = await acquireLock(layer.path, clock);
    if (!lock) continue;
    try {
      if (await hasPending(layer.sessionId, layer.root)) continue;
      await removeLayer(layer.path);
      removed.push(layer);
    } catch {
      // listed as it is
    } finally {
      await lock.release();
    }
  }
  for (const base of layerBases(options).filter(isOwnDirectory))
    for (const directory of rootsIn(base)) removeEmpty(directory);
  return removed;
}

/** With sizes, for people. */
export async function listLayers(
  options: LayerPlaces & { readonly clock?: Clock | undefined },
): Promise<ListedLayer[]> {
  const listed: ListedLayer[] = [];
  for (const layer of findLayers(options)) {
    const { lock } = await acquireLock(layer.path, options.clock ?? systemClock);
    await lock?.release();
    const { diskBytes } = await measureTree(layer.path);
    listed.push({ ...layer, bytes: diskBytes, isInUse: lock === undefined });
  }
  return listed;
}

/** With the directory of its root, once that is empty. */
export async function removeLayer(path: string): Promise<void> {
  await removeTree(path);
  removeEmpty(dirname(path));
  const base = dirname(dirname(path));
  if (isShared(base)) for (const directory of [base, dirname(base)]) removeEmpty(directory);
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(systemCode(error) ?? "")) throw error;
  }
}

function findLayers(places: LayerPlaces): FoundLayer[] {
  return layerBases(places)
    .filter(isOwnDirectory)
    .flatMap(rootsIn)
    .flatMap(below)
    .map((path) => ({ path, root: quietly(() => readlinkSync(join(path, "lower"))), sessionId: basename(path) }));
}

function rootsIn(base: string): string[] {
  return below(base).filter((path) => /^[0-9a-f]{32}$/.test(basename(path)));
}

/** In a directory that everyone may write, another user may have made the name. */
function isOwnDirectory(path: string): boolean {
  const entry = quietly(() => entryAt(path));
  return entry?.kind === "directory" && (!process.getuid || entry.uid === process.getuid());
}

function below(directory: string): string[] {
  const names = quietly(() => namesIn(directory).names) ?? [];
  return names.map((name) => join(directory, name)).filter((path) => entryAt(path)?.kind === "directory");
}

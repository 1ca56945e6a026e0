// Brings a layer to what is staged, before it is mounted: an empty layer, the kept files of the former one, and every
// staged file, link and directory. What is deleted is deleted afterwards, through the mounted view.

import { chmodSync, lchownSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { systemCode } from "../../base/errors.js";
import { isWithin } from "../paths/resolve-path.js";
import { type Entry, entryAt } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";
import { removeTree } from "./remove-tree.js";
import type { StagedState } from "./stage-view.js";

export interface Filling {
  readonly layer: Layer;
  /** Of this root, in any order. */
  readonly staged: readonly StagedState[];
  /** Below the root; a directory's name ends with a slash and stands for all that is in it. */
  readonly kept: readonly string[];
  readonly directoryMode: number;
  /** An empty file in the root by which the view is recognized. */
  readonly marker: string;
}

/** Puts the former `up` aside, and what a rebuild that was killed had not moved yet back into it. */
export async function setAside({ up, old, work }: Layer, kept: readonly string[]): Promise<void> {
  if (entryAt(old)) {
    for (const name of kept.map(withoutSlash))
      if (isInside(old, name) && isInside(up, dirname(name)) && !entryAt(join(up, name)))
        moveKept(join(old, name), join(up, name));
    await removeTree(old);
  }
  if (entryAt(up)) renameSync(up, old);
  await removeTree(work);
  mkdirSync(work, 0o700);
}

/** `up` holds nothing, or with `copy` the tree as it is on the disk. Answers which kept paths are still there. */
export function fillLayer({ layer, staged, kept, directoryMode, marker }: Filling): string[] {
  const states = new Map(staged.map(({ path, state }) => [path, state]));
  const made = new Map<string, () => void>();
  const known = new Map<string, boolean>();
  /** Whether the directory is there now; a missing one is made. Those above come first: one could be a link by now. */
  const hasDirectory = (path: string): boolean => {
    const isThere = known.get(path) ?? ((path === layer.root || hasDirectory(dirname(path))) && isOrBecomes(path));
    known.set(path, isThere);
    return isThere;
  };
  const isOrBecomes = (path: string): boolean => {
    const target = inLayer(layer, path);
    const found = entryAt(target);
    if (found) return found.kind === "directory";
    const state = states.get(path);
    if (state && state.type !== "directory") return false;
    const disk = entryAt(path);
    const like = disk?.kind === "directory" ? disk : undefined;
    mkdirSync(target, 0o700);
    made.set(target, () => finish(target, state?.mode ?? like?.mode ?? directoryMode, like));
    return true;
  };

  hasDirectory(layer.root);
  writeFileSync(join(layer.up, marker), "", { flag: "wx", mode: 0o600 });
  const stillKept = kept.filter((name) => {
    const path = join(layer.root, withoutSlash(name));
    const source = join(layer.old, withoutSlash(name));
    if (states.has(path) || !isInside(layer.old, withoutSlash(name)) || !hasDirectory(dirname(path))) return false;
    rmSync(inLayer(layer, path), { recursive: true, force: true });
    moveKept(source, inLayer(layer, path));
    return true;
  });
  for (const { path, state } of [...staged].sort((one, other) => (one.path < other.path ? -1 : 1))) {
    if (!state || !hasDirectory(dirname(path))) continue;
    const target = inLayer(layer, path);
    if (state.type === "directory") {
      if (entryAt(target)?.kind !== "directory") rmSync(target, { recursive: true, force: true });
      known.delete(path);
      hasDirectory(path);
      made.set(target, () => finish(target, state.mode));
      continue;
    }
    rmSync(target, { recursive: true, force: true });
    if (state.type === "symlink") symlinkSync(Buffer.from(state.target), target);
    else {
      writeFileSync(target, state.bytes, { flag: "wx", mode: 0o600 });
      finish(target, state.mode, { mtimeMs: state.mtimeMs });
    }
  }
  // The deepest first: a directory may not be writable in the end.
  for (const target of [...made.keys()].sort().reverse()) made.get(target)?.();
  return stillKept;
}

/** What is staged as deleted and still to be seen: the topmost paths of it. */
export function stagedDeletions(staged: readonly StagedState[]): string[] {
  const states = new Map(staged.map(({ path, state }) => [path, state]));
  const isCovered = (path: string): boolean => {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at))
      if (states.has(at)) return states.get(at)?.type !== "directory";
    return false;
  };
  return staged
    .filter(({ path, state }) => !state && !isCovered(path))
    .map(({ path }) => path)
    .sort();
}

/**
 * Deletes in the tree at `place`, which is the root's view. A link on the way would lead out of it: then there is nothing
 * to delete.
 */
export async function deleteIn(place: string, root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (path === root || !isWithin(path, root)) continue;
    const name = relative(root, path);
    if (isInside(place, name)) await removeTree(join(place, name));
  }
}

/** Something is there, and no link leads to it: a command may have put one where a directory was. */
export function isInside(base: string, name: string): boolean {
  if (name === ".") return entryAt(base)?.kind === "directory";
  const names = name.split("/");
  const parents = names.slice(0, -1).map((_, index) => join(base, ...names.slice(0, index + 1)));
  return parents.every((parent) => entryAt(parent)?.kind === "directory") && entryAt(join(base, name)) !== undefined;
}

export function inLayer({ root, up }: Layer, path: string): string {
  return path === root ? up : join(up, relative(root, path));
}

export function withoutSlash(name: string): string {
  return name.endsWith("/") ? name.slice(0, -1) : name;
}

function finish(target: string, mode: number, like?: Entry | Pick<Entry, "mtimeMs">): void {
  if (like && "gid" in like) keepOwner(target, like);
  chmodSync(target, mode);
  if (like?.mtimeMs !== undefined) utimesSync(target, like.mtimeMs / 1000, like.mtimeMs / 1000);
}

/** As on the disk, as far as the user may. */
function keepOwner(target: string, { uid, gid }: Pick<Entry, "uid" | "gid">): void {
  const own = process.getuid?.() ?? uid;
  try {
    lchownSync(target, own === 0 ? uid : own, gid);
  } catch {
    // not a group of the user: as it is
  }
}

/** A directory can only be moved by those who may write to it. */
function moveKept(source: string, target: string): void {
  const found = entryAt(source);
  const isLocked = found?.kind === "directory" && (found.mode & 0o300) !== 0o300;
  if (isLocked) chmodSync(source, found.mode | 0o700);
  try {
    renameSync(source, target);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return; // its directory is gone: it is not kept any more
  }
  if (isLocked) chmodSync(target, found.mode);
}

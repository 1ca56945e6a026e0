// What a layer holds of a command, directory by directory: the one question in which an overlay and a copy differ.

import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CopyMarks } from "./copy-tree.js";
import { inLayer } from "./fill-layer.js";
import { type Entry, entryAt, namesIn } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";

export interface ChangedEntries {
  /** The entries of a directory in the layer; `undefined` where something was deleted. */
  readonly entries: ReadonlyMap<string, Entry | undefined>;
  /** Names that are no UTF-8, as they can be shown. */
  readonly unreadable: readonly string[];
}

export interface LayerReader {
  /** Where a path can be read while the view is held. */
  placeOf(path: string): string;
  changedIn(path: string): ChangedEntries;
  /** Of the names that were in a directory before, and of which the layer says nothing: those that the view lacks. */
  missingIn(path: string, names: readonly string[]): readonly string[];
  /** Gives directories their permissions back that had to be opened to be read. */
  restore(): void;
}

interface OpenedDirectory {
  readonly path: string;
  readonly mode: number;
}

/** `merged`: the root in the namespace of the holder. `startNs`: when the command began. */
export function overlayReader(layer: Layer, merged: string, startNs: bigint): LayerReader {
  const opened: OpenedDirectory[] = [];
  const mergedAt = (path: string) => (path === layer.root ? merged : join(merged, path.slice(layer.root.length)));
  return {
    placeOf: (path) => inLayer(layer, path),
    changedIn(path) {
      const directory = inLayer(layer, path);
      openDirectory(mergedAt(path), entryAt(directory), opened);
      const { names, unreadable } = namesIn(directory);
      const entries = new Map<string, Entry | undefined>();
      for (const name of names) {
        const found = entryAt(join(directory, name));
        if (found) entries.set(name, found.isWhiteout ? undefined : found);
      }
      return { entries, unreadable };
    },
    missingIn(path, names) {
      const onDisk = names.filter((name) => entryAt(join(path, name)));
      const staged = names.filter((name) => !onDisk.includes(name));
      if (onDisk.length === 0) return staged;
      const shown = new Set(namesIn(mergedAt(path)).names);
      // Below a directory that was made anew nothing of the disk is shown; below any other one, all of it. What is
      // missing there was put on the disk after the kernel had read the names.
      const isNew = (name: string) => (entryAt(join(path, name))?.ctimeNs ?? startNs) >= startNs;
      if (onDisk.some((name) => shown.has(name)) || onDisk.every(isNew)) return staged;
      return [...staged, ...onDisk];
    },
    restore: () => restoreModes(opened),
  };
}

export function copyReader(layer: Layer, marks: CopyMarks): LayerReader {
  const opened: OpenedDirectory[] = [];
  const changed = changedDirectories(layer.up, marks, opened);
  const below = namesBelow(marks);
  return {
    placeOf: (path) => inLayer(layer, path),
    changedIn(path) {
      const directory = inLayer(layer, path);
      openDirectory(directory, entryAt(directory), opened);
      const { names, unreadable } = namesIn(directory);
      const entries = new Map<string, Entry | undefined>();
      for (const name of names) {
        const at = join(directory, name);
        const found = entryAt(at);
        const isDirectory = found?.kind === "directory";
        const mark = isDirectory ? String(found.mode) : found?.mark;
        if (found && (marks.get(at)?.mark !== mark || changed.has(at))) entries.set(name, found);
      }
      const there = new Set(names);
      for (const name of below.get(directory) ?? []) if (!there.has(name)) entries.set(name, undefined);
      return { entries, unreadable };
    },
    // A copy says itself what was deleted.
    missingIn: () => [],
    restore: () => restoreModes(opened),
  };
}

/** The directories of a copy in which, at any depth, something is not as it was. */
function changedDirectories(up: string, marks: CopyMarks, opened: OpenedDirectory[]): Set<string> {
  const changed = new Set<string>();
  const tell = (path: string) => {
    for (let at = path; at !== dirname(up) && !changed.has(at); at = dirname(at)) changed.add(at);
  };
  const seen = new Set<string>();
  const look = (directory: string) => {
    openDirectory(directory, entryAt(directory), opened);
    const { names, unreadable } = namesIn(directory);
    if (unreadable.length > 0) tell(directory);
    for (const name of names) {
      const path = join(directory, name);
      seen.add(path);
      const found = entryAt(path);
      const known = marks.get(path);
      const isDirectory = found?.kind === "directory";
      if (!known || known.mark !== (isDirectory ? String(found.mode) : found?.mark)) tell(directory);
      if (isDirectory) look(path);
    }
  };
  look(up);
  for (const path of marks.keys()) if (!seen.has(path)) tell(dirname(path));
  return changed;
}

function namesBelow(marks: CopyMarks): Map<string, string[]> {
  const below = new Map<string, string[]>();
  for (const path of marks.keys()) {
    const directory = dirname(path);
    const names = below.get(directory);
    const name = path.slice(directory.length + 1);
    if (names) names.push(name);
    else below.set(directory, [name]);
  }
  return below;
}

/** A command may leave a directory that not even its owner may read. It is our own layer. */
function openDirectory(path: string, entry: Entry | undefined, opened: OpenedDirectory[]): void {
  if (!entry || (entry.mode & 0o700) === 0o700 || process.getuid?.() === 0) return;
  chmodSync(path, entry.mode | 0o700);
  opened.push({ path, mode: entry.mode });
}

/** The deepest first: those above must still be open. */
function restoreModes(opened: OpenedDirectory[]): void {
  for (const { path, mode } of opened.splice(0).reverse()) chmodSync(path, mode);
}

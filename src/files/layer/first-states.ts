// What a command found at the paths that it changes, for the case that another program changes the disk there while the
// command runs: the view shows the disk, so afterwards it could not be told. The layer is watched, and the disk is read when
// the layer first gets an entry. What was changed on the disk even before that is not known, and never guessed.

import { type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { type Entry, entryAt, namesIn, stateAt } from "./layer-entries.js";
import type { Layer } from "./layer-place.js";
import type { StageLimits } from "./stage-limits.js";
import type { FileState } from "./stage-view.js";

/** `state` undefined: there was nothing. */
export interface FirstState {
  readonly state: FileState | undefined;
}

export interface FirstStates {
  /** Undefined where it is not known. */
  of(path: string): FirstState | undefined;
  stop(): void;
}

export interface FirstStatesOptions {
  /** When the command began, by the clock of the file systems. */
  readonly startNs: bigint;
  readonly limits: Pick<StageLimits, "maxBytes" | "maxFileBytes">;
}

export function watchFirstStates({ root, up }: Layer, { startNs, limits }: FirstStatesOptions): FirstStates {
  const known = new Map<string, FirstState>();
  const watchers = new Map<string, FSWatcher>();
  let bytes = 0;

  const note = (path: string, inView: Entry | undefined): void => {
    if (known.has(path)) return;
    const entry = entryAt(path);
    if (!entry) return void known.set(path, { state: undefined });
    if (entry.kind === "directory" && inView?.kind !== "directory")
      for (const name of namesIn(path).names) note(join(path, name), undefined);
    const state = stateAt(path, entry, Math.min(limits.maxFileBytes, limits.maxBytes - bytes));
    const isAsAtStart = entry.ctimeNs < startNs && entryAt(path)?.mark === entry.mark;
    if (!state || !isAsAtStart) return;
    if (state.type === "file") bytes += state.bytes.length;
    known.set(path, { state });
  };

  const look = (directory: string, name: string): void => {
    try {
      const path = join(root, directory, name);
      const found = entryAt(join(up, directory, name));
      note(path, found);
      // In a directory that only the view has, nothing of the disk can be changed.
      if (found?.kind === "directory" && entryAt(path)?.kind === "directory") enter(join(directory, name), look);
    } catch {
      // gone again, or not to be read: it stays unknown
    }
  };

  const enter = (directory: string, forEach: (directory: string, name: string) => void): void => {
    if (watchers.has(directory)) return;
    const options = { persistent: false };
    const watcher = watch(join(up, directory), options, (_, name) => {
      if (name !== null) look(directory, name);
    });
    watcher.on("error", () => {}); // the directory is gone, and with it what could be told
    watchers.set(directory, watcher);
    for (const name of namesIn(join(up, directory)).names) forEach(directory, name);
  };

  /** What the layer holds before the command is staged, kept or a copy: only its directories count. */
  const enterOnly = (directory: string, name: string): void => {
    if (entryAt(join(up, directory, name))?.kind === "directory") enter(join(directory, name), enterOnly);
  };
  try {
    enter("", enterOnly);
  } catch {
    // the system allows no more watchers: what changes meanwhile stays unknown
  }

  return {
    of(path) {
      const found = known.get(path);
      const parent = dirname(path);
      if (found || path === root || path === parent) return found; // a path may belong to another root
      const above = this.of(parent);
      return above && above.state?.type !== "directory" ? { state: undefined } : undefined;
    },
    stop() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

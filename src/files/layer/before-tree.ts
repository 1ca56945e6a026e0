// What a command found at its start: what is staged, else the disk. Its effects are measured against this, so that one
// command builds on the last.

import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { type Entry, entryAt, namesIn } from "./layer-entries.js";
import type { FileState, StagedState } from "./stage-view.js";

export type Before =
  /** `isStaged`: whatever the disk has there. */
  | { readonly from: "nothing"; readonly isStaged?: true }
  | { readonly from: "staged"; readonly state: FileState }
  | { readonly from: "disk"; readonly entry: Entry };

const nothing: Before = { from: "nothing" };
const stagedNothing: Before = { from: "nothing", isStaged: true };

export interface BeforeTree {
  /** `path` is absolute. */
  look(path: string): Before;
  /** Of a directory; empty for anything else. */
  names(path: string): readonly string[];
}

/** `directoryMode`: of a directory that is only there because something staged is in it. */
export function createBeforeTree(staged: readonly StagedState[], directoryMode: number): BeforeTree {
  const states = new Map(staged.map(({ path, state }) => [path, state]));
  const children = childrenOf(staged);

  const look = (path: string): Before => {
    if (states.has(path)) {
      const state = states.get(path);
      return state ? { from: "staged", state } : stagedNothing;
    }
    const isImplied = children.has(path);
    if (!isImplied && isCut(path)) return stagedNothing;
    const entry = isCut(path) ? undefined : entryAt(path);
    if (isImplied && entry?.kind !== "directory")
      return { from: "staged", state: { type: "directory", mode: directoryMode } };
    return entry ? { from: "disk", entry } : nothing;
  };

  /** Above it is something that is staged and no directory, or nothing at all. */
  const isCut = (path: string): boolean => {
    if (states.size === 0) return false;
    for (let at = dirname(path); ; at = dirname(at)) {
      if (states.has(at)) return states.get(at)?.type !== "directory";
      if (at === dirname(at)) return false;
    }
  };

  return {
    look,
    names(path) {
      const found = look(path);
      if (!isDirectory(found)) return [];
      const onDisk = !isCut(path) && entryAt(path)?.kind === "directory" ? readableNames(path) : [];
      const names = new Set(onDisk.filter((name) => look(join(path, name)).from !== "nothing"));
      for (const name of children.get(path) ?? []) names.add(name);
      return [...names].sort();
    },
  };
}

/** A directory that galley cannot read cannot be emptied by a command with the same rights. */
function readableNames(path: string): readonly string[] {
  try {
    return namesIn(path).names;
  } catch (error) {
    if (systemCode(error) === "EACCES") return [];
    throw error;
  }
}

export function isDirectory(before: Before): boolean {
  if (before.from === "disk") return before.entry.kind === "directory";
  return before.from === "staged" && before.state.type === "directory";
}

/** The names that staged files bring into each directory, and the directories that they bring. */
function childrenOf(staged: readonly StagedState[]): Map<string, Set<string>> {
  const children = new Map<string, Set<string>>();
  for (const { path, state } of staged) {
    if (!state) continue;
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      const parent = dirname(at);
      const known = children.get(parent);
      if (known?.has(basename(at))) break;
      if (known) known.add(basename(at));
      else children.set(parent, new Set([basename(at)]));
    }
  }
  return children;
}

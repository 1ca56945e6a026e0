// One touched path: whether it differs from what it was, and as which effect it can be staged.

import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/errors.js";
import type { Before } from "./before-tree.js";
import type { ChangedNode } from "./find-changes.js";
import type { FirstState } from "./first-states.js";
import { type Entry, entryAt, haveSameBytes, stateAt } from "./layer-entries.js";
import { sizeText } from "./stage-limits.js";
import type { Effect, FileState } from "./stage-view.js";

export interface CompareOptions {
  /** Where the view's bytes of a path can be read. */
  placeOf(path: string): string;
  readonly maxFileBytes: number;
  /** When the command began, by the clock of the file systems. */
  readonly startNs: bigint;
  /** What the command found, of paths that another program changed meanwhile. */
  firstState(path: string): FirstState | undefined;
  /** Files of the layer have the owner that they have in the view. */
  readonly knowsOwners: boolean;
}

export type Compared =
  | { readonly result: "same" }
  /** `lost`: what of it is not staged. */
  | { readonly result: "effect"; readonly effect: Effect; readonly lost: readonly string[] }
  /** The old state stays. */
  | { readonly result: "left out"; readonly why: string };

const same: Compared = { result: "same" };

export function compareNode(node: ChangedNode, options: CompareOptions): Compared {
  const { view, before, path } = node;
  if (view?.kind === "special") return leftOut(view.what);
  if (/\p{Cc}/u.test(node.name)) return leftOut("name with control characters");
  const oldBytes = sizeBefore(before);
  const newBytes = view?.kind === "file" ? view.size : 0;
  const largest = Math.max(oldBytes, newBytes);
  if (largest > options.maxFileBytes)
    return isOnlyTouched(node, options) ? same : leftOut(`larger than ${sizeText(options.maxFileBytes)}`);
  const old = stateBefore(path, before, options);
  if (typeof old === "string") return leftOut(old);
  const found = view ? stateInView(options.placeOf(path), view, options) : undefined;
  if (typeof found === "string") return leftOut(found);
  const lost: string[] = [];
  const { known, changedMeanwhile } = foundByCommand(node, old, options);
  const fresh = found && withoutNewRights(found, known, node, lost);
  if (options.knowsOwners && view && before.from === "disk" && hasOtherOwner(view, before.entry)) lost.push("owner");
  const isUnchanged = isSame(old, fresh) || (changedMeanwhile !== "unknown" && isSame(known, fresh));
  if (isUnchanged) return lost.length > 0 ? leftOut(lost.join(", ")) : same;
  const effect: Effect = {
    path,
    ...(known ? { before: known } : {}),
    ...(fresh ? { after: fresh } : {}),
    ...(fresh?.type === "file" && view && view.linkCount > 1 ? { hardlinkBroken: true as const } : {}),
    ...(changedMeanwhile ? { changedMeanwhile } : {}),
  };
  return { result: "effect", effect, lost };
}

function leftOut(why: string): Compared {
  return { result: "left out", why };
}

interface FoundByCommand {
  readonly known: FileState | undefined;
  readonly changedMeanwhile: Effect["changedMeanwhile"];
}

/** `now`: what the disk holds. It is what the command found only if it has been there since. */
function foundByCommand(
  { path, before }: ChangedNode,
  now: FileState | undefined,
  { startNs, firstState }: CompareOptions,
): FoundByCommand {
  const isStaged = before.from === "staged" || (before.from === "nothing" && before.isStaged);
  const first = isStaged ? undefined : firstState(path);
  // Times do not tell of files that came with a directory moved here; what the command found does.
  const isOther = first !== undefined && !isSame(first.state, now);
  if (!isOther && !isTouchedMeanwhile(path, startNs)) return { known: now, changedMeanwhile: undefined };
  if (isStaged) return { known: now, changedMeanwhile: "known" };
  if (first) return { known: first.state, changedMeanwhile: "known" };
  // Of a directory only the permissions are compared, and the time tells of every name in it.
  return now?.type === "directory"
    ? { known: now, changedMeanwhile: "known" }
    : { known: undefined, changedMeanwhile: "unknown" };
}

/** For files that are too long to be staged, and so to be read whole. */
function isOnlyTouched({ view, before, path }: ChangedNode, { placeOf }: CompareOptions): boolean {
  if (before.from !== "disk" || before.entry.kind !== "file" || view?.kind !== "file") return false;
  if (view.size !== before.entry.size || view.mode !== before.entry.mode) return false;
  try {
    return haveSameBytes(path, placeOf(path));
  } catch {
    return false; // one of them cannot be read, and may be anything
  }
}

function sizeBefore(before: Before): number {
  if (before.from === "disk") return before.entry.kind === "file" ? before.entry.size : 0;
  return before.from === "staged" && before.state.type === "file" ? before.state.bytes.length : 0;
}

/** A text says why it cannot be told. */
function stateBefore(path: string, before: Before, { maxFileBytes }: CompareOptions): FileState | undefined | string {
  if (before.from === "nothing") return undefined;
  if (before.from === "staged") return before.state;
  if (before.entry.kind === "special") return before.entry.what;
  try {
    return stateAt(path, before.entry, maxFileBytes) ?? "changed meanwhile";
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined; // another program removed it; the directory tells
    if (code === "ELOOP") return "changed meanwhile";
    return `cannot be read (${code})`;
  }
}

function stateInView(place: string, view: Entry, { maxFileBytes }: CompareOptions): FileState | string {
  const isClosed = view.kind === "file" && (view.mode & 0o400) === 0 && process.getuid?.() !== 0;
  if (isClosed) chmodSync(place, view.mode | 0o400);
  try {
    return stateAt(place, view, maxFileBytes) ?? "changed meanwhile";
  } catch (error) {
    return `cannot be read (${systemCode(error) ?? "unknown"})`;
  } finally {
    if (isClosed) chmodSync(place, view.mode);
  }
}

const rights = 0o6000;

/** The bits that lend a program its owner's rights may be dropped by a command, but not given. */
function withoutNewRights(found: FileState, old: FileState | undefined, node: ChangedNode, lost: string[]): FileState {
  if (found.type === "symlink") return found;
  const had = old && old.type === found.type ? old.mode & rights : 0;
  const given = found.mode & rights & ~had;
  if (given === 0) return found;
  // A new directory takes the group bit of the one that it is in, on the disk as well.
  const isInherited = found.type === "directory" && !old && given === 0o2000 && (node.parent?.view?.mode ?? 0) & 0o2000;
  if (!isInherited) lost.push(given & 0o4000 ? "setuid bit" : "setgid bit");
  return { ...found, mode: found.mode & ~given };
}

function hasOtherOwner(view: Entry, disk: Entry): boolean {
  return view.uid !== disk.uid || view.gid !== disk.gid;
}

export function isSame(one: FileState | undefined, other: FileState | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.type === "symlink") return other.type === "symlink" && Buffer.compare(one.target, other.target) === 0;
  if (one.type === "directory") return other.type === "directory" && one.mode === other.mode;
  return other.type === "file" && one.mode === other.mode && Buffer.compare(one.bytes, other.bytes) === 0;
}

/**
 * Another program changed the path, or for what is not on the disk the nearest directory, since the command began. Asked
 * after the bytes were read, so that a change during that time is seen. Equal times count: clocks of files are coarse.
 */
function isTouchedMeanwhile(path: string, startNs: bigint): boolean {
  for (let at = path; ; at = dirname(at)) {
    const entry = entryAt(at);
    if (entry || at === dirname(at)) return entry !== undefined && entry.ctimeNs >= startNs;
  }
}

// Step 1 of an apply: checks every target and refuses before anything is written. The result has all that the later steps
// and the undo record need.

import { dirname } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskStat } from "../files/disk/disk.js";
import { failingFor, ignoring, refusal, staleError } from "./apply-failures.js";
import type { ChangeSet } from "./change-set.js";
import { hashOf, statAt } from "./look-at.js";
import { directoryHash, typesOf } from "./ops/op-types.js";
import { belowTest, inOrder } from "./ops/order-ops.js";
import { type PlainOp, plainOps, refuseImpossible, turnedPaths, withDirectoriesBelow } from "./ops/plain-ops.js";
import { namesFor, type PreparedOp, preparedOp, respellOp, type Target } from "./ops/prepared-op.js";
import { isRespelled } from "./respell.js";
import type { StepContext } from "./step-context.js";

/** The number in the names of temporary files has four digits. */
const maxOps = 10_000;

export interface Prepared {
  readonly ops: readonly PreparedOp[];
  readonly dirs: readonly string[];
  readonly hardlinkBroken: readonly string[];
}

export async function prepareChangeSet(
  deps: StepContext,
  { ops, emptied = [] }: ChangeSet,
  txid: string,
  signal?: AbortSignal,
): Promise<Prepared> {
  const named = withDirectoriesBelow(ops.flatMap(plainOps));
  const plain = [...named, ...(await emptiedBelow(deps, named, emptied))];
  if (plain.length > maxOps) throw refusal(`${plain.length} files`, `no more than ${maxOps} can be changed at once`);
  refuseDuplicates(plain.map(({ path, shownPath }) => ({ key: path, shownPath })));
  refuseImpossible(plain);
  const missing = new Map<string, Promise<readonly string[]>>();
  const isNotThereYet = belowTest(turnedPaths(plain));
  const targets: Target[] = [];
  await inLanes(plain.entries(), deps.width, async ([index, op]) => {
    throwIfAborted(signal);
    const find = () => findTarget(deps, op, { index, missing });
    targets[index] = isNotThereYet(op.path) ? { op, index } : await failingFor(op.shownPath, find);
  });
  const { prepared, stale } = await compare(deps, targets, txid);
  if (stale.length > 0) throw staleError(stale, plain.length);
  refuseDuplicates(prepared.flatMap(({ found, shownPath }) => (found ? [{ key: found.identity, shownPath }] : [])));
  const dirs = await directoriesToMake(prepared, missing);
  const taken = new Set(dirs);
  const blocked = prepared.find((op) => taken.has(op.path) && typesOf(op).after !== "directory");
  if (blocked) throw refusal(blocked.shownPath, "another file needs a directory there");
  const changing = inOrder(prepared.filter(isChange));
  return { ops: changing, dirs, hardlinkBroken: changing.flatMap((op) => (hasOtherNames(op) ? [op.shownPath] : [])) };
}

/** Directories that an earlier change made for its files, in a directory that goes: they go with it. */
async function emptiedBelow(
  deps: StepContext,
  ops: readonly PlainOp[],
  emptied: readonly string[],
): Promise<PlainOp[]> {
  const goes = ops.filter((op) => op.kind !== "create" && op.beforeType === "directory" && leavesNoDirectory(op));
  const isBelow = belowTest(new Set(goes.map(({ path }) => path)));
  const known = new Set(ops.map(({ path }) => path));
  const made: PlainOp[] = [];
  for (const path of emptied) {
    if (known.has(path) || !isBelow(path) || (await statAt(deps, path))?.kind !== "directory") continue;
    const beforeType = "directory" as const;
    made.push({ kind: "delete", path, shownPath: path, beforeHash: directoryHash, beforeType });
  }
  return made;
}

function leavesNoDirectory(op: PlainOp): boolean {
  return op.kind === "delete" || op.type !== "directory";
}

/** Of a directory the count is about what is in it. */
function hasOtherNames({ found }: PreparedOp): boolean {
  return found !== undefined && found.kind !== "directory" && found.linkCount > 1;
}

function refuseDuplicates(targets: readonly { key: string; shownPath: string }[]): void {
  const seen = new Map<string, string>();
  for (const { key, shownPath } of targets) {
    const other = seen.get(key);
    if (other !== undefined) throw refusal(shownPath, `it is the same file as ${other}`);
    seen.set(key, shownPath);
  }
}

async function findTarget(
  { disk, pins }: StepContext,
  op: PlainOp,
  { index, missing }: { index: number; missing: Map<string, Promise<readonly string[]>> },
): Promise<Target> {
  if (op.kind !== "delete" && ((op.mode ?? 0) & 0o4000) !== 0) throw refusal(op.shownPath, "it would be setuid");
  const directory = dirname(op.path);
  let missingHere = missing.get(directory);
  if (!missingHere) {
    missingHere = missingDirectories({ disk }, directory);
    missing.set(directory, missingHere);
  }
  if ((await missingHere).length > 0) return { op, index };
  const path = await pins.of(op.path);
  const stat = await disk.lstat(path).catch(ignoring("ENOENT"));
  if (!stat) return { op, index };
  if (isMisplaced(op, stat))
    throw refusal(op.shownPath, `it is ${stat.kind === "special" ? stat.kindName : `a ${stat.kind}`}`);
  if (op.kind === "create") return { op, index, stat };
  if (stat.kind === "file") {
    if ((stat.mode & 0o4000) !== 0) throw refusal(op.shownPath, "it is setuid");
    if ((stat.mode & 0o222) === 0 && !op.force) throw refusal(op.shownPath, "it is read-only");
  }
  return { op, index, stat, hash: await hashOf({ disk, pins }, op.path, stat) };
}

/** Where only files are expected, anything else is refused; where links or directories are, it is a difference. */
function isMisplaced(op: PlainOp, { kind }: DiskStat): boolean {
  const expected = op.kind === "create" ? op.type : op.beforeType;
  return kind === "special" || (kind !== "file" && (expected ?? "file") === "file");
}

/** `directory` and its parents, as far as they do not exist; the outermost first. */
async function missingDirectories({ disk }: Pick<StepContext, "disk">, directory: string): Promise<string[]> {
  const missing: string[] = [];
  for (let path = directory; ; path = dirname(path)) {
    const stat = await disk.lstat(path).catch(ignoring("ENOENT", "ENOTDIR"));
    if (stat?.kind === "directory") return missing.reverse();
    if (stat) throw refusal(path, "it is not a directory");
    missing.push(path);
  }
}

/** For what is created, with the directories that are created themselves; the outermost first. */
async function directoriesToMake(
  ops: readonly PreparedOp[],
  missing: ReadonlyMap<string, Promise<readonly string[]>>,
): Promise<string[]> {
  const all = new Set<string>();
  for (const op of ops) {
    if (op.kind !== "create") continue;
    for (const directory of (await missing.get(dirname(op.path))) ?? []) all.add(directory);
    if (op.staged === null) all.add(op.path);
  }
  return [...all].sort((a, b) => a.length - b.length);
}

/** Splits the targets into those that are as they were previewed, ready to be carried out, and stale ones. */
async function compare(
  deps: StepContext,
  targets: readonly Target[],
  txid: string,
): Promise<{ prepared: PreparedOp[]; stale: string[] }> {
  const byPath = new Map(targets.map((target) => [target.op.path, target]));
  const deleted = new Map(
    targets.flatMap((target) => (target.op.kind === "delete" ? [[target.stat?.identity, target]] : [])),
  );
  const nameIn = namesFor(targets, txid);
  const prepared: PreparedOp[] = [];
  const stale: string[] = [];
  const respelled = new Set<Target>();
  for (const target of targets) {
    const { op, stat, hash } = target;
    if (op.kind !== "create") {
      if (stat && hash === op.beforeHash) prepared.push(preparedOp(target, nameIn));
      else stale.push(op.shownPath);
    } else if (!stat) {
      const source = op.movedFrom === undefined ? undefined : byPath.get(op.movedFrom)?.stat;
      prepared.push({ ...preparedOp(target, nameIn), ...(source ? { like: source } : {}) });
    } else {
      const old = stat.kind === "directory" ? undefined : deleted.get(stat.identity);
      if (old && (await isRespelled(deps, old.op.path, op.path))) {
        respelled.add(old);
        prepared.push(respellOp(target, old, nameIn));
      } else stale.push(op.shownPath);
    }
  }
  const merged = new Set([...respelled].map(({ index }) => index));
  return { prepared: prepared.filter(({ kind, index }) => kind !== "delete" || !merged.has(index)), stale };
}

/** A target that would stay the same is not written. It was still checked for being stale. */
function isChange({ before, after, afterMode, mode = afterMode, mtimeMs, found, kind }: PreparedOp): boolean {
  if (before !== after || kind === "respell") return true;
  return (mode !== undefined && mode !== found?.mode) || (mtimeMs !== undefined && mtimeMs !== found?.modifiedMs);
}

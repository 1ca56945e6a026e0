// Step 1 of an apply: checks every target and refuses before anything is written. The result has all that the later steps
// and the undo record need.

import { basename, dirname, join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { sha256Of } from "../base/digest.js";
import { inLanes } from "../base/in-lanes.js";
import type { DiskStat } from "../files/disk/disk.js";
import { stagedName } from "../files/disk/temp-names.js";
import type { ChangeOp, ChangeSet } from "./change-set.js";
import { failingFor, ignoring, refusal, staleError } from "./failures.js";
import type { StoredOp } from "./records.js";
import { isRespelled } from "./respell.js";
import type { StepContext } from "./step-context.js";

/** The number in the names of temporary files has four digits. */
const maxOps = 10_000;

/** A stored op with what is needed to carry it out. */
export interface PreparedOp extends StoredOp {
  readonly index: number;
  readonly shownFrom?: string;
  readonly bytes?: Uint8Array;
  /** The bytes that hash to `before`, if the caller has them. */
  readonly beforeBytes?: Uint8Array;
  readonly mode?: number;
  readonly mtimeMs?: number;
  /** The file as it was found; absent for one that is created. */
  readonly found?: DiskStat;
  /** Whose owner and mode the new file gets. */
  readonly like?: DiskStat;
}

export interface Prepared {
  readonly ops: readonly PreparedOp[];
  readonly dirs: readonly string[];
  readonly hardlinkBroken: readonly string[];
}

/** A rename becomes a creation and a deletion. */
type PlainOp = Exclude<ChangeOp, { kind: "rename" }> & { readonly movedFrom?: string };

interface Target {
  readonly op: PlainOp;
  readonly index: number;
  readonly stat?: DiskStat;
  readonly hash?: string | undefined;
}

export async function prepareChangeSet(
  deps: StepContext,
  { ops }: ChangeSet,
  txid: string,
  signal?: AbortSignal,
): Promise<Prepared> {
  const plain = ops.flatMap(plainOps);
  if (plain.length > maxOps) throw refusal(`${plain.length} files`, `no more than ${maxOps} can be changed at once`);
  refuseDuplicates(plain.map(({ path, shownPath }) => ({ key: path, shownPath })));
  const missing = new Map<string, Promise<readonly string[]>>();
  const targets: Target[] = [];
  await inLanes(plain.entries(), deps.width, async ([index, op]) => {
    throwIfAborted(signal);
    targets[index] = await failingFor(op.shownPath, () => findTarget(deps, op, { index, missing }));
  });
  const { prepared, stale } = await compare(deps, targets, txid);
  if (stale.length > 0) throw staleError(stale, plain.length);
  refuseDuplicates(prepared.flatMap(({ found, shownPath }) => (found ? [{ key: found.identity, shownPath }] : [])));
  const dirs = await directoriesToMake(targets, missing);
  const taken = new Set(dirs);
  const blocked = plain.find(({ path }) => taken.has(path));
  if (blocked) throw refusal(blocked.shownPath, "another file needs a directory there");
  const changing = prepared.filter(isChange);
  return {
    ops: changing,
    dirs,
    hardlinkBroken: changing.flatMap(({ found, shownPath }) => (found && found.linkCount > 1 ? [shownPath] : [])),
  };
}

function plainOps(op: ChangeOp): PlainOp[] {
  if (op.kind !== "rename") return [op];
  const { path, shownPath, beforeHash, beforeBytes, force = false, to, shownTo, kind: _kind, ...content } = op;
  const seen = { beforeHash, force, ...(beforeBytes === undefined ? {} : { beforeBytes }) };
  return [
    { kind: "create", path: to, shownPath: shownTo, movedFrom: path, ...content },
    { kind: "delete", path, shownPath, ...seen },
  ];
}

function refuseDuplicates(targets: readonly { key: string; shownPath: string }[]): void {
  const seen = new Map<string, string>();
  for (const { key, shownPath } of targets) {
    const other = seen.get(key);
    if (other !== undefined) throw refusal(shownPath, `it is the same file as ${other}`);
    seen.set(key, shownPath);
  }
}

/** The target as it is now. */
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
  if (stat.kind !== "file")
    throw refusal(op.shownPath, `it is ${stat.kind === "special" ? stat.kindName : `a ${stat.kind}`}`);
  if (op.kind === "create") return { op, index, stat };
  if ((stat.mode & 0o4000) !== 0) throw refusal(op.shownPath, "it is setuid");
  if ((stat.mode & 0o222) === 0 && !op.force) throw refusal(op.shownPath, "it is read-only");
  return { op, index, stat, hash: await disk.digest(path, stat.identity) };
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

/** For the files that are created; the outermost first. */
async function directoriesToMake(
  targets: readonly Target[],
  missing: ReadonlyMap<string, Promise<readonly string[]>>,
): Promise<string[]> {
  const all = new Set<string>();
  for (const { op } of targets)
    if (op.kind === "create") for (const directory of (await missing.get(dirname(op.path))) ?? []) all.add(directory);
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
  const prepared: PreparedOp[] = [];
  const stale: string[] = [];
  const respelled = new Set<Target>();
  for (const target of targets) {
    const { op, stat, hash } = target;
    if (op.kind !== "create") {
      if (stat && hash === op.beforeHash) prepared.push(preparedOp(target, txid));
      else stale.push(op.shownPath);
    } else if (!stat) {
      const source = op.movedFrom === undefined ? undefined : byPath.get(op.movedFrom)?.stat;
      prepared.push({ ...preparedOp(target, txid), ...(source ? { like: source } : {}) });
    } else {
      const old = deleted.get(stat.identity);
      if (old && (await isRespelled(deps, old.op.path, op.path))) {
        respelled.add(old);
        prepared.push(respellOp(target, old, txid));
      } else stale.push(op.shownPath);
    }
  }
  const merged = new Set([...respelled].map(({ index }) => index));
  return { prepared: prepared.filter(({ kind, index }) => kind !== "delete" || !merged.has(index)), stale };
}

function preparedOp({ op, index, stat }: Target, txid: string): PreparedOp {
  const staged = join(dirname(op.path), stagedName(basename(op.path), txid, index));
  const { kind, path, shownPath } = op;
  const old = op.kind === "create" || op.beforeBytes === undefined ? {} : { beforeBytes: op.beforeBytes };
  const found = stat ? { found: stat } : {};
  const common = { kind, path, shownPath, index, beforeMode: stat?.mode ?? null, ...found, ...old };
  if (op.kind === "delete")
    return { ...common, before: op.beforeHash, after: null, staged: null, backup: backupOf(staged) };
  return {
    ...common,
    before: op.kind === "modify" ? op.beforeHash : null,
    after: sha256Of(op.bytes),
    staged,
    backup: op.kind === "modify" ? backupOf(staged) : null,
    bytes: op.bytes,
    ...(stat ? { like: stat } : {}),
    ...(op.mode === undefined ? {} : { mode: op.mode }),
    ...(op.mtimeMs === undefined ? {} : { mtimeMs: op.mtimeMs }),
  };
}

function respellOp(target: Target, old: Target, txid: string): PreparedOp {
  const { op, hash } = old;
  const created = preparedOp(target, txid);
  const backup = created.staged && backupOf(created.staged);
  return { ...created, kind: "respell", from: op.path, shownFrom: op.shownPath, before: hash ?? null, backup };
}

function backupOf(staged: string): string {
  return staged.replace(/new$/, "old");
}

/** A target that would stay the same is not written. It was still checked for being stale. */
function isChange({ before, after, mode, mtimeMs, found, kind }: PreparedOp): boolean {
  if (before !== after || kind === "respell") return true;
  return (mode !== undefined && mode !== found?.mode) || (mtimeMs !== undefined && mtimeMs !== found?.modifiedMs);
}

// An op that step 1 has checked, with all that the later steps and the undo record need.

import { basename, join } from "node:path";
import { contentHash, usualType } from "../../base/file-type.js";
import type { DiskStat } from "../../files/disk/disk.js";
import { stagedName } from "../../files/disk/temp-names.js";
import { typeMember } from "../../plans/plan.js";
import type { StoredOp } from "../records.js";
import { steadyDirectory, unsteadyDirectories } from "./order-ops.js";
import type { PlainOp } from "./plain-ops.js";

/** A stored op with what is needed to carry it out. */
export interface PreparedOp extends StoredOp {
  readonly index: number;
  readonly shownFrom?: string;
  readonly bytes?: Uint8Array;
  /** The bytes that hash to `before`, if the caller has them. */
  readonly beforeBytes?: Uint8Array;
  readonly mode?: number;
  readonly mtimeMs?: number;
  /** What was found; absent for what is created. */
  readonly found?: DiskStat;
  /** Whose owner and, if it is of the same type, whose mode the new file gets. */
  readonly like?: DiskStat;
  readonly isProtected?: boolean;
}

export interface Target {
  readonly op: PlainOp;
  readonly index: number;
  readonly stat?: DiskStat;
  readonly hash?: string | undefined;
}

/** The path for a temporary name, and whether what is made there is put in its place in step 6. */
export interface TempNames {
  staged(target: Target): string;
  /** Step 3 makes it in its own place. */
  isMadeInPlace(target: Target): boolean;
}

export function namesFor(targets: readonly Target[], txid: string): TempNames {
  const unsteady = unsteadyDirectories(targets.map(({ op }) => typed(op)));
  return {
    staged: ({ op, index }) => join(steadyDirectory(op.path, unsteady), stagedName(basename(op.path), txid, index)),
    isMadeInPlace: ({ op }) => !unsteady.has(op.path),
  };
}

/** The hashes tell only whether there is something. */
function typed(op: PlainOp): Pick<StoredOp, "kind" | "path" | "before" | "after" | "type" | "beforeType"> {
  const { kind, path } = op;
  return {
    kind,
    path,
    before: op.kind === "create" ? null : op.beforeHash,
    after: op.kind === "delete" ? null : "",
    ...(op.kind === "delete" ? {} : typeMember(op.type)),
    ...(op.kind === "create" ? {} : withBeforeType(op.beforeType)),
  };
}

export function preparedOp(target: Target, names: TempNames): PreparedOp {
  const { op, index, stat } = target;
  const staged = names.staged(target);
  const { kind, path, shownPath } = op;
  const old = op.kind === "create" ? {} : { ...withBeforeType(op.beforeType), ...bytesBefore(op) };
  const marks = op.isProtected ? { isProtected: true } : {};
  const common = { kind, path, shownPath, index, beforeMode: stat?.mode ?? null, ...foundAs(stat), ...old, ...marks };
  if (op.kind === "delete")
    return { ...common, before: op.beforeHash, after: null, staged: null, backup: backupOf(staged) };
  const { type = usualType, bytes, mode, mtimeMs } = op;
  const hash = { before: op.kind === "modify" ? op.beforeHash : null, after: contentHash(type, bytes) };
  const like = stat ? { like: stat } : {};
  if (type === "directory") {
    const isStanding = op.kind === "modify" ? op.beforeType === "directory" : names.isMadeInPlace(target);
    const places = isStanding
      ? { staged: null, backup: null }
      : { staged, backup: op.kind === "modify" ? backupOf(staged) : null };
    return { ...common, ...hash, ...typeMember(type), ...places, ...like, afterMode: mode };
  }
  return {
    ...common,
    ...hash,
    ...typeMember(type),
    staged,
    backup: op.kind === "modify" ? backupOf(staged) : null,
    bytes,
    ...like,
    ...(mode === undefined || type === "symlink" ? {} : { mode }),
    mtimeMs,
  };
}

export function respellOp(target: Target, old: Target, names: TempNames): PreparedOp {
  const { op, hash } = old;
  const created = preparedOp(target, names);
  const backup = created.staged && backupOf(created.staged);
  const was = op.kind === "create" ? {} : withBeforeType(op.beforeType);
  return { ...created, ...was, kind: "respell", from: op.path, shownFrom: op.shownPath, before: hash ?? null, backup };
}

function bytesBefore({ beforeBytes }: Extract<PlainOp, { kind: "modify" | "delete" }>) {
  return beforeBytes === undefined ? {} : { beforeBytes };
}

function foundAs(stat: DiskStat | undefined) {
  return stat ? { found: stat } : {};
}

function withBeforeType(beforeType: StoredOp["type"]): Pick<StoredOp, "beforeType"> {
  return beforeType === undefined || beforeType === usualType ? {} : { beforeType };
}

function backupOf(staged: string): string {
  return staged.replace(/new$/, "old");
}

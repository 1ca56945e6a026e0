// What is at the paths of an op now: the target and its temporary name. Links are never followed.

import { contentHash } from "../base/file-type.js";
import type { DiskStat } from "../files/disk/disk.js";
import { ignoring } from "./apply-failures.js";
import { directoryHash } from "./ops/op-types.js";
import type { StoredOp } from "./records.js";
import type { SerialStepContext } from "./step-context.js";

/** `edited`: it was applied, and another program changed the file later. It counts as applied and is left alone. */
export type OpState = "applied" | "edited" | "pending" | "conflict";

export interface Look {
  /** Null where there is nothing; undefined for a special file or one that changes while it is read. */
  readonly hash: string | null | undefined;
  readonly mode: number | null;
  readonly isStaged: boolean;
  /** The target is as this op made it. */
  readonly isOurs: boolean;
}

export async function lookAt(deps: SerialStepContext, op: StoredOp): Promise<Look> {
  const stat = await statAt(deps, op.path);
  const hash = stat ? await hashOf(deps, op.path, stat) : null;
  const staged = op.staged === null ? undefined : await statAt(deps, op.staged);
  // While the temporary name exists, the target is ours only if it is the same file.
  const isOurs = staged ? staged.identity === stat?.identity : hash === op.after;
  return { hash, mode: stat?.mode ?? null, isStaged: staged !== undefined, isOurs };
}

export async function hashOf(
  { disk, pins }: SerialStepContext,
  path: string,
  { kind, identity }: DiskStat,
): Promise<string | undefined> {
  if (kind === "directory") return directoryHash;
  if (kind === "special") return undefined;
  const pinned = await pins.of(path);
  if (kind === "file") return disk.digest(pinned, identity).catch(ignoring("ENOENT"));
  const target = await disk.readlink(pinned).catch(ignoring("ENOENT", "EINVAL"));
  return target && contentHash("symlink", target);
}

export async function statAt({ disk, pins }: SerialStepContext, path: string): Promise<DiskStat | undefined> {
  const pinned = await pins.ofExisting(path);
  return pinned === undefined ? undefined : disk.lstat(pinned).catch(ignoring("ENOENT"));
}

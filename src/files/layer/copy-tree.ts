// The view where no overlay is possible: a copy of the tree, sharing its blocks with the disk where the file system can
// do that. What a command changed in it is found by the marks that its entries had at the start.

import {
  chmodSync,
  constants,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { GalleyError, systemCode } from "../../base/errors.js";
import { TimeSlices } from "../../base/time-slices.js";
import { type Entry, entryAt, namesIn } from "./layer-entries.js";
import { type StageLimits, sizeText, viewRefusal } from "./stage-limits.js";

/** How much of the limits is used; shared by all roots of a view. */
export interface CopyAmount {
  files: number;
  bytes: number;
}

/**
 * Sockets, pipes and devices are not copied, nor what cannot be read. Throws `unsupported` for a tree that is larger than
 * the limits; without `target` the tree is only measured.
 */
export async function copyTree(
  source: string,
  target: string | undefined,
  { amount, limits }: { amount: CopyAmount; limits: StageLimits },
): Promise<void> {
  const slices = new TimeSlices({ sliceMs: 10 });
  const copy = async (from: string, to: string | undefined, entry: Entry): Promise<void> => {
    if (to !== undefined) mkdirSync(to, 0o700);
    for (const name of tolerant(() => namesIn(from).names) ?? []) {
      const turn = slices.turn();
      if (turn) await turn;
      const path = join(from, name);
      const found = entryAt(path);
      if (!found || found.kind === "special") continue;
      count(found);
      const place = to === undefined ? undefined : join(to, name);
      if (found.kind === "directory") await copy(path, place, found);
      else if (place !== undefined) tolerant(() => copyOne(path, place, found));
    }
    if (to === undefined) return;
    chmodSync(to, entry.mode);
    utimesSync(to, entry.mtimeMs / 1000, entry.mtimeMs / 1000);
  };
  const count = ({ size, kind }: Entry) => {
    amount.files++;
    if (kind === "file") amount.bytes += size;
    if (amount.files <= limits.copyMaxFiles && amount.bytes <= limits.copyMaxBytes) return;
    throw new GalleyError("unsupported", viewRefusal(tooLarge(limits)), { details: { reason: tooLarge(limits) } });
  };
  const root = entryAt(source);
  if (root?.kind === "directory") await copy(source, target, root);
}

function tooLarge({ copyMaxFiles, copyMaxBytes }: StageLimits): string {
  const limit = `${copyMaxFiles.toLocaleString("en-US")} files, ${sizeText(copyMaxBytes)}`;
  return `No overlay can be mounted, and the project is too large to be copied (more than ${limit}).`;
}

function copyOne(path: string, place: string, { kind, mode, mtimeMs }: Entry): void {
  const seconds = mtimeMs / 1000;
  if (kind === "symlink") {
    symlinkSync(readlinkSync(path, { encoding: "buffer" }), place);
    return lutimesSync(place, seconds, seconds);
  }
  copyFileSync(path, place, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(place, mode);
  utimesSync(place, seconds, seconds);
}

/** Undefined for what another program removed meanwhile, or what the user may not read. */
function tolerant<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** What a copy held at the start of a command: the mark of each path below it. */
export type CopyMarks = ReadonlyMap<string, { readonly mark: string; readonly isDirectory: boolean }>;

/** `skipped`: paths below `up` that count as new. */
export async function copyMarks(up: string, skipped: ReadonlySet<string>): Promise<CopyMarks> {
  const slices = new TimeSlices({ sliceMs: 10 });
  const marks = new Map<string, { mark: string; isDirectory: boolean }>();
  const look = async (directory: string): Promise<void> => {
    for (const name of tolerant(() => namesIn(directory).names) ?? []) {
      const turn = slices.turn();
      if (turn) await turn;
      const path = join(directory, name);
      const found = skipped.has(path) ? undefined : entryAt(path);
      if (!found) continue;
      const isDirectory = found.kind === "directory";
      marks.set(path, { mark: isDirectory ? String(found.mode) : found.mark, isDirectory });
      if (isDirectory) await look(path);
    }
  };
  await look(up);
  return marks;
}

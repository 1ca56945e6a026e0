// Removes what no session needs any more: blobs that no file names, plans settled long ago, drafts that a crash left.
// Reads every file in pieces and in full before it removes anything; a file that cannot be read stops the removal.

import { type Dirent, promises as fs } from "node:fs";
import { basename, join } from "node:path";
import { messageOf, systemCode } from "../../base/errors.js";
import { isObject } from "../../base/json.js";
import { parseRecord } from "../../base/ndjson.js";
import { LineSplitter } from "../read/split-lines.js";
import { artifactDirectory } from "../session-paths.js";
import { HashFinder } from "./blobs.js";
import { isTemporaryName } from "./write-whole.js";

export interface GarbageOptions {
  /** Every directory that may hold sessions; what is below counts. */
  readonly sessionRoots: readonly string[];
  readonly blobs: string;
  readonly now: number;
}

export interface GarbageReport {
  readonly removedBlobs: number;
  readonly removedPlans: number;
  readonly removedDrafts: number;
  readonly freedBytes: number;
  readonly keptBlobs: number;
  /** Files that could not be read. Then no blob was removed. */
  readonly problems: readonly string[];
}

/** A blob is written before the entry that names it, and a draft before its file: young ones may be in use. */
const minAgeMs = 24 * 60 * 60 * 1000;
const planAgeMs = 30 * 24 * 60 * 60 * 1000;

export async function collectGarbage({ sessionRoots, blobs, now }: GarbageOptions): Promise<GarbageReport> {
  const found: Findings = { named: new Set(), drafts: [], settledPlans: [], problems: [] };
  for (const root of sessionRoots) await look(root, now, found);

  const isOld = ({ mtimeMs }: { mtimeMs: number }) => now - mtimeMs > minAgeMs;
  let freedBytes = 0;
  let keptBlobs = 0;
  const remove = async (path: string, mayGo: (status: { mtimeMs: number }) => boolean) => {
    const status = await fs.stat(path).catch(() => undefined); // gone already
    if (!status || !mayGo(status)) return false;
    await fs.unlink(path);
    freedBytes += status.size;
    return true;
  };
  const removeAll = async (paths: readonly string[], mayGo: (status: { mtimeMs: number }) => boolean) => {
    let count = 0;
    for (const path of paths) if (await remove(path, mayGo)) count++;
    return count;
  };

  const unnamed: string[] = [];
  for (const { name } of await entriesOf(blobs)) {
    if (isTemporaryName(name)) found.drafts.push(join(blobs, name));
    else if (!/^[0-9a-f]{64}$/.test(name)) continue;
    else if (found.named.has(name) || found.problems.length > 0) keptBlobs++;
    else unnamed.push(join(blobs, name));
  }
  const removedBlobs = await removeAll(unnamed, isOld);
  return {
    removedBlobs,
    removedPlans: await removeAll(found.settledPlans, () => true),
    removedDrafts: await removeAll(found.drafts, isOld),
    freedBytes,
    keptBlobs: keptBlobs + unnamed.length - removedBlobs,
    problems: found.problems,
  };
}

interface Findings {
  readonly named: Set<string>;
  readonly drafts: string[];
  readonly settledPlans: string[];
  readonly problems: string[];
}

async function look(directory: string, now: number, found: Findings): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await entriesOf(directory);
  } catch (error) {
    found.problems.push(`${directory}: ${messageOf(error)}`);
    return;
  }
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await look(path, now, found);
    else if (entry.isFile() || entry.isSymbolicLink()) {
      try {
        await lookInto(path, now, found);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") found.problems.push(`${path}: ${messageOf(error)}`);
      }
    }
  }
}

/** Also backups, tails and artifacts: whatever names a blob keeps it. */
async function lookInto(path: string, now: number, found: Findings): Promise<void> {
  if (isTemporaryName(basename(path))) found.drafts.push(path);
  const lines = path.endsWith(".jsonl") ? new LineSplitter(maxPendingLineBytes) : undefined;
  const plans = new Map<string, KnownPlan>();
  const hashes = new HashFinder(found.named);
  const file = await fs.open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      hashes.push(chunk);
      lines?.push(chunk, ({ text }) => {
        if (text?.includes(pendingType)) notePlan(text, now, plans);
      });
    }
  } finally {
    await file.close();
  }
  for (const { names, isSettled } of plans.values())
    if (isSettled) for (const name of names) found.settledPlans.push(join(artifactDirectory(path), name));
}

const pendingType = '"pending_action"';
const maxPendingLineBytes = 1024 * 1024;

/** The artifacts of one pending action: its plan, and what later revisions changed. */
interface KnownPlan {
  readonly names: ReadonlySet<string>;
  readonly isSettled: boolean;
}

/** The last word on a plan counts: one that was staged again is wanted again. */
function notePlan(line: string, now: number, plans: Map<string, KnownPlan>): void {
  const parsed = parseRecord(Buffer.from(line));
  if (!parsed?.ok || parsed.value.customType !== "pending_action" || !isObject(parsed.value.data)) return;
  const { event, id, planRef } = parsed.value.data;
  if (typeof id !== "string" || !/^[\w-]+$/.test(id)) return;
  const { timestamp } = parsed.value;
  const isLongAgo = typeof timestamp === "string" && now - Date.parse(timestamp) > planAgeMs;
  const isNamed = typeof planRef === "string" && planRef.startsWith(`${id}.`) && /^[\w-]+\.\d+\.plan$/.test(planRef);
  const names = new Set([...(plans.get(id)?.names ?? [`${id}.plan`]), ...(isNamed ? [planRef] : [])]);
  plans.set(id, { names, isSettled: event === "settled" && isLongAgo });
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    return await fs.readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

// Private directories for temporary files that name the process which made them, so that what a killed process left can
// be told from what a running one uses, and is removed by the next one that makes such a directory.

import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "../../base/home.js";
import { removeTree } from "../layer/remove-tree.js";

/** `tmp`: a session's own. `probe`: of the trial that finds out what confines here. */
export type OwnedKind = "tmp" | "probe";

/** Canonical. Throws where it cannot be made. */
export function makeOwnedDirectory(kind: OwnedKind): string {
  const owner = ownerText(process.pid, startTimeOf(process.pid) ?? 0, namespaceOf());
  const path = mkdtempSync(join(tmpdir(), `galley-${kind}-${owner}-`));
  chmodSync(path, 0o700); // the user's umask may have taken rights away
  return realpathSync.native(path);
}

/** Those of processes that are gone. Never throws: what cannot be removed is the system's to clean up. */
export async function removeLeftDirectories(kind: OwnedKind): Promise<void> {
  for (const path of leftDirectories(kind)) await removeTree(path).catch(() => {}); // another process may be at it
}

/** `9ix-2n9c1-1u7k4h8`: short, because the paths of UNIX sockets in it are limited. */
export function ownerText(pid: number, startTime: number, namespace: number): string {
  return [pid, startTime, namespace].map((number) => number.toString(36)).join("-");
}

function leftDirectories(kind: OwnedKind): string[] {
  const pattern = new RegExp(`^galley-${kind}-([0-9a-z]{1,8})-([0-9a-z]{1,12})-([0-9a-z]{1,8})-[A-Za-z0-9]{6}$`);
  const namespace = namespaceOf();
  const parent = tmpdir();
  return namesIn(parent)
    .filter((name) => {
      const [, ...owner] = pattern.exec(name) ?? [];
      const [pid = 0, startTime = 0, itsNamespace] = owner.map((text) => Number.parseInt(text, 36));
      // Numbers of processes mean nothing in another namespace: its owner may run.
      return itsNamespace === namespace && pid > 0 && !isRunning(pid, startTime);
    })
    .map((name) => join(parent, name))
    .filter(isPrivate);
}

/** Everyone may write in the directory around it: only what this user alone can have made is touched. */
function isPrivate(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o7777) === 0o700;
}

/** In doubt it runs. */
function isRunning(pid: number, startTime: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  const now = startTimeOf(pid);
  return now === undefined || startTime === 0 || now === startTime;
}

/** In the system's ticks; undefined where it cannot be known. */
function startTimeOf(pid: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    // From the third field on: the second is a name that may hold anything, parentheses too.
    const startTime = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isSafeInteger(startTime) ? startTime : undefined;
  } catch {
    return undefined; // there is no process table
  }
}

/** Of process numbers; 0 where the system knows no such thing. */
function namespaceOf(): number {
  try {
    return Number(/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // then none can be made there either
  }
}

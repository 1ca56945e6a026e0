// The lock for systems whose sockets need a file (macOS, BSD). The file outlives a holder that was killed, so taking
// the lock includes removing what a dead process left. Two processes never hold it at the same time:
//
// - The lock of a path is the directory `<digest>`. It is held while it contains a socket, `<pid>.<random>`.
// - A process listens on a socket in a new directory of its own and then renames this directory to `<digest>`. The
//   kernel does that only if `<digest>` is missing or empty, in one step: one process wins, the others get ENOTEMPTY.
//   A socket is therefore never visible there before it listens.
// - A socket whose process has ended is unlinked. Its name is used once, so a process that decided this and was then
//   delayed cannot remove the socket of a later holder: it finds no such name.
//
// A refused connection alone proves nothing: BSD systems also refuse when the queue of a living holder is full, as it
// may be of one that was suspended. So the pid must be gone, too. If another process got the same pid, the lock stays
// taken until that one ends: of the two possible errors the harmless one.

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { sha256Of } from "./digest.js";
import { systemCode } from "./errors.js";
import { type LockServer, listenForCallers } from "./lock-server.js";

export type SocketFileAttempt = LockServer | { readonly holderPid: number };

/**
 * Where the sockets are, for this user only. Not the directory that TMPDIR names: it may differ between two processes
 * of one user, which would then not see each other. The name is short because a socket's path has to fit into 104 bytes.
 */
export function socketFileDirectory(): string {
  return `/tmp/galley-${process.getuid?.() ?? "user"}`;
}

/** Rejects where no socket can be made in `directory`, or where another user could. */
export async function takeSocketFile(path: string, directory: string): Promise<SocketFileAttempt> {
  ensurePrivate(directory);
  const place = join(directory, sha256Of(path).slice(0, 24));
  let own: OwnSocket | undefined;
  try {
    for (;;) {
      const holderPid = await findHolder(place);
      if (holderPid !== undefined) return { holderPid };
      own ??= await listenInOwnDirectory(directory);
      if (moveInto(place, own.directory)) {
        const held = { directory: place, name: own.name, server: own.server };
        own = undefined;
        return { close: () => remove(held) };
      }
    }
  } finally {
    if (own) await remove(own);
  }
}

function ensurePrivate(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
  const found = lstatSync(directory);
  const isPrivate = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!isPrivate) throw new Error(`${directory} is not a private directory of this user.`);
}

/** The pid of the living holder. Removes what dead ones left. */
async function findHolder(place: string): Promise<number | undefined> {
  for (const name of namesIn(place)) {
    const pid = /^(\d{1,10})\.\w{6}$/.exec(name)?.[1];
    if (pid !== undefined && (await isHeld(join(place, name), Number(pid)))) return Number(pid);
    unlinkIfThere(join(place, name));
  }
  return undefined;
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

async function isHeld(socketPath: string, pid: number): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const caller = connect(socketPath, () => {
      caller.destroy();
      resolve(undefined);
    });
    caller.on("error", (error) => resolve(systemCode(error) ?? "unknown"));
  });
  if (code === "ENOENT") return false;
  return code !== "ECONNREFUSED" || isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

interface OwnSocket {
  readonly directory: string;
  readonly name: string;
  readonly server: LockServer;
}

async function listenInOwnDirectory(parent: string): Promise<OwnSocket> {
  const directory = mkdtempSync(join(parent, "new-"));
  const name = `${process.pid}.${directory.slice(-6)}`;
  try {
    return { directory, name, server: await listenForCallers(join(directory, name)) };
  } catch (error) {
    attempt(() => rmdirSync(directory)); // an empty directory more does no harm
    throw error;
  }
}

/** False where another process was quicker. */
function moveInto(place: string, directory: string): boolean {
  try {
    renameSync(directory, place);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
}

/** Whatever cannot be removed now, the next process removes as the rest of a dead one. */
async function remove({ directory, name, server }: OwnSocket): Promise<void> {
  attempt(() => unlinkSync(join(directory, name)));
  attempt(() => rmdirSync(directory)); // not empty where another process has moved its socket there by now
  await server.close();
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // see the callers
  }
}

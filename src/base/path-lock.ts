// A lock on a path that the kernel takes back when its holder dies, however it dies. It is a listening socket with a
// name made from the path, and no two processes can listen on one. Which kind of name depends on the system:
//   socket       Linux, an abstract one: no file is left behind
//   socket-file  macOS, BSD: a file in a private directory of the user, see socket-file-lock.ts
//   pipe         Windows: a named pipe
// The lock does not reach into other containers, nor with a socket file to other users; there the check before each
// append is the second line.

import { type Clock, sleep } from "./clock.js";
import { sha256Of } from "./digest.js";
import { systemCode } from "./errors.js";
import { type LockServer, listenForCallers } from "./lock-server.js";

export type LockKind = "socket" | "socket-file" | "pipe" | "none";

export interface FileLock {
  /** `none` where the platform refuses to make a lock, as in some sandboxes. */
  readonly kind: LockKind;
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly lock: FileLock }
  /** Held by another process, or elsewhere in this one. The pid is for people to read. */
  | { readonly lock: undefined; readonly holderPid: number | undefined };

/** With `none` only holders in this process know of each other. */
export type LockStrategy =
  | { readonly kind: Exclude<LockKind, "socket-file"> }
  | { readonly kind: "socket-file"; readonly directory?: string };

export const platformLock: LockKind =
  process.platform === "linux" ? "socket" : process.platform === "win32" ? "pipe" : "socket-file";

/** What this process holds: two callers in one process exclude each other like two processes. */
const heldHere = new Set<string>();
/** Attempts that are under way here: until they end it is not known who holds the lock. */
const attempts = new Map<string, Promise<unknown>>();

const pollMs = 25;
const answerMs = 250;

/** `path` is canonical. With `waitMs` a lock that is held is tried again until then. */
export function acquireLock(path: string, clock: Clock, waitMs = 0): Promise<LockAttempt> {
  return acquireLockBy({ kind: platformLock }, { path, clock, waitMs });
}

/** As `acquireLock`, with the strategy of another platform. All processes have to use the same one. */
export async function acquireLockBy(
  strategy: LockStrategy,
  { path, clock, waitMs = 0 }: { path: string; clock: Clock; waitMs?: number },
): Promise<LockAttempt> {
  const until = clock.now() + waitMs;
  for (;;) {
    const attempt = await tryLock(path, strategy);
    const leftMs = until - clock.now();
    if (attempt.lock || leftMs <= 0) return attempt;
    await sleep(clock, Math.min(pollMs, leftMs));
  }
}

/** Who holds it, without taking it: a process that asks for it meanwhile must not find it held by us. */
export async function lockHolder(path: string): Promise<{ readonly pid: number | undefined } | undefined> {
  while (attempts.has(path)) await attempts.get(path);
  if (heldHere.has(path)) return { pid: process.pid };
  if (platformLock !== "socket-file") return askHolder(nameOf(platformLock, path));
  const attempt = await tryLock(path, { kind: platformLock });
  await attempt.lock?.release();
  return attempt.lock ? undefined : { pid: attempt.holderPid };
}

async function tryLock(path: string, strategy: LockStrategy): Promise<LockAttempt> {
  while (attempts.has(path)) await attempts.get(path);
  if (heldHere.has(path)) return { lock: undefined, holderPid: process.pid };
  const attempt = take(path, strategy).catch(() => undefined); // no lock is available here: kind "none" says so
  attempts.set(path, attempt);
  const taken = await attempt;
  attempts.delete(path);
  if (taken && !("close" in taken)) return { lock: undefined, holderPid: taken.holderPid };
  heldHere.add(path);
  let isHeld = true;
  return {
    lock: {
      kind: taken ? strategy.kind : "none",
      async release() {
        if (!isHeld) return;
        isHeld = false;
        try {
          await taken?.close();
        } finally {
          heldHere.delete(path);
        }
      },
    },
  };
}

type Taken = LockServer | { readonly holderPid: number | undefined } | undefined;

async function take(path: string, strategy: LockStrategy): Promise<Taken> {
  if (strategy.kind === "none") return undefined;
  if (strategy.kind === "socket-file") {
    const { socketFileDirectory, takeSocketFile } = await import("./socket-file-lock.js");
    return takeSocketFile(path, strategy.directory ?? socketFileDirectory());
  }
  const name = nameOf(strategy.kind, path);
  try {
    return await listenForCallers(name);
  } catch (error) {
    if (systemCode(error) !== "EADDRINUSE") throw error;
    return { holderPid: (await askHolder(name))?.pid };
  }
}

function nameOf(kind: LockKind, path: string): string {
  return `${kind === "pipe" ? "\\\\.\\pipe\\" : "\0"}galley-${sha256Of(path).slice(0, 32)}`;
}

/** Undefined when there is none; without a pid when it is too busy to answer or has ended meanwhile. */
async function askHolder(name: string): Promise<{ readonly pid: number | undefined } | undefined> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    let text = "";
    let isThere = false;
    const socket = connect(name, () => {
      isThere = true;
    });
    const finish = () => {
      socket.destroy();
      const pid = /^(\d{1,10})\n/.exec(text)?.[1];
      resolve(isThere ? { pid: pid === undefined ? undefined : Number(pid) } : undefined);
    };
    socket.setTimeout(answerMs, finish);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.includes("\n") || text.length > 16) finish();
    });
    socket.on("error", finish);
    socket.on("close", finish);
  });
}

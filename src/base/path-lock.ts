// A lock on a path that the kernel takes back when its holder dies, however it dies. It is a listening socket with a
// name made from the path: no file is left behind, and no two can listen. Who is refused may ask the holder its pid.
// It does not reach into other containers; there the check before each append is the second line.

import type { Server, Socket } from "node:net";
import { type Clock, sleep } from "./clock.js";
import { sha256Of } from "./digest.js";
import { systemCode } from "./errors.js";

export type LockKind = "socket" | "pipe" | "none";

export interface FileLock {
  /** `none` also where the platform's way is closed to us, as in some sandboxes. */
  readonly kind: LockKind;
  release(): Promise<void>;
}

export type LockAttempt =
  | { readonly lock: FileLock }
  /** Held by somebody else. The pid is for people to read. */
  | { readonly lock: undefined; readonly holderPid: number | undefined };

/** What this platform offers. With `none` only holders in this process know of each other. */
export const platformLock: LockKind =
  process.platform === "linux" ? "socket" : process.platform === "win32" ? "pipe" : "none";

/** What this process holds or is about to: two parts of one program exclude each other like two programs. */
const heldHere = new Set<string>();

const pollMs = 25;
const answerMs = 250;

/** `path` is canonical. With `waitMs` a lock that is held is tried again until then. */
export async function acquireLock(path: string, clock: Clock, waitMs = 0): Promise<LockAttempt> {
  const until = clock.now() + waitMs;
  for (;;) {
    const attempt = await tryLock(path);
    const leftMs = until - clock.now();
    if (attempt.lock || leftMs <= 0) return attempt;
    await sleep(clock, Math.min(pollMs, leftMs));
  }
}

async function tryLock(path: string): Promise<LockAttempt> {
  if (heldHere.has(path)) return { lock: undefined, holderPid: process.pid };
  heldHere.add(path);
  let server: { close(): Promise<void> } | undefined;
  try {
    if (platformLock !== "none") server = await listen(socketName(path));
  } catch (error) {
    if (systemCode(error) === "EADDRINUSE") {
      heldHere.delete(path);
      return { lock: undefined, holderPid: await askPid(socketName(path)) };
    }
  }
  let isHeld = true;
  return {
    lock: {
      kind: server ? platformLock : "none",
      async release() {
        if (!isHeld) return;
        isHeld = false;
        await server?.close();
        heldHere.delete(path);
      },
    },
  };
}

function socketName(path: string): string {
  const name = `galley-${sha256Of(path).slice(0, 32)}`;
  return platformLock === "pipe" ? `\\\\.\\pipe\\${name}` : `\0${name}`;
}

async function listen(name: string): Promise<{ close(): Promise<void> }> {
  const { createServer } = await import("node:net");
  const callers = new Set<Socket>();
  const server: Server = createServer((caller) => {
    callers.add(caller);
    caller.unref();
    caller.on("error", () => {}); // a caller that hung up early has nothing to hear
    caller.on("close", () => callers.delete(caller));
    caller.end(`${process.pid}\n`);
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Not shared: the workers of a cluster would all be let in.
    server.listen({ path: name, exclusive: true }, resolve);
  });
  server.on("error", () => {}); // one caller that could not be taken in; the lock stands
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const caller of callers) caller.destroy();
      }),
  };
}

/** Undefined when the holder is too busy to answer, or gone by now. */
async function askPid(name: string): Promise<number | undefined> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(name);
    const settle = () => {
      socket.destroy();
      const pid = /^(\d{1,10})\n/.exec(text)?.[1];
      resolve(pid === undefined ? undefined : Number(pid));
    };
    socket.setTimeout(answerMs, settle);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.includes("\n") || text.length > 16) settle();
    });
    socket.on("error", settle);
    socket.on("close", settle);
  });
}

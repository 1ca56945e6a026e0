// A listening socket that a process keeps for as long as it holds a lock. The kernel closes it when the process ends,
// however it ends. A caller is told the pid of the holder.

import type { Server, Socket } from "node:net";

export interface LockServer {
  close(): Promise<void>;
}

/** Rejects as `listen` does, with `EADDRINUSE` where another socket has the name. */
export async function listenForCallers(name: string): Promise<LockServer> {
  const { createServer } = await import("node:net");
  const callers = new Set<Socket>();
  const server: Server = createServer((caller) => {
    callers.add(caller);
    caller.unref();
    caller.on("error", () => {}); // a caller that hung up early needs no answer
    caller.on("close", () => callers.delete(caller));
    caller.end(`${process.pid}\n`);
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Exclusive: otherwise all workers of a cluster would share the socket.
    server.listen({ path: name, exclusive: true }, resolve);
  });
  server.on("error", () => {}); // one caller could not be accepted; the lock is still held
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const caller of callers) caller.destroy();
      }),
  };
}

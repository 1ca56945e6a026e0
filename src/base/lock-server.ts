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

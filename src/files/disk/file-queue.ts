// Writers to the same file wait for one another. Two paths are the same file if they differ only in spelling, or if they
// have the same device and inode, as hard links do.

import { foldPath } from "../paths/resolve-path.js";
import type { Disk } from "./disk.js";

const queues = new WeakMap<Disk, FileQueue>();

/** One for all workspaces on the same disk. */
export function queueOf(disk: Disk): FileQueue {
  const queue = queues.get(disk) ?? new FileQueue();
  queues.set(disk, queue);
  return queue;
}

export class FileQueue {
  readonly #last = new Map<string, Promise<void>>();

  /** Each caller waits only for those that asked before it, so there is no deadlock. */
  async run<T>(file: { path: string; identity?: string }, work: () => Promise<T>): Promise<T> {
    const keys = [`path ${foldPath(file.path)}`, ...(file.identity === undefined ? [] : [`file ${file.identity}`])];
    const earlier = keys.map((key) => this.#last.get(key));
    let finish = () => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    for (const key of keys) this.#last.set(key, done);
    try {
      await Promise.all(earlier);
      return await work();
    } finally {
      finish();
      for (const key of keys) if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}

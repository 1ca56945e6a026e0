// Records that the session has left while a command still runs in them: its result belongs where it was asked for, so
// they stay open until it is there. Whoever comes back meanwhile finds the same record again.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { SessionManager } from "./session-manager.js";

export class LeftRecords {
  readonly #log: Log;
  readonly #uses = new Map<SessionManager, Set<symbol>>();
  readonly #left = new Set<SessionManager>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns what ends the use, once or more often. */
  use(record: SessionManager): () => void {
    const use = Symbol();
    const uses = this.#uses.get(record) ?? new Set();
    this.#uses.set(record, uses.add(use));
    return () => {
      uses.delete(use);
      if (uses.size > 0) return;
      this.#uses.delete(record);
      if (this.#left.delete(record)) void this.#close(record);
    };
  }

  /** On the disk when it resolves; closed as soon as nobody uses it. */
  async leave(record: SessionManager): Promise<void> {
    if (!this.#uses.has(record)) return record.close();
    this.#left.add(record);
    await record.flush();
  }

  /** The one that is stored there, if it is still open. */
  at(path: string): SessionManager | undefined {
    return [...this.#left].find(({ sessionFile }) => sessionFile === path);
  }

  /** It is the session's own again. */
  reenter(record: SessionManager): void {
    this.#left.delete(record);
  }

  async closeAll(): Promise<void> {
    const open = [...this.#left];
    this.#left.clear();
    await Promise.all(open.map((record) => this.#close(record)));
  }

  /** Nobody waits for it. */
  async #close(record: SessionManager): Promise<void> {
    await record.close().catch((error: unknown) => {
      this.#log.warn(`${record.sessionFile} was not closed properly: ${messageOf(error)}`);
    });
  }
}

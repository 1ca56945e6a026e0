// Records that the session has left while a command still runs in them: its result belongs where it was requested, so
// they stay open until it is there. Switching back meanwhile finds the same record again.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { SessionRecord } from "../record/record.js";

export class DetachedSessions {
  readonly #log: Log;
  readonly #uses = new Map<SessionRecord, Set<symbol>>();
  readonly #left = new Set<SessionRecord>();
  readonly #closing = new Set<Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns a function that ends the use; it may be called more than once. */
  use(record: SessionRecord): () => void {
    const use = Symbol();
    const uses = this.#uses.get(record) ?? new Set();
    this.#uses.set(record, uses.add(use));
    return () => {
      uses.delete(use);
      if (uses.size > 0) return;
      this.#uses.delete(record);
      if (this.#left.delete(record)) this.#close(record);
    };
  }

  /** On the disk when it resolves; closed as soon as no command uses it. */
  async leave(record: SessionRecord): Promise<void> {
    if (!this.#uses.has(record)) return record.close();
    this.#left.add(record);
    await record.flush();
  }

  /** The one that is stored there, if it is still open. */
  at(path: string): SessionRecord | undefined {
    return [...this.#left].find(({ sessionFile }) => sessionFile === path);
  }

  /** It is the session's own again. */
  reenter(record: SessionRecord): void {
    this.#left.delete(record);
  }

  /** Resolves when none is being closed: until then its file is locked, also for us. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing);
  }

  async closeAll(): Promise<void> {
    for (const record of this.#left) this.#close(record);
    this.#left.clear();
    await this.closed();
  }

  #close(record: SessionRecord): void {
    const closing = record
      .close()
      .catch((error: unknown) => {
        this.#log.warn(`${record.sessionFile} was not closed properly: ${messageOf(error)}`);
      })
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

// What was said, as entries of a tree with a leaf, and the context they make. In memory; a file behind it changes
// nothing for those who use it.

import type { Clock } from "../base/clock.js";
import type { Ids } from "../base/ids.js";
import type { SessionEntry } from "../protocol/entries.js";
import { ContextBuilder, type SessionContext } from "./build-context.js";
import { EntryTree, isBookkeeping } from "./entry-tree.js";

/** An entry without what the log fills in. */
export type NewEntry = SessionEntry extends infer Entry
  ? Entry extends SessionEntry
    ? Omit<Entry, "id" | "parentId" | "timestamp">
    : never
  : never;

export class SessionLog {
  readonly tree = new EntryTree();
  readonly #clock: Clock;
  readonly #ids: Ids;
  #context = new ContextBuilder();

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  get context(): SessionContext {
    return this.#context;
  }

  /** From the root to the leaf. */
  path(): readonly SessionEntry[] {
    return this.tree.pathTo();
  }

  append(fields: NewEntry): SessionEntry {
    const timestamp = new Date(this.#clock.now()).toISOString();
    const entry = { ...fields, id: this.#freeId(), parentId: this.tree.leafId, timestamp } as SessionEntry;
    this.tree.append(entry);
    if (!isBookkeeping(entry)) this.#context.push(entry);
    return entry;
  }

  /** What came after `targetId` leaves the context; it stays in the record as an abandoned branch. */
  moveLeaf(targetId: string | null): void {
    if (targetId === this.tree.leafId) return;
    this.append({ type: "leaf", targetId });
    const rebuilt = new ContextBuilder(this.#context.revision + 1);
    for (const entry of this.path()) rebuilt.push(entry);
    this.#context = rebuilt;
  }

  /** Resolves when everything so far survives a crash. */
  sync(): Promise<void> {
    return Promise.resolve();
  }

  #freeId(): string {
    for (;;) {
      const id = this.#ids.entry();
      if (!this.tree.has(id)) return id;
    }
  }
}

// What the rest of the session layer needs of a record, whatever stands behind it.

import type { EntryFields, SessionManager } from "./record.js";

export type SessionRecord = Pick<SessionManager, "context" | "tree" | "append" | "moveLeaf" | "sync">;

export type { EntryFields };

/** How a session gets another record. Nothing is on the disk before a record's first message. */
export interface SessionRecords {
  create(origin: { parentSession?: string }): SessionManager;
  /**
   * Throws for what is no session, and leaves it as it is. A path where nothing is is a new session's place, and where a
   * person has to say so, `ask` puts the question: it may throw before the answer is there.
   */
  open(path: string, ask: <Answer>(question: () => Promise<Answer>) => Promise<Answer>): Promise<SessionManager>;
}

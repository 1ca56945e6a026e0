// What a record says about pending actions: put there in the order in which things happened, and safe on the disk before
// anybody is told that they are. It belongs to the record that was open at that moment.

import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { StoredAction } from "../../preview/pending-action-store.js";
import { encodePlan } from "../../preview/plan.js";
import type { Decision } from "../../preview/settle.js";
import type { SessionRecord } from "../session-record.js";
import type { ArtifactStore } from "../store-artifacts.js";
import {
  appliedEntries,
  foldPending,
  type PushedData,
  pushedEntry,
  renewedEntry,
  settledEntry,
} from "./pending-entries.js";
import type { AppliedActions } from "./plan-hands.js";

export type ActionsRecord = SessionRecord & { readonly artifacts: ArtifactStore; readonly sessionId: string };

export class RecordedActions {
  readonly #record: () => ActionsRecord;
  readonly #log: Log;
  /** What has to reach the disk, in order. Never rejects. */
  #saving = Promise.resolve();
  /** Settled on record already, by the journal that applied them. */
  readonly #applied = new Set<string>();

  constructor(record: () => ActionsRecord, log: Log) {
    this.#record = record;
    this.#log = log;
  }

  /** Resolves when what was said so far is safe. */
  written(): Promise<void> {
    return this.#saving;
  }

  /** What the record's path leaves pending. */
  open(): readonly PushedData[] {
    return openOnPath(this.#record());
  }

  pushed(stored: StoredAction): void {
    this.#save(async (record) => {
      await savePlan(record, stored);
      const { isForReview } = stored;
      record.append(pushedEntry(stored.action, { isForReview, session: record.sessionId }));
    });
  }

  renewed(stored: StoredAction): void {
    this.#save(async (record) => {
      await savePlan(record, stored);
      const entry = renewedEntry(openOnPath(record), stored.action, stored.isForReview);
      if (entry) record.append(entry);
    });
  }

  settled(outcome: Parameters<typeof settledEntry>[0]): void {
    if (!this.#applied.delete(outcome.id)) this.#save(async (record) => void record.append(settledEntry(outcome)));
  }

  /** The journal's last word, when it is safe: the actions that had not ended on record. */
  async applied(applied: AppliedActions, decision: Pick<Decision, "by" | "reason">) {
    const ended = appliedEntries(this.open(), applied, decision);
    if (ended.length === 0 && !applied.isPart) return [];
    for (const { id } of ended) this.#applied.add(id);
    this.#save(async (record) => {
      if (applied.isPart) await record.artifacts.promoteRest(applied.pendingId);
      for (const { entry } of ended) record.append(entry);
    });
    await this.#saving;
    return ended;
  }

  #save(work: (record: ActionsRecord) => Promise<void>): void {
    const record = this.#record();
    this.#saving = this.#saving
      .then(() => work(record))
      .then(() => record.sync())
      .catch((error: unknown) => this.#log.error(`a pending action could not be put on record: ${messageOf(error)}`));
  }
}

function openOnPath({ tree, sessionId }: ActionsRecord): readonly PushedData[] {
  return foldPending(tree.pathTo(), sessionId).open;
}

async function savePlan({ artifacts }: ActionsRecord, { action, work }: StoredAction): Promise<void> {
  if (work.kind === "plan") await artifacts.savePlan(action.id, encodePlan(work.plan));
}

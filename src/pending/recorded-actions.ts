// What a record says about pending actions: written in the order of events, and safe on the disk before a caller is
// told so. It belongs to the record that was open at that moment.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { AppliedActions } from "../preview/change-writer.js";
import type { StoredAction } from "../preview/pending-action-store.js";
import { encodePlan } from "../preview/plan.js";
import type { Decision } from "../preview/settle.js";
import type { SessionRecord } from "../record/record.js";
import {
  appliedEntries,
  foldPending,
  type PushedData,
  pushedEntry,
  renewedEntry,
  settledEntry,
} from "./pending-entries.js";

/** One thing to be put on record: first what its entries refer to, then the entries. */
interface Saving {
  readonly record: SessionRecord;
  /** The actions that it is about: earlier entries about them have to be written first. */
  readonly ids: readonly string[];
  /** Dropped when the action ends: its plan is not needed any more. */
  plan?: StoredAction | undefined;
  /** The first entry about this action; until it is on record, nothing there says that the action is pending. */
  readonly isNew?: true;
  write(record: SessionRecord): Promise<void>;
}

export class RecordedActions {
  readonly #record: () => SessionRecord;
  readonly #log: Log;
  /** What has to reach the disk, in order. A failed write stays here and is tried again. */
  readonly #queue = new Set<Saving>();
  /** Never rejects. */
  #saving = Promise.resolve();
  #persistError: string | undefined;
  /** Settled on record already, by the journal that applied them. */
  readonly #applied = new Set<string>();

  constructor(record: () => SessionRecord, log: Log) {
    this.#record = record;
    this.#log = log;
  }

  /** Why something about a pending action is not on record at the moment, or undefined. */
  get persistError(): string | undefined {
    return this.#persistError;
  }

  /** Resolves when everything so far is safe, or has failed once more: see `persistError`. */
  written(): Promise<void> {
    if (this.#queue.size > 0) this.#saving = this.#saving.then(() => this.#drain());
    return this.#saving;
  }

  /** The record is left: what it has not stored by now is lost. */
  forget(): void {
    const lost = new Set([...this.#queue].flatMap(({ ids }) => ids));
    this.#queue.clear();
    if (lost.size > 0) this.#log.error(`pending actions are lost: ${[...lost].join(", ")} (${this.#persistError})`);
    this.#persistError = undefined;
  }

  /** What the record's path leaves pending, or will once it is written. */
  openIds(): Set<string> {
    const unsaved = [...this.#queue].filter(({ plan, isNew }) => plan && isNew).flatMap(({ ids }) => ids);
    return new Set([...openOnPath(this.#record()).map(({ id }) => id), ...unsaved]);
  }

  pushed(stored: StoredAction): void {
    const { action, isForReview } = stored;
    this.#save({
      ids: [action.id],
      plan: stored,
      isNew: true,
      write: async (record) => void record.append(pushedEntry(action, { isForReview, session: record.sessionId })),
    });
  }

  renewed(stored: StoredAction): void {
    const { action, isForReview } = stored;
    this.#save({
      ids: [action.id],
      plan: stored,
      write: async (record) => {
        const entry = renewedEntry(openOnPath(record), action, isForReview);
        if (entry) record.append(entry);
      },
    });
  }

  settled(outcome: Parameters<typeof settledEntry>[0]): void {
    const ids = [outcome.id];
    this.#letGo(ids);
    if (!this.#applied.delete(outcome.id))
      this.#save({ ids, write: async (record) => void record.append(settledEntry(outcome)) });
  }

  /** Resolves when the outcome is safe, with the actions that had not ended on record before. */
  async applied(applied: AppliedActions, decision: Pick<Decision, "by" | "reason">) {
    const { pendingId, isPart } = applied;
    const ended = appliedEntries(openOnPath(this.#record()), applied, decision);
    if (ended.length === 0 && !isPart) return [];
    const ids = ended.map(({ id }) => id);
    this.#letGo(ids);
    for (const id of ids) this.#applied.add(id);
    this.#save({
      ids: isPart ? [pendingId, ...ids] : ids,
      write: async (record) => {
        if (isPart) await record.artifacts.promoteRest(pendingId);
        for (const { entry } of ended) record.append(entry);
      },
    });
    await this.#saving;
    return ended;
  }

  #letGo(ids: readonly string[]): void {
    for (const saving of this.#queue) if (saving.ids.some((id) => ids.includes(id))) saving.plan = undefined;
  }

  #save(saving: Omit<Saving, "record">): void {
    this.#queue.add({ ...saving, record: this.#record() });
    this.#saving = this.#saving.then(() => this.#drain());
  }

  /** A failed write delays later entries about the same action, and nothing else. */
  async #drain(): Promise<void> {
    const waiting = new Set<string>();
    let problem: string | undefined;
    for (const saving of [...this.#queue]) {
      const { record, ids } = saving;
      const failure = ids.some((id) => waiting.has(id)) ? problem : await write(saving).catch(messageOf);
      if (failure === undefined) {
        this.#queue.delete(saving);
        await record.sync();
      } else {
        for (const id of ids) waiting.add(id);
        problem ??= failure;
      }
    }
    if (problem !== undefined && this.#persistError === undefined)
      this.#log.error(`a pending action could not be put on record: ${problem}`);
    this.#persistError = problem;
  }
}

function openOnPath({ tree, sessionId }: SessionRecord): readonly PushedData[] {
  return foldPending(tree.pathTo(), sessionId).open;
}

async function write(saving: Saving): Promise<undefined> {
  const { record, plan } = saving;
  if (plan) await savePlan(record, plan);
  await saving.write(record);
  // A plan can be decided after the process has ended, but only if it can be found.
  if (plan?.work.kind === "plan") record.wantFile();
}

async function savePlan({ artifacts }: SessionRecord, { action, work }: StoredAction): Promise<void> {
  if (work.kind === "plan") await artifacts.savePlan(action.id, encodePlan(work.plan));
}

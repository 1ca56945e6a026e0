// What a record says about pending actions: written in the order of events, and safe on the disk before a caller is
// told so. It belongs to the record that was open at that moment.

import { messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { AppliedActions, ChangeMade, ChangeSession, RunMark } from "../plans/change-writer.js";
import { encodePlan, type Plan } from "../plans/plan.js";
import type { PlanStep } from "../plans/plan-step.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { SessionRecord } from "../record/record.js";
import {
  type AppliedEntry,
  appliedEntries,
  foldPending,
  type OpenAction,
  planRefOf,
  pushedEntry,
  settledEntry,
  stepEntry,
} from "./pending-entries.js";

/** One thing to be put on record: first what its entries refer to, then the entries. */
interface Saving {
  readonly record: SessionRecord;
  /** The actions that it is about: earlier entries about them have to be written first. */
  readonly ids: readonly string[];
  /** Written first, under a name of its own. Dropped when the action ends: it is not needed any more. */
  plan?: { readonly planRef: string; readonly plan: Plan } | undefined;
  /** The first entry about this action; until it is on record, nothing there says that the action is pending. */
  readonly isNew?: true;
  write(record: SessionRecord, planSha256: string | undefined): void;
}

export class RecordedActions {
  readonly #record: () => SessionRecord;
  readonly #log: Log;
  /** What has to reach the disk, in order. A failed write stays here and is tried again. */
  readonly #queue = new Set<Saving>();
  /** Never rejects. */
  #saving = Promise.resolve();
  #persistError: string | undefined;
  /** Settled on record already, by the journal that applied them; a part by its id and revision. */
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
    const unsaved = [...this.#queue].filter(({ isNew }) => isNew).flatMap(({ ids }) => ids);
    return new Set([...openOnPath(this.#record()).map(({ id }) => id), ...unsaved]);
  }

  pushed(stored: StoredAction): void {
    this.#push(stored, { isNew: true });
  }

  /** Also for a plan that was made anew; the last one pushed counts. */
  #push({ action, work, isForReview, run }: StoredAction, isNew: { isNew?: true }): void {
    const { id, revision } = action;
    this.#save({
      ids: [id],
      plan: work.kind === "plan" ? { planRef: planRefOf(id, revision), plan: work.plan } : undefined,
      ...isNew,
      write: (record, planSha256) =>
        record.append(pushedEntry(action, { isForReview, run, session: record.sessionId, planSha256 })),
    });
  }

  changed(stored: StoredAction, step: PlanStep): void {
    const { id, revision } = step;
    if (step.event === "renewed") return this.#push(stored, {});
    if (this.#applied.delete(partName(step))) return;
    const changes = step.event === "part" ? undefined : step.changes;
    this.#save({
      ids: [id],
      plan: changes && { planRef: planRefOf(id, revision), plan: { changes, applied: { text: "" } } },
      write: (record, planSha256) => record.append(stepEntry(step, planSha256)),
    });
  }

  settled(outcome: Parameters<typeof settledEntry>[0]): void {
    const ids = [outcome.id];
    this.#letGo(ids);
    if (!this.#applied.delete(outcome.id)) this.#save({ ids, write: (record) => record.append(settledEntry(outcome)) });
  }

  /** Resolves when the outcome is safe, with what had not been on record before. */
  async applied(applied: AppliedActions, change: ChangeMade): Promise<readonly AppliedEntry[]> {
    const made = appliedEntries(openOnPath(this.#record()), applied, change);
    if (made.length === 0) return [];
    this.#letGo(made.filter(({ step }) => !step).map(({ id }) => id));
    for (const { id, step } of made) this.#applied.add(step ? partName(step) : id);
    this.#save({
      ids: made.map(({ id }) => id),
      write: (record) => {
        for (const { entry } of made) record.append(entry);
      },
    });
    await this.#saving;
    return made;
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

function openOnPath({ tree, sessionId }: SessionRecord): readonly OpenAction[] {
  return foldPending(tree.pathTo(), sessionId).open;
}

function partName({ id, revision }: Pick<PlanStep, "id" | "revision">): string {
  return `${id} ${revision}`;
}

async function write(saving: Saving): Promise<undefined> {
  const { record, plan } = saving;
  const planSha256 = plan && (await record.artifacts.savePlan(plan.planRef, encodePlan(plan.plan)));
  saving.write(record, planSha256);
  if (plan) record.wantFile(); // the plan can be decided after the process has ended, but only if it can be found
}

// The session as the code that writes changes knows it.

/** Its owner and its run are those of the moment when they are asked for. */
export function changeSession(
  now: { owner(): string; run?(): RunMark | undefined },
  recordApplied: ChangeSession["recordApplied"],
): ChangeSession {
  return {
    get owner() {
      return now.owner();
    },
    get run() {
      return now.run?.();
    },
    recordApplied,
  };
}

// The only owner of pending actions: what was staged, in which order it is resolved, and how it ended. Taking an action
// is one step, so two decisions never work on the same one. Listeners are told of every change after it has happened.

import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { RunMark } from "../../plans/change-writer.js";
import type { ChangedPlan, PlanStep } from "../../plans/plan-step.js";
import type { ActionWork, NewAction, StoredAction } from "../../plans/stored-action.js";
import type { SessionEvent } from "../../protocol/events.js";
import type { Decider, FileStamp, PendingAction, PendingOutcome } from "../../protocol/pending.js";
import { filesOf, jsonCopy, named, pathsIn, stillStale } from "./action-fields.js";

type Listener = (change: PendingChange, stored: StoredAction, step?: PlanStep) => void;

export type PendingChange = Extract<
  SessionEvent,
  { type: "pending_action_added" | "pending_action_changed" | "pending_action_resolved" }
>;

export interface StoreOptions {
  readonly clock: Clock;
  readonly order?: () => "lifo" | "fifo";
  /** For actions that name no time of their own; 0: never. */
  readonly ttlMs?: () => number;
  /** The next id, with a number above the one that is given; undefined: one more. */
  readonly claimId?: (above: number) => string | undefined;
  /** The run under way. */
  readonly run?: () => RunMark | undefined;
  /** Called when an action expires, so that its producer can clean up. Never rejects. */
  readonly expiring?: (work: Promise<void>) => void;
}

export interface Ending {
  readonly outcome: Exclude<PendingOutcome, "failed" | "stale">;
  readonly by: Decider;
  readonly reason: string;
  readonly error?: string;
}

const maxRemembered = 50;

export class PendingActionStore {
  readonly #options: StoreOptions;
  readonly #stored = new Map<string, StoredAction>();
  readonly #listeners = new Set<Listener>();
  readonly #timers = new Map<string, () => void>();
  /** The last ones that ended, for the sentence that says so. */
  readonly #ended = new Map<string, Ending["outcome"]>();
  /** The highest revision that any branch of the record uses. */
  readonly #revisions = new Map<string, number>();
  #lastNumber = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** For an action that is pushed later: no other action gets this id. */
  nextId(): string {
    const id = this.#options.claimId?.(this.#lastNumber) ?? `pa_${this.#lastNumber + 1}`;
    this.reserve(id);
    return id;
  }

  push(action: NewAction): string {
    const { work, label, sourceToolName, isForReview = false } = action;
    const createdAt = this.#options.clock.now();
    const ttlMs = action.expiresInMs ?? (this.#options.ttlMs?.() || undefined);
    return this.#add({
      work,
      isForReview,
      run: this.#options.run?.(),
      action: {
        id: action.id ?? this.nextId(),
        label,
        sourceToolName,
        toolCallId: action.toolCallId,
        ...(action.details === undefined ? {} : { details: jsonCopy(action.details) }),
        kind: work.kind,
        ...filesOf(work),
        ...(action.preview === undefined ? {} : { preview: action.preview }),
        createdAt,
        ...(ttlMs === undefined ? {} : { expiresAt: createdAt + ttlMs }),
        status: "pending",
        revision: 1,
        attempts: 0,
        ...(action.dependsOn?.length ? { dependsOn: [...action.dependsOn] } : {}),
      },
    });
  }

  /** An action of an earlier process, with its own id. Numbers go on after it, also after one that was settled. */
  restore(stored: StoredAction): void {
    this.reserve(stored.action.id);
    this.#add(stored);
  }

  /** Makes sure that no new action gets this id. */
  reserve(id: string): void {
    const number = /^pa_(\d{1,15})$/.exec(id)?.[1];
    if (number !== undefined) this.#lastNumber = Math.max(this.#lastNumber, Number(number));
  }

  /** The action that is resolved next, unless one is named. */
  peek(): PendingAction | undefined {
    return this.next()?.action;
  }

  /** Takes the next action out without settling it: the caller is responsible for it then. */
  pop(): PendingAction | undefined {
    const next = this.next();
    if (next) this.#forget(next.action.id);
    return next?.action;
  }

  get hasPending(): boolean {
    return this.#stored.size > 0;
  }

  get size(): number {
    return this.#stored.size;
  }

  get(id: string): StoredAction | undefined {
    return this.#stored.get(id);
  }

  /** In the order in which they are resolved. */
  list(): StoredAction[] {
    const all = [...this.#stored.values()];
    return this.#options.order?.() === "fifo" ? all : all.reverse();
  }

  next(): StoredAction | undefined {
    return this.list().find(({ action }) => action.status !== "applying");
  }

  endOf(id: string): Ending["outcome"] | undefined {
    return this.#ended.get(id);
  }

  /** From pending to applying, in one step. Undefined: there is no such action, or another decision is at work. */
  take(id: string): StoredAction | undefined {
    const stored = this.#stored.get(id);
    if (!stored || stored.action.status === "applying") return undefined;
    return this.#replace(stored, { status: "applying" });
  }

  /** Back to pending after an attempt that failed; its files may have been what was in the way. */
  release(
    { action: { id }, work }: StoredAction,
    failed: { outcome: "failed" | "stale"; by: Decider; reason: string; error: string; files?: FileStamp[] },
  ): void {
    const stored = this.#stored.get(id);
    if (stored?.work !== work) return;
    const { outcome, files, ...told } = failed;
    const status = outcome === "stale" ? "stale" : "pending";
    const attempts = stored.action.attempts + (outcome === "failed" ? 1 : 0);
    const stale = outcome === "stale" && files ? { stalePaths: pathsIn(files) } : {};
    const next = this.#replace({ ...stored, ...stale }, { status, attempts, lastError: failed.error });
    const { label, sourceToolName, revision } = stored.action;
    if (outcome === "stale")
      this.#tell({ type: "pending_action_changed", id, status, revision, ...(files ? { files } : {}) }, next);
    this.#tell({ type: "pending_action_resolved", id, label, sourceToolName, outcome, ...told }, next);
  }

  /** Back to its status before `take`. */
  putBack(id: string, status: PendingAction["status"] = "pending"): void {
    const stored = this.#stored.get(id);
    if (stored?.action.status === "applying") this.#replace(stored, { status });
  }

  /** The user was asked and will decide later: the model is not asked about it again. */
  leaveToUser(id: string): void {
    const stored = this.#stored.get(id);
    if (stored) this.#stored.set(id, { ...stored, isForReview: true });
  }

  /** The entry with the result of the call that staged it: on a branch without this entry there is no such action. */
  setEntryId(id: string, entryId: string): void {
    const stored = this.#stored.get(id);
    if (stored) this.#replace(stored, { entryId });
  }

  /** Another program changed files that a pending plan depends on. */
  markStale(id: string, files: FileStamp[]): void {
    const stored = this.#stored.get(id);
    if (!stored || stored.action.status === "applying") return;
    const known = stored.stalePaths ?? new Set();
    if (stored.action.status === "stale" && files.every(({ path }) => known.has(path))) return;
    const stalePaths = new Set([...known, ...pathsIn(files)]);
    const next = this.#replace({ ...stored, stalePaths }, { status: "stale" });
    this.#tell({ type: "pending_action_changed", id, status: "stale", revision: next.action.revision, files }, next);
  }

  /** The files of a stale plan are again as they were seen. */
  markFresh(id: string): void {
    const stored = this.#stored.get(id);
    if (stored?.action.status !== "stale") return;
    const { stalePaths: _, ...kept } = stored;
    const next = this.#replace(kept, { status: "pending" });
    const { status, revision, files = [] } = next.action;
    this.#tell({ type: "pending_action_changed", id, status, revision, files }, next);
  }

  /** A revision that some branch of the record uses: it means one state of the action only. */
  noteRevision(id: string, revision: number): void {
    this.#revisions.set(id, Math.max(revision, this.#revisions.get(id) ?? 1));
  }

  /** The one that the next step makes. */
  nextRevision(id: string): number {
    return 1 + Math.max(this.#revisions.get(id) ?? 1, this.#stored.get(id)?.action.revision ?? 1);
  }

  /**
   * Replaces the plan under the same id, after a step. Only a whole plan can be refreshed: anything else would bring back
   * what was decided or edited.
   */
  changePlan({ action: { id }, work }: StoredAction, changed: ChangedPlan): void {
    const stored = this.#stored.get(id);
    if (stored?.work !== work || stored.work.kind !== "plan") return;
    const { plan, step, files, edited, label, details, preview } = changed;
    const { refresh, ...kept } = stored.work;
    const { stalePaths: _stale, edited: _edited, ...rest } = stored;
    const stalePaths = stillStale(stored, changed);
    const { preview: _preview, ...action } = stored.action;
    const isNew = step.event === "renewed";
    const next = this.#replace(
      {
        ...rest,
        action,
        work: { ...kept, ...(isNew && refresh ? { refresh } : {}), plan },
        ...(edited?.size ? { edited } : {}),
        ...(stalePaths.size > 0 ? { stalePaths } : {}),
      },
      {
        ...(label === undefined ? {} : { label: named(label) }),
        ...(details === undefined ? {} : { details: jsonCopy(details) }),
        ...(preview === undefined ? {} : { preview }),
        ...filesOf({ kind: "plan", plan }),
        status: stalePaths.size > 0 ? "stale" : "pending",
        revision: step.revision,
      },
    );
    this.noteRevision(id, step.revision);
    const { revision, status, files: all = [] } = next.action;
    this.#tell({ type: "pending_action_changed", id, status, revision, files: [...(files ?? all)] }, next, step);
  }

  /** As the record has it, on another branch. */
  reset(stored: StoredAction): void {
    const { id, status, revision, files = [] } = stored.action;
    this.#stored.set(id, stored);
    this.#tell({ type: "pending_action_changed", id, status, revision, files }, stored);
  }

  /**
   * The end of an action. False when it has ended already, or when `work` is not its own: a callback that was given up
   * may return late, when the id belongs to another action.
   */
  remove(id: string, { outcome, by, reason, error }: Ending, work?: ActionWork): boolean {
    if (work && this.#stored.get(id)?.work !== work) return false;
    const stored = this.#forget(id);
    if (!stored) return false;
    this.#ended.set(id, outcome);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= maxRemembered) break;
      this.#ended.delete(oldest);
    }
    const { label, sourceToolName } = stored.action;
    const told = { id, label, sourceToolName, outcome, by, reason, error };
    this.#tell({ type: "pending_action_resolved", ...told }, stored);
    return true;
  }

  /** Forgets all of them without settling any. */
  clear(): void {
    for (const id of [...this.#stored.keys()]) this.#forget(id);
  }

  /** Returns a function that stops it. */
  on(_event: "change", listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  dispose(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #add({ action, ...rest }: StoredAction): string {
    const { id, expiresAt, label, sourceToolName } = action;
    const stored = { ...rest, action: { ...action, label: named(label), sourceToolName: named(sourceToolName) } };
    if (this.#stored.has(id)) throw new GalleyError("invalid_argument", `Pending action ${id} exists already.`);
    this.#stored.set(id, stored);
    if (expiresAt !== undefined) this.#expireAt(id, expiresAt);
    this.#tell({ type: "pending_action_added", action: stored.action }, stored);
    return id;
  }

  #expireAt(id: string, expiresAt: number): void {
    const { clock } = this.#options;
    const waitMs = Math.max(expiresAt - clock.now(), 0);
    this.#timers.set(
      id,
      clock.after(waitMs, () => {
        const stored = this.#stored.get(id);
        if (!stored) return;
        // Being applied, or the clock was set back: look again.
        if (stored.action.status === "applying") return this.#expireAt(id, clock.now() + 1000);
        if (clock.now() < expiresAt) return this.#expireAt(id, expiresAt);
        const seconds = Math.round((expiresAt - stored.action.createdAt) / 1000);
        const work = this.#expire(stored, `Expired after ${seconds}s.`);
        this.#options.expiring?.(work);
      }),
    );
  }

  async #expire({ action: { id }, work }: StoredAction, reason: string): Promise<void> {
    const settlement: Ending = { outcome: "expired", by: "runtime", reason };
    if (!this.take(id)) return;
    try {
      await work.reject?.(reason, undefined, { id, by: "runtime" });
      this.remove(id, settlement, work);
    } catch (error) {
      this.remove(id, { ...settlement, error: messageOf(error) }, work);
    }
  }

  #replace(stored: StoredAction, change: Partial<PendingAction>): StoredAction {
    const next = { ...stored, action: { ...stored.action, ...change } };
    this.#stored.set(next.action.id, next);
    return next;
  }

  #forget(id: string): StoredAction | undefined {
    const stored = this.#stored.get(id);
    this.#stored.delete(id);
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    return stored;
  }

  #tell(change: PendingChange, stored: StoredAction, step?: PlanStep): void {
    for (const listener of this.#listeners) listener(change, stored, step);
  }
}

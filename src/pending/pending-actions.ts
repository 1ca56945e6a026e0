// The pending actions of a session: staged, announced, put on record, shown to the model, decided, and restored after
// a restart. The store owns them; this class connects it to the rest of the session.

import type { Clock } from "../base/clock.js";
import { GalleyError, messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { MessageQueues } from "../loop/message-queues.js";
import type { AppliedActions, ChangeMade, ChangeSession, ChangeWriter, RunMark } from "../plans/change-writer.js";
import type { PlanStep } from "../plans/plan-step.js";
import type { Subset } from "../plans/split-plan.js";
import type { NewAction, StoredAction } from "../plans/stored-action.js";
import type { AgentSessionEvent, ToolResult } from "../protocol/events.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import type { SessionRecord } from "../record/record.js";
import { decideAction } from "./decide/decide-action.js";
import { decideAll } from "./decide/decide-all.js";
import { decidePart } from "./decide/decide-part.js";
import type { DecideContext, Decision } from "./decide/decision.js";
import { forModel, missingText, nothingPendingText } from "./decide/words.js";
import type { Decided, Outcome } from "./outcome.js";
import { endedIn, outcomeMessage } from "./outcome-message.js";
import { orphaned, type PushedData } from "./pending-entries.js";
import { readPending } from "./read-pending.js";
import { idsOnRecord, isCompactedAway, isOnPath } from "./record-path.js";
import { changeSession, RecordedActions } from "./recorded-actions.js";
import type { ResolveForceDeps } from "./resolve-force.js";
import { ResolveForce, type ResolveParams } from "./resolve-force.js";
import { RunningDecisions } from "./running-decisions.js";
import { markStaleActions, type StaleCheck } from "./stale-actions.js";
import { resolveByHandler, type StandingHandler } from "./standing-handler.js";
import { PendingActionStore, type PendingChange } from "./store/pending-action-store.js";
import { pathsOf } from "./store/stack.js";

export interface PendingActionsDeps
  extends Pick<ResolveForceDeps, "toolChoice" | "settings" | "model" | "forbidsForcedChoice" | "signal"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly queues: MessageQueues;
  emit(event: AgentSessionEvent): void;
  record(): SessionRecord;
  readonly changes: Pick<ChangeWriter, "apply" | "staleFiles" | "claimId">;
  /** The owner under which its changes are remembered. */
  owner(): string;
  /** The run under way. */
  run?(): RunMark | undefined;
  confirm?: DecideContext["confirm"];
  confirmProtected?: DecideContext["confirmProtected"];
}

export class PendingActions {
  readonly store: PendingActionStore;
  /** The session that changes are made for: their outcome goes on record here. */
  readonly session: ChangeSession;
  readonly #deps: PendingActionsDeps;
  readonly #context: DecideContext;
  readonly #force: ResolveForce;
  readonly #deciding: RunningDecisions;
  readonly #recorded: RecordedActions;
  #standing: StandingHandler | undefined;
  #isRestoring = false;
  /** Checks written files, one call after the other. Never rejects. */
  #looking = Promise.resolve();
  readonly #running = new Set<string>();

  constructor(deps: PendingActionsDeps) {
    const { clock, log, settings, toolChoice, model, confirm, confirmProtected } = deps;
    this.#deps = deps;
    this.session = changeSession(deps, (applied, change) => this.recordApplied(applied, change));
    this.#deciding = new RunningDecisions(clock);
    this.#recorded = new RecordedActions(() => deps.record(), log);
    this.store = new PendingActionStore({
      clock,
      order: () => settings().order,
      ttlMs: () => settings().ttlMs,
      claimId: (above) => deps.changes.claimId?.(above),
      run: () => deps.run?.(),
      expiring: (work) => void this.#deciding.run(work),
    });
    this.#context = {
      store: this.store,
      settings,
      changes: { apply: (...change) => this.#deciding.write(deps.changes.apply(...change)) },
      session: this.session,
      ...(confirm ? { confirm } : {}),
      ...(confirmProtected ? { confirmProtected } : {}),
    };
    this.#force = new ResolveForce({
      store: this.store,
      decide: (id, decision) => this.#decideForModel(id, decision),
      toolChoice,
      settings,
      model,
      forbidsForcedChoice: () => deps.forbidsForcedChoice(),
      signal: () => deps.signal(),
      now: () => clock.now(),
      warn: (message) => log.warn(message),
    });
    this.store.on("change", (change, stored, step) => this.#changed(change, stored, step));
  }

  /** `resolve` has something to work on. */
  get isResolvable(): boolean {
    return this.store.hasPending || this.#standing !== undefined;
  }

  setStandingHandler(handler: StandingHandler | undefined): void {
    this.#standing = handler;
  }

  /** Why a fact about a pending action is not on record at the moment, or undefined. */
  get persistError(): string | undefined {
    return this.#recorded.persistError;
  }

  /** On record when this resolves, unless `persistError` says why not; then it is tried again with the next write. */
  async stage(action: NewAction): Promise<string> {
    const id = this.store.push(action);
    await this.flush();
    return id;
  }

  /** Everything pushed and decided so far is on record, and every file written so far was checked. */
  async flush(): Promise<void> {
    await this.#looking;
    await this.#recorded.written();
  }

  /** These files were written, or any file when none are named. Actions made for their old content are stale now. */
  filesWritten(paths?: readonly string[]): Promise<void> {
    if (!this.store.hasPending) return Promise.resolve();
    return this.#look({ paths: paths && new Set(paths) });
  }

  /** The same for every file of every action, also of those that are stale already. */
  checkFiles(): Promise<void> {
    return this.#look({ isWhole: true });
  }

  #look(check: StaleCheck): Promise<void> {
    this.#looking = this.#looking
      .then(() => markStaleActions(this.store, (seen) => this.#deps.changes.staleFiles(seen), check))
      .catch((error: unknown) => this.#deps.log.warn(`pending actions could not be checked: ${messageOf(error)}`));
    return this.#looking;
  }

  /** A tool begins that may write anywhere. */
  toolRuns(toolCallId: string): void {
    this.#running.add(toolCallId);
  }

  get isDeciding(): boolean {
    return this.#deciding.hasAny;
  }

  /** No decision is under way any more; a callback that does not end is not waited for. */
  decided(): Promise<void> {
    return this.#deciding.settled();
  }

  /** Work on an action that leaving the session waits for. */
  during<T>(work: Promise<T>): Promise<T> {
    return this.#deciding.run(work);
  }

  /** The session is about to end. */
  beginShutdown(): void {
    this.#deciding.beginShutdown();
  }

  /** The model's decision: a named action, else the one of its forced turn, else the next, else the standing handler. */
  resolve(params: ResolveParams): Promise<ToolResult> {
    return this.#deciding.run(this.#resolve(params));
  }

  async #resolve(params: ResolveParams): Promise<ToolResult> {
    const { id, all = false, action, reason, extra } = params;
    const signal = this.#deps.signal();
    const decision: Decision = { action, reason, by: "model", signal, ...(extra ? { extra } : {}) };
    if (all && id !== undefined) throw new GalleyError("tool_failed", "Use either id or all, not both.");
    try {
      if (all && !this.store.hasPending) throw new GalleyError("tool_failed", nothingPendingText);
      if (all) return forModel(this.#decided(decision, await decideAll(this.#context, this.#ids(), decision), true));
      if (id !== undefined) return await this.#decideForModel(id, decision);
      const invoke = this.#deps.toolChoice.peekInvoker();
      if (invoke) return await invoke({ ...params });
      const next = this.store.next()?.action.id;
      if (next !== undefined) return await this.#decideForModel(next, decision);
      if (!this.#standing) throw new GalleyError("tool_failed", nothingPendingText);
      return await resolveByHandler(this.#standing, decision);
    } finally {
      await this.flush();
    }
  }

  async #decideForModel(id: string, decision: Decision): Promise<ToolResult> {
    return forModel(this.#decided(decision, [await decideAction(this.#context, id, decision)]));
  }

  /** A decision of the host or the user. The model is told with its next request. */
  decide(ids: readonly string[], decision: Decision, { isList = false } = {}): Promise<Decided> {
    return this.#deciding.run(this.#decide(ids, decision, isList));
  }

  async #decide(ids: readonly string[], decision: Decision, isList: boolean): Promise<Decided> {
    const missing = ids.find((id) => !this.store.get(id));
    if (missing !== undefined) throw new GalleyError("not_found", missingText(this.store, missing));
    const [first] = ids;
    const outcomes =
      isList || first === undefined
        ? await decideAll(this.#context, ids, decision)
        : [await decideAction(this.#context, first, decision)];
    const decided = this.#decided(decision, outcomes, isList);
    this.#tellModel(decided, ids);
    await this.flush();
    return decided;
  }

  /** A part of a plan: it is settled by itself, the rest stays pending under the same id. */
  decidePart(id: string, decision: Decision, subset: Subset): Promise<Decided> {
    return this.#deciding.run(this.#decidePart(id, decision, subset));
  }

  async #decidePart(id: string, decision: Decision, subset: Subset): Promise<Decided> {
    const { outcome, paths } = await decidePart(this.#context, id, { decision, subset });
    if (paths.length > 0) void this.filesWritten(paths); // the rest may be stale, and other previews too
    const decided = this.#decided(decision, [outcome]);
    this.#tellModel(decided, [id]);
    await this.flush();
    return decided;
  }

  #decided(decision: Decision, outcomes: readonly Outcome[], isList = false): Decided {
    const remaining = this.store.list().map(({ action: { id, label } }) => ({ id, label }));
    return { decision, isList, outcomes, remaining };
  }

  /**
   * Called by the journal before it forgets a change: the outcome goes on record once, whichever process is first. An
   * action that is still pending here was applied by a process that died.
   */
  async recordApplied(applied: AppliedActions, change: ChangeMade): Promise<void> {
    const { by } = change;
    for (const { id, reason, step } of await this.#recorded.applied(applied, change)) {
      const stored = this.store.get(id);
      if (!stored || stored.action.status === "applying") continue;
      if (step) await this.restore();
      else this.store.remove(id, { outcome: "applied", by, reason });
    }
  }

  toolResultRecorded(toolCallId: string, entryId: string): void {
    if (this.#running.delete(toolCallId)) void this.filesWritten();
    for (const { action } of this.store.list())
      if (action.toolCallId === toolCallId && action.entryId === undefined) this.store.setEntryId(action.id, entryId);
  }

  /** With the messages that a run begins with. */
  runStart(): readonly AgentMessage[] {
    return this.#force.runStart();
  }

  /** After the tools of a turn, before the next request. */
  turnBoundary(): readonly AgentMessage[] {
    return this.#force.turnBoundary();
  }

  replied(message: AssistantMessage): void {
    this.#force.replied(message);
  }

  /** Previews that the model still sees need no second reminder. */
  compacted(): void {
    this.#force.remindAgain(isCompactedAway(this.#deps.record()));
  }

  /** A run is over: callers that wait for a decision are told that none came. */
  runEnded(): void {
    if (this.store.hasPending) this.#deps.emit({ type: "pending_action_stalled", ids: this.#ids() });
  }

  /** From now on no new action gets an id that the record uses. False: there is nothing to restore. */
  reserve(): boolean {
    const { ids, hasOpen } = idsOnRecord(this.#deps.record());
    for (const [id, revision] of ids) {
      this.store.reserve(id);
      this.store.noteRevision(id, revision);
    }
    return hasOpen;
  }

  /** Restores what is pending on the record's path, and ends what did not survive. `flush` waits for the file check. */
  async restore(): Promise<void> {
    const { found, lost } = await readPending(this.#deps.record());
    for (const stored of found) this.#bringBack(stored);
    for (const pushed of lost) if (!this.store.get(pushed.id)) this.#orphan(pushed);
    void this.filesWritten(); // another process may have written while this one was away
  }

  /** The session's leaf moved: actions staged on another branch end. */
  async branchChanged(): Promise<void> {
    await this.decided();
    const isHere = isOnPath(this.#deps.record(), this.#recorded.openIds());
    for (const stored of this.store.list())
      if (!isHere(stored)) await this.#end(stored, "orphaned", "Session branch changed.");
    await this.flush(); // so that ended actions are not restored
    await this.restore();
    await this.flush();
  }

  /** The session is left for another: plans stay with its file, closures end. */
  async leave(reason: string): Promise<void> {
    do {
      await this.decided();
      for (const stored of this.store.list())
        if (stored.work.kind === "closure") await this.#end(stored, "discarded", reason);
      await this.flush();
    } while (this.isDeciding); // another decision came meanwhile
    this.#recorded.forget();
    this.store.clear(); // without events: plans stay pending in their file
    this.#force.clear();
  }

  dispose(): void {
    this.store.dispose();
  }

  #ids(): string[] {
    return this.store.list().map(({ action }) => action.id);
  }

  #changed(change: PendingChange, stored: StoredAction, step: PlanStep | undefined): void {
    this.#deps.emit(change);
    const { id } = stored.action;
    if (change.type === "pending_action_added") {
      if (!this.#isRestoring) this.#recorded.pushed(stored);
      this.#force.changed(id, true);
    } else if (change.type === "pending_action_changed") {
      if (step) this.#recorded.changed(stored, step);
      this.#force.changed(id, false);
    } else {
      const { outcome } = change;
      if (outcome !== "failed" && outcome !== "stale") this.#recorded.settled(change);
      // A stale preview may not be the only one: what it depends on may be stale too.
      const isOfFiles = outcome === "applied" && stored.work.kind === "plan";
      if (outcome === "applied" || outcome === "stale")
        void this.filesWritten(isOfFiles ? [...pathsOf(stored)] : undefined);
      this.#force.changed(id, outcome === "failed" || outcome === "stale");
    }
  }

  /** What is there already may be of another branch, where other parts were decided. */
  #bringBack(stored: StoredAction): void {
    const known = this.store.get(stored.action.id)?.action;
    this.#isRestoring = true; // it is on record already
    if (!known) this.store.restore(stored);
    else if (known.revision !== stored.action.revision && known.status !== "applying") this.store.reset(stored);
    this.#isRestoring = false;
  }

  #orphan(pushed: PushedData): void {
    const { label, sourceToolName } = pushed;
    const settled = orphaned(pushed);
    this.#deps.log.warn(settled.reason);
    this.#deps.emit({ type: "pending_action_resolved", label, sourceToolName, ...settled });
    this.#recorded.settled(settled);
  }

  async #end({ action: { id }, work }: StoredAction, outcome: "orphaned" | "discarded", reason: string): Promise<void> {
    let error: string | undefined;
    try {
      await work.reject?.(reason, undefined, { id, by: "runtime" });
    } catch (thrown) {
      error = messageOf(thrown);
    }
    this.store.remove(id, { outcome, by: "runtime", reason, error });
  }

  /** Of what was decided about these. A failed decision leaves the action pending: there is nothing to tell. */
  #tellModel(decided: Decided, ids: readonly string[]): void {
    const timestamp = this.#deps.clock.now();
    for (const ended of endedIn(decided))
      if (ids.includes(ended.id)) this.#deps.queues.queueAside(outcomeMessage(ended, decided, timestamp));
  }
}

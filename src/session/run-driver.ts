// One prompt after another: accepted, recorded, run, continued as long as there is a reason to, settled. Promises: every
// accepted prompt ends in `agent_settled`, and no run of the next one begins before that.

import { AbortRace } from "../base/abort.js";
import { type Clock, sleep } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { HurriedClock } from "../base/shortening-clock.js";
import { abortGraceMs } from "../loop/call-tool.js";
import type { EventStream } from "../loop/event-stream.js";
import type { MessageQueues } from "../loop/message-queues.js";
import type { RunEnd, RunParts } from "../loop/run.js";
import { runPrompt } from "../loop/run-prompt.js";
import type { PendingControl } from "../pending/pending.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage, CustomMessage, UserMessage } from "../protocol/messages.js";
import type { ProviderModel } from "../provider/provider.js";
import type { EntryFields, SessionRecord } from "../record/session-record.js";
import { type ApprovalPolicy, createGate } from "./approval.js";
import { announced, type ContinuationParts, carryOut, decideContinuation, type Verdict } from "./continuation.js";
import { abortedOutcome, outcomeOf, type PromptOutcome, surpriseOutcome } from "./prompt-outcome.js";

export interface PromptDriverParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventStream<AgentSessionEvent>;
  readonly queues: MessageQueues;
  record(): SessionRecord;
  readonly approve: ApprovalPolicy;
  readonly pending: Pick<
    PendingControl,
    "replied" | "runEnded" | "flush" | "toolRuns" | "toolResultRecorded" | "runStart"
  >;
  /** The model of the moment: the session's own, or who stands in for it. */
  model(): ProviderModel | undefined;
  /** Before a prompt is put on record: what the session began with. */
  recordStart(): void;
  continuation(): ContinuationParts;
  /** Once a prompt is accepted, before its first run: what is only needed now is loaded now. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Before each run: since the last one the record may have been gone through anew, and names its images again. */
  loadImages(): Promise<void>;
  /** What a run needs besides what the driver adds. */
  runParts(model: ProviderModel): Omit<RunParts, "signal" | "append" | "replied" | "decideEnd">;
}

export interface PromptStart {
  readonly model: ProviderModel;
  readonly message: UserMessage | CustomMessage;
  /** What its run begins with besides: its own, so that nothing of it is left to the next one if it is stopped before. */
  readonly riders?: readonly AgentMessage[];
  /** Asked right before its run for what else it begins with. After the signal nobody waits for it. */
  beforeRun?(signal: AbortSignal): Promise<readonly AgentMessage[]>;
  /** Somebody wanted everything stopped while it was on its way: it is taken in, and does not run. */
  readonly isStopped?: boolean;
  onAccepted(): void;
}

/** A prompt under way. `isClosing` once its last `agent_end` was sent: the next prompt may already line up. */
interface Active {
  readonly abort: AbortController;
  readonly settled: Promise<void>;
  isClosing: boolean;
  /** Somebody who wants it stopped has already ended what it waits for. */
  isGivenUp: boolean;
}

/** When the session ends: of a tool that ignores its signal, and of a run that does not close. */
const lastGraceMs = 500;
const lastStopMs = 1200;

export const busyText =
  "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

export class PromptDriver {
  readonly #parts: PromptDriverParts;
  /** Messages that were recorded before their run announced them. */
  readonly #recorded = new WeakSet<AgentMessage>();
  readonly #graceClock: HurriedClock;
  readonly #stopClock: HurriedClock;
  #active: Active | undefined;
  #begun = 0;
  #outcome: PromptOutcome = { status: "completed" };
  #wasDenied = false;
  #isEnding = false;
  #isClosed = false;

  constructor(parts: PromptDriverParts) {
    this.#parts = parts;
    this.#graceClock = new HurriedClock(parts.clock);
    this.#stopClock = new HurriedClock(parts.clock);
  }

  /** How many prompts were accepted so far: each has its one `agent_settled`, in this order. */
  get begun(): number {
    return this.#begun;
  }

  /** From the acceptance of a prompt until `agent_settled`. */
  get isStreaming(): boolean {
    return this.#active !== undefined;
  }

  /** A prompt would be refused now. */
  get isBusy(): boolean {
    return this.#active !== undefined && !this.#active.isClosing;
  }

  /** A prompt would be taken in and not run. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** How the last run ended; at `agent_settled` how the whole work did. */
  get lastOutcome(): PromptOutcome {
    return this.#outcome;
  }

  /** Policy stopped the last tool call of the last prompt. */
  get wasDenied(): boolean {
    return this.#wasDenied;
  }

  /** Of the prompt under way. */
  get signal(): AbortSignal | undefined {
    return this.#active?.abort.signal;
  }

  waitForIdle(): Promise<void> {
    return this.#active?.settled ?? Promise.resolve();
  }

  /** Resolves when the session has settled again. */
  async start(prompt: PromptStart): Promise<void> {
    this.checkOpen();
    if (this.isBusy) throw new GalleyError("busy", busyText);
    const previous = this.#active?.settled;
    const active = this.#activate((begun) => this.#drive(begun, prompt, previous));
    if (prompt.isStopped || this.#isEnding) active.abort.abort();
    await active.settled;
  }

  /** Throws where no prompt will be taken in any more. */
  checkOpen(): void {
    if (this.#isClosed) throw new GalleyError("aborted", "The session was closed. Open it again to go on.");
  }

  /** The session has ended: nothing begins from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * The session ends: a prompt that still comes is taken in and does not run, and who ignores a signal is not waited for
   * as long as usual.
   */
  hurry(): void {
    this.#isEnding = true;
    this.#graceClock.hurry(lastGraceMs);
    this.#stopClock.hurry(lastStopMs);
  }

  /** What follows counts as stopped, though the run itself is not told yet. */
  giveUp(): void {
    if (this.#active) this.#active.isGivenUp = true;
  }

  /** Stops the run and waits for it. A success when there is nothing to stop. */
  async stop(): Promise<void> {
    const active = this.#active;
    if (!active) return;
    active.abort.abort();
    // Abortable tools are given up after their grace; only one that must not be cut short can hold the run longer.
    const patience = new AbortController();
    const bound = sleep(this.#stopClock, abortGraceMs + 250, patience.signal);
    await Promise.race([active.settled, bound]);
    patience.abort();
    await bound.catch(() => {}); // only our own cancelling ends it early
  }

  #activate(work: (active: Active) => Promise<void>): Active {
    const { events, log } = this.#parts;
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const active: Active = { abort: new AbortController(), settled, isClosing: false, isGivenUp: false };
    this.#active = active;
    this.#begun++;
    // The work never rejects by contract; if it does, the session still settles and the log tells.
    void work(active)
      .catch((error: unknown) => {
        this.#outcome = surpriseOutcome(error);
        log.error("a prompt failed unexpectedly", error);
      })
      .then(() => {
        if (this.#active === active) this.#active = undefined;
        events.emit({ type: "agent_settled" });
        return events.drained();
      })
      .then(settle);
    return active;
  }

  async #drive(active: Active, prompt: PromptStart, previous: Promise<void> | undefined): Promise<void> {
    const { signal } = active.abort;
    const { events, queues } = this.#parts;
    const { compaction, fallback } = this.#parts.continuation();
    this.#accept(prompt);
    if (previous) await previous; // accepted it is, but the last one closes before this one runs
    compaction.startPrompt();
    let first = fallback.startPrompt() ?? prompt.model;
    this.#outcome = abortedOutcome; // until a run says otherwise
    this.#wasDenied = false;
    await this.#parts.prepare(signal);
    if (!signal.aborted && compaction.decideThreshold()) await compaction.compactAtThreshold(signal);
    if (signal.aborted) return;
    let said: readonly AgentMessage[] = [];
    if (prompt.beforeRun) {
      const answer = await new AbortRace(signal).next(prompt.beforeRun(signal));
      if (answer === "aborted" || signal.aborted) return;
      said = answer;
      first = this.#parts.model() ?? first; // who was asked may have chosen another
    }
    const reminders = queues.takeNextTurn().map((item) => item.message);
    let messages: AgentMessage[] | undefined = [prompt.message, ...reminders, ...(prompt.riders ?? []), ...said];
    for (let model = first; messages; model = this.#parts.model() ?? model) {
      const run = model;
      let verdict: Verdict = {};
      const decideEnd = (end: RunEnd) => {
        verdict = decideContinuation(this.#parts.continuation(), { ...end, model: run, isAborted: signal.aborted });
        active.isClosing = !("next" in verdict);
        this.#outcome = outcomeOf(end);
        return announced(verdict);
      };
      await this.#parts.loadImages();
      const begin = [...messages, ...this.#parts.pending.runStart()];
      const end = await runPrompt(this.#runParts(run, signal, decideEnd), begin);
      await events.drained();
      messages = await carryOut(this.#parts.continuation(), { verdict, end, signal });
      const isCutShort = "next" in verdict && !messages && (signal.aborted || active.isGivenUp);
      if (isCutShort) this.#outcome = abortedOutcome;
    }
    this.#parts.pending.runEnded();
    await this.#parts.pending.flush();
    await this.#parts.record().sync();
  }

  /**
   * A prompt is safe on record when its host hears that it was accepted, and no event comes before that. The model may
   * be asked meanwhile: the disk and the network need not wait for each other.
   */
  #accept({ message, onAccepted }: PromptStart): void {
    const record = this.#parts.record();
    this.#parts.recordStart();
    record.append(entryOf(message));
    this.#recorded.add(message);
    this.#parts.events.hold(record.sync().then(onAccepted));
  }

  #runParts(model: ProviderModel, signal: AbortSignal, decideEnd: RunParts["decideEnd"]): RunParts {
    const parts = this.#parts.runParts(model);
    const { retry, fallback, ttsr } = this.#parts.continuation();
    const gate = createGate({
      hook: parts.hooks.beforeToolCall,
      policy: this.#parts.approve,
      secure: () => this.#parts.record().sync(),
      begins: ({ id }) => this.#parts.pending.toolRuns(id),
    });
    return {
      ...parts,
      signal,
      graceClock: this.#graceClock,
      hooks: {
        ...parts.hooks,
        beforeToolCall: async (...call) => {
          const refusal = await gate(...call);
          this.#wasDenied = refusal !== undefined;
          return refusal;
        },
      },
      append: (message) => {
        const record = this.#parts.record();
        const entry = this.#recorded.has(message) ? undefined : record.append(entryOf(message));
        if (message.role !== "toolResult") return;
        if (entry) this.#parts.pending.toolResultRecorded(message.toolCallId, entry.id);
        void record.sync(); // never rejects: the record tells of failures
      },
      replied: (message) => {
        this.#parts.pending.replied(message);
        if (message.stopReason !== "error" && message.stopReason !== "aborted") {
          retry.onSuccess();
          fallback.onSuccess();
        }
        ttsr?.messageEnd(message);
        ttsr?.turnEnd(message);
      },
      watch: ttsr && {
        turnStart: () => ttsr.turnStart(),
        update: (event) => {
          const interrupt = ttsr.messageUpdate(event);
          if (!interrupt) return undefined;
          this.#parts.events.emit({ type: "ttsr_triggered", rules: interrupt.rules });
          return "Stopped by a stream rule";
        },
      },
      decideEnd,
    };
  }
}

export function entryOf(message: AgentMessage): EntryFields {
  if (message.role !== "custom") return { type: "message", message };
  const { role: _role, timestamp, ...fields } = message;
  // The entry has no other time to remember the message's by.
  return { type: "custom_message", timestamp: new Date(timestamp).toISOString(), ...fields };
}

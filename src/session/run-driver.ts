// Whether a session works, and on what: one prompt after another, each from its acceptance to `agent_settled`.
// Promises: every prompt that begins ends in `agent_settled`, and no run of the next one begins before that.

import { type Clock, sleep } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { ShorteningClock } from "../base/shortening-clock.js";
import { abortGraceMs } from "../loop/call-tool.js";
import type { EventStream } from "../loop/event-stream.js";
import type { RunMark } from "../plans/change-writer.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import { internalErrorOutcome, type PromptOutcome } from "./prompt-outcome.js";

export interface RunDriverDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventStream<AgentSessionEvent>;
}

/** A prompt under way. */
export interface ActivePrompt {
  readonly abort: AbortController;
  /** Resolves once `agent_settled` was sent and delivered. */
  readonly ended: Promise<void>;
  /** Resolves when the prompt before this one has ended; undefined where there is none. */
  readonly previous: Promise<void> | undefined;
  /** Its last `agent_end` was sent: the next prompt may already line up. */
  isClosing: boolean;
  /** What it waits for was ended by an abort whose turn has not come yet. */
  isGivenUp: boolean;
  /** From its acceptance on. */
  run?: RunMark | undefined;
}

/** When the session ends: for a tool that ignores its signal, and for a run that does not close. */
const lastGraceMs = 500;
const lastStopMs = 1200;

export const busyText =
  "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

export class RunDriver {
  readonly #deps: RunDriverDeps;
  readonly #graceClock: ShorteningClock;
  readonly #stopClock: ShorteningClock;
  #active: ActivePrompt | undefined;
  #lastRun: RunMark | undefined;
  #begun = 0;
  #isEnding = false;
  #isClosed = false;
  /** How the last run ended; at `agent_settled` how the whole work did. */
  lastOutcome: PromptOutcome = { status: "completed" };
  /** Policy stopped the last tool call of the last prompt. */
  wasDenied = false;

  constructor(deps: RunDriverDeps) {
    this.#deps = deps;
    this.#graceClock = new ShorteningClock(deps.clock);
    this.#stopClock = new ShorteningClock(deps.clock);
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

  /** A prompt would be accepted and not run. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** The run under way, as its changes name it. */
  get run(): RunMark | undefined {
    return this.#active?.run;
  }

  beginRun(active: ActivePrompt, run: RunMark, { isSameRun = false }): void {
    if (!isSameRun || !this.#lastRun) this.#lastRun = run;
    active.run = this.#lastRun;
  }

  /** Of the prompt under way. */
  get signal(): AbortSignal | undefined {
    return this.#active?.abort.signal;
  }

  /** The clock for the grace period of tools that ignore their signal. */
  get graceClock(): Clock {
    return this.#graceClock;
  }

  waitForIdle(): Promise<void> {
    return this.#active?.ended ?? Promise.resolve();
  }

  /** Resolves when the session is idle again. `isStopped`: it is accepted, and its signal has fired already. */
  async begin(work: (active: ActivePrompt) => Promise<void>, { isStopped = false } = {}): Promise<void> {
    this.checkOpen();
    if (this.isBusy) throw new GalleyError("busy", busyText);
    const active = this.#activate(work);
    if (isStopped || this.#isEnding) active.abort.abort();
    await active.ended;
  }

  /** Throws where no more prompts are accepted. */
  checkOpen(): void {
    if (this.#isClosed) throw new GalleyError("aborted", "The session was closed. Open it again to go on.");
  }

  /** The session has ended: nothing begins from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /**
   * The session ends: a prompt that still comes is accepted and does not run, and tools that ignore their signal get
   * less time than usual.
   */
  beginShutdown(): void {
    this.#isEnding = true;
    this.#graceClock.shorten(lastGraceMs);
    this.#stopClock.shorten(lastStopMs);
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
    await Promise.race([active.ended, bound]);
    patience.abort();
    await bound.catch(() => {}); // only our own cancelling ends it early
  }

  #activate(work: (active: ActivePrompt) => Promise<void>): ActivePrompt {
    const { events, log } = this.#deps;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const active: ActivePrompt = {
      abort: new AbortController(),
      ended,
      previous: this.#active?.ended,
      isClosing: false,
      isGivenUp: false,
    };
    this.#active = active;
    this.#begun++;
    // The work never rejects by contract; if it does, the session still becomes idle and the log tells.
    void work(active)
      .catch((error: unknown) => {
        this.lastOutcome = internalErrorOutcome(error);
        log.error("a prompt failed unexpectedly", error);
      })
      .then(() => {
        if (this.#active === active) this.#active = undefined;
        events.emit({ type: "agent_settled" });
        return events.drained();
      })
      .then(end);
    return active;
  }
}

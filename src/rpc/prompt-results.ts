// The result of every accepted prompt, sent exactly once, after its response, and for the prompts of one run in the
// order in which they were accepted. A prompt that waits in a queue gets its result with the run that takes it up, or
// as aborted when the queue is cleared.

import { GalleyError, messageOf } from "../base/errors.js";
import type { RequestId } from "../protocol/commands.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { PromptResult, SessionSettled } from "../protocol/frames.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { AgentSession } from "../sdk/index.js";
import type { Features } from "./features.js";

export interface PromptResultsDeps {
  readonly features: Features;
  send(frame: PromptResult | SessionSettled): void;
}

/** What is read of a session: at `agent_settled` its run is over, and the next prompt may already be accepted. */
export type ResultSource = Pick<
  AgentSession,
  "subscribe" | "isStreaming" | "begunCount" | "lastOutcome" | "queuedMessages"
>;

type Outcome = ResultSource["lastOutcome"];

interface Ticket {
  readonly id: RequestId | undefined;
  isAccepted: boolean;
  /** Absent while it is undecided what becomes of it: a command of an extension may have taken it. */
  place?: "run" | "queue";
  /** For one with a run of its own: the number of its `agent_settled`. */
  turn?: number;
  message?: AgentMessage;
  /** A run has taken its message up. */
  isTaken: boolean;
  /** Known before the run is over, when what follows belongs to another prompt. */
  outcome?: Outcome;
}

/** One prompt on its way. The order of calls: `place` if it gets that far, `accept`, then `end` or `fail`. */
export interface PromptTicket {
  place(message: AgentMessage, place: "run" | "queue"): void;
  /** Its response has been sent. */
  accept(): void;
  /** Handled before its response, which said so: there is no further result. */
  drop(): void;
  /** The session is done with it, unless it waits in a queue. */
  end(): void;
  /** Its failure has been sent. */
  fail(thrown: unknown): void;
}

export class PromptResults {
  readonly #deps: PromptResultsDeps;
  /** The lane takes one prompt after the other, so this is the order of acceptance. */
  readonly #tickets = new Set<Ticket>();
  readonly #byMessage = new WeakMap<AgentMessage, Ticket>();
  #session: ResultSource | undefined;
  #endedCount = 0;
  #isIdleTold = true;

  constructor(deps: PromptResultsDeps) {
    this.#deps = deps;
  }

  /** Subscribe after the writer of the session's events: results come behind them. */
  attach(session: ResultSource): void {
    this.#session = session;
    this.#endedCount = session.begunCount - (session.isStreaming ? 1 : 0);
    session.subscribe((event) => this.#see(event, session));
  }

  /** Nothing runs, and no prompt is about to start anything. One that waits in a queue starts nothing by itself. */
  get isIdle(): boolean {
    return !this.#session?.isStreaming && [...this.#tickets].every(isWaiting);
  }

  open(id: RequestId | undefined): PromptTicket {
    const ticket: Ticket = { id, isAccepted: false, isTaken: false };
    this.#tickets.add(ticket);
    return {
      place: (message, place) => {
        const turn = (this.#session?.begunCount ?? 0) + 1;
        Object.assign(ticket, { message, place, ...(place === "run" ? { turn } : {}) });
        this.#byMessage.set(message, ticket);
      },
      accept: () => {
        ticket.isAccepted = true;
        this.#isIdleTold = false;
      },
      drop: () => void this.#tickets.delete(ticket),
      end: () => {
        if (!ticket.place) this.#close([ticket], { status: "completed" });
      },
      fail: (thrown) => this.#close([ticket], failureOf(thrown)),
    };
  }

  /** The program ends: open prompts get their result now. */
  closeAll(): void {
    this.#close(
      [...this.#tickets].filter((ticket) => ticket.isAccepted),
      { status: "aborted" },
    );
  }

  #see(event: AgentSessionEvent, session: ResultSource): void {
    if (event.type === "agent_start") this.#isIdleTold = false;
    if (this.#tickets.size === 0 && event.type !== "agent_settled") return;
    if (event.type === "message_start") this.#taken(event.message);
    else if (event.type === "queue_update" && !session.isStreaming) this.#closeDropped(session);
    else if (event.type === "agent_end" && event.continueReason === "queued") this.#noteOutcome(session.lastOutcome);
    else if (event.type === "agent_settled") this.#runEnded(session);
  }

  #taken(message: AgentMessage): void {
    const ticket = this.#byMessage.get(message);
    if (ticket) ticket.isTaken = true;
  }

  /** What continues is the work on a prompt that waited: those before it are done. */
  #noteOutcome(outcome: Outcome): void {
    for (const ticket of this.#tickets) if (ticket.isTaken) ticket.outcome ??= outcome;
  }

  #runEnded(session: ResultSource): void {
    const endedCount = ++this.#endedCount;
    const queued = new Set(session.queuedMessages);
    const isOver = ({ turn }: Ticket) => turn !== undefined && turn <= endedCount;
    const closed = [...this.#tickets].filter(
      (ticket) => ticket.isAccepted && (ticket.isTaken || isOver(ticket) || isDropped(ticket, queued)),
    );
    this.#close(closed, session.lastOutcome);
  }

  #closeDropped(session: ResultSource): void {
    const queued = new Set(session.queuedMessages);
    const dropped = [...this.#tickets].filter((ticket) => isDropped(ticket, queued));
    if (dropped.length > 0) this.#close(dropped, { status: "aborted" });
  }

  #close(tickets: readonly Ticket[], outcome: Outcome): void {
    const open = tickets.filter((ticket) => this.#tickets.delete(ticket));
    const sessionSettled = this.isIdle;
    for (const ticket of open) {
      const { id, isTaken: agentInvoked } = ticket;
      const told = ticket.outcome ?? (isWaiting(ticket) ? { status: "aborted" as const } : outcome);
      this.#tell({ type: "prompt_result", id, agentInvoked, ...told, sessionSettled });
    }
    if (!sessionSettled || (this.#isIdleTold && open.length === 0)) return;
    this.#isIdleTold = true;
    this.#tell({ type: "session_settled" });
  }

  #tell(frame: PromptResult | SessionSettled): void {
    if (this.#deps.features.has("prompt-result")) this.#deps.send(frame);
  }
}

function isWaiting({ place, isTaken }: Ticket): boolean {
  return place === "queue" && !isTaken;
}

function isDropped(ticket: Ticket, queued: ReadonlySet<AgentMessage>): boolean {
  return ticket.isAccepted && isWaiting(ticket) && ticket.message !== undefined && !queued.has(ticket.message);
}

/** It never reached the agent. A prompt that was only refused because of another run may succeed later. */
function failureOf(thrown: unknown): Outcome {
  if (GalleyError.is(thrown, "aborted")) return { status: "aborted" };
  const retryable = thrown instanceof GalleyError && (thrown.code === "busy" || thrown.code === "timeout");
  return { status: "error", error: { message: messageOf(thrown), retryable } };
}
